/*
 * The life of an object: what it is made of, and its end.
 *
 * Owns the structures' pool. Does not carve small allocations (slab.h).
 */
#ifndef ADSM_MM_LIFE_H
#define ADSM_MM_LIFE_H

#include "mm/object/kind.h"
#include "mm/object/object.h"

/**
 * Create an object of `bytes` on `accel`, all blocks in state `first`.
 *
 * @unit   bytes of an allocation, which is what protocols that move whole
 *         objects move at once: all of them, less in a slab. No block is
 *         larger
 * @accel  its home; of one without, the accel that page-locks its pages
 * Return: ADSM_OK; ADSM_E_DEVICE_NOMEM; ADSM_E_NOMEM; ADSM_E_LIMIT;
 *         ADSM_E_DEVICE: nothing was made
 * Thread: any, no lock of rank GATE or later held. Signal: never
 */
int adsm_object_create(struct adsm_accel *accel, size_t bytes, size_t unit,
                       enum adsm_state first, const struct adsm_kind *kind,
                       struct adsm_object **object) ADSM_MUST_CHECK;

/**
 * The same over memory that is there, and which the device alone has so far: all
 * blocks are INVALID. The span is given back where it fails.
 *
 * @span   of adsm_address_find, claimed
 * @touch  offset of the access that it is made for
 * @waited nothing that the device was given before still runs on it
 * Return: ADSM_OK; ADSM_E_NOMEM; ADSM_E_LIMIT: nothing was made
 * Thread: as adsm_object_create. Signal: as adsm_address_find
 */
int adsm_object_adopt(struct adsm_accel *accel, const struct adsm_span *span,
                      size_t bytes, size_t touch, bool waited,
                      struct adsm_object **object) ADSM_MUST_CHECK;

/**
 * The same over memory of the program's, which is the host part and has all
 * bytes: all blocks are DIRTY. When it ends the program has it back.
 *
 * @homeless  without device memory of its own
 * @why       what is wrong with the memory; NULL: nothing is
 * Return: ADSM_OK; ADSM_E_INVALID, ADSM_E_UNSUPPORTED with `why`;
 *         ADSM_E_DEVICE_NOMEM; ADSM_E_NOMEM; ADSM_E_LIMIT; ADSM_E_SYSTEM; a
 *         device's error: nothing was made
 * Thread: as adsm_object_create; nobody uses the memory meanwhile. Signal: never
 */
int adsm_object_give(struct adsm_accel *accel, void *host, size_t bytes,
                     bool homeless, const char **why,
                     struct adsm_object **object) ADSM_MUST_CHECK;

/** Is anything adopted where variables of modules may be, which kernels use that
 *  no argument leads to? Thread: any. Signal: any handler */
bool adsm_object_any_variable(void);

/** Is it such memory? Signal: any handler */
static inline bool adsm_object_is_adopted(const struct adsm_object *object)
{
    return object->span.strategy == ADSM_ADOPTED;
}

/**
 * Wait for the work that uses it, then release everything it holds.
 *
 * @generation  the object's when the caller found it: of two threads that free
 *              one object, one gets ADSM_E_NOT_SHARED
 * Return: ADSM_OK; ADSM_E_NOT_SHARED: nothing was done; a device's error: it is
 *         gone all the same
 * Thread: any, no lock of an object or of a later rank held; waits for the
 *         device. Signal: never
 */
int adsm_object_destroy(struct adsm_object *object,
                        uint32_t generation) ADSM_MUST_CHECK;

/** The same for what is adopted and goes on without us: its memory has every
 *  byte when this returns, but for what is lent: loans are waited for shortly. */
int adsm_object_give_back(struct adsm_object *object,
                          uint32_t generation) ADSM_MUST_CHECK;

/**
 * A loan of an adopted object, which was counted in its `loans`, has ended. Where
 * the object ended before, the host's pages stayed for it, and go with the last.
 *
 * Thread: any, no lock held. Signal: fault path, where the interrupted code is
 *         not malloc's
 */
void adsm_object_take_back(struct adsm_object *object);

/** Of a loan that has outlasted it: does its memory go on? Fixed until the loan
 *  has ended. Signal: any handler */
static inline bool adsm_object_goes_on(const struct adsm_object *object)
{
    return object->goes_on;
}

/**
 * The object's context is about to be destroyed: give up its host addresses if
 * the driver takes them back with it. It is still to be destroyed, afterwards.
 *
 * Thread: any, no lock of an object or of a later rank held; waits for those
 *         that use the object, but for no kernel: who waits for one with the
 *         object's lock keeps the addresses until the context has gone
 * Signal: never
 */
void adsm_object_withdraw(struct adsm_object *object);

/** The structure's specification; used by assertions and tests. Lock: the
 *  object's, exclusively */
bool adsm_object_is_valid(const struct adsm_object *object);

#endif
