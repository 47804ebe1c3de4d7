/*
 * Objects whose memory host and device share (address strategy direct): the
 * pages at A are the home's as well, and there is no S.
 *
 * Nothing moves, so of coherence only the order is left: an access waits for
 * work that uses the bytes. The engine runs them as any other object, by the
 * table of protocols/direct.c: a fetch is the wait, an upload lasts as long as
 * the work behind it.
 *
 * What a shadow does elsewhere is done here by leaving pages open: those that
 * are lent to a system call, until the last loan of the object ends, and for good
 * those with bytes that threads of the host wait with (mm/watch/keep.h). As
 * accesses to these do not wait, a call that finds some does so itself, for its
 * kernel.
 *
 * Owns `direct` and `lent` of `struct adsm_object`.
 * Lock: the object's, shared at least. Thread: any. Signal: fault path. Where
 * nothing else is said.
 */
#ifndef ADSM_MM_DIRECT_H
#define ADSM_MM_DIRECT_H

#include "mm/object/block.h"
#include "os/vm.h"

/** Does the accel share the host's memory? Thread: any, no lock held. Signal:
 *  never */
bool adsm_direct_serves(struct adsm_accel *accel);

/** Bytes of such an object from an address in it on; 0: it is in none. Thread:
 *  any, no lock held */
size_t adsm_direct_bytes(const void *address);

/** Bytes of a block: what an access opens at once, and waits for. Signal: any
 *  handler */
size_t adsm_direct_block_bytes(size_t bytes, size_t unit, size_t budget);

/** Wait for all work that may use the object. Return: ADSM_OK; a device's error:
 *  it is lost */
int adsm_direct_wait(struct adsm_object *object) ADSM_MUST_CHECK;

/** Protect [offset, +bytes), whole pages, but for what has to stay open. Return:
 *  ADSM_OK; ADSM_E_LIMIT; ADSM_E_NOMEM */
int adsm_direct_protect(struct adsm_object *object, size_t offset, size_t bytes,
                        enum adsm_prot prot) ADSM_MUST_CHECK;

/**
 * Work of another device's accel on it is in order with that of its home: the
 * stream waits for what home was given so far, and home's launch stream waits for
 * a fence behind that work. On home itself nothing is to be done.
 *
 * Return: ADSM_OK; a device's error
 */
int adsm_direct_order(struct adsm_accel *accel, adsm_stream stream,
                      struct adsm_accel *home) ADSM_MUST_CHECK;
int adsm_direct_ordered(struct adsm_accel *accel, struct adsm_fence fence,
                        struct adsm_accel *home) ADSM_MUST_CHECK;

/** May some of it be open though its blocks are not? The object's lock is held
 *  exclusively. And of any object: loans that begin later are not counted. */
bool adsm_direct_is_open(const struct adsm_object *object);
bool adsm_direct_any_is_open(void);

/** A loan begins, or ends: what was to be closed meanwhile is closed with the
 *  last one. The gate is entered, so no call closes anything now. */
void adsm_direct_lend(struct adsm_object *object);
void adsm_direct_take_back(struct adsm_object *object);

#endif
