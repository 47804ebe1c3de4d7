/*
 * Objects over several devices: what a call in parts asks of them.
 *
 * A call states for each part and argument which box of an array the part reads
 * and which it writes (want.h). This layer finds or makes a copy of it in the
 * part's device, brings what the copy lacks, and says where it is:
 *
 *     adsm_spread_begin      copies, moves, states      (closes the gates)
 *       adsm_spread_order      a stream waits for them  \ for each part
 *       adsm_spread_launched   its fence is kept        /
 *     adsm_spread_end        who holds what now         (opens the gates)
 *
 * Nothing waits for a device. Does not split ranges and knows no kernels
 * (call/call.c).
 *
 * Between begin and end the caller touches no shared memory. Thread: any.
 * Signal: never, unless said otherwise.
 */
#ifndef ADSM_RANGE_SPREAD_H
#define ADSM_RANGE_SPREAD_H

#include "range/want.h"

/** How many parts may be begun together where each has up to `wants` arguments
 *  in one object: a copy takes one of the 254 numbers of its object's map, and
 *  those of parts that have ended can be given to others. 1 or more */
int adsm_spread_together(int wants);

/**
 * Make copies for all parts, enqueue what they lack, close the blocks that will
 * be written. Waits, a second at most, for system calls that are at work in what
 * has to go for that.
 *
 * @failed  number of the part that could not be had
 * Return: ADSM_OK: the gates are closed until adsm_spread_end. ADSM_E_NOT_SHARED
 *         (an object was freed); ADSM_E_DEVICE_NOMEM, ADSM_E_NOMEM, ADSM_E_LIMIT,
 *         a device's error: nothing was lost and nothing is closed
 */
int adsm_spread_begin(struct adsm_part *parts, int count,
                      int *failed) ADSM_MUST_CHECK;

/** What the kernel gets: address of the array's first byte as if the copy held
 *  all of it, and distances in bytes between rows and between planes. */
struct adsm_daddr adsm_spread_base(const struct adsm_want *want,
                                   size_t pitch[2]);

/** Make a stream of the part's device wait, on the device, for what the part's
 *  kernel reads, and for all who use what it writes. */
int adsm_spread_order(const struct adsm_part *part,
                      adsm_stream stream) ADSM_MUST_CHECK;

/** The part's kernel is enqueued and ends with `fence`. */
void adsm_spread_launched(struct adsm_part *part, struct adsm_fence fence);

/** All parts that will be are enqueued: the launched ones hold what they write,
 *  of the others nothing has changed. What parts with `fetch` write is enqueued
 *  for the host, part by part, so a CPU access waits for its own; where that
 *  fails it is brought when it is used. Opens the gates. */
void adsm_spread_end(struct adsm_part *parts, int count);

/**
 * A part will be begun later: close to the CPU what it uses by this, so that accesses
 * from here on are known to come behind it (mm/object/awaited.h). Nothing moves,
 * and nothing is lost where the part is never begun.
 *
 * Return: ADSM_OK; ADSM_E_NOT_SHARED; ADSM_E_NOMEM; ADSM_E_UNSUPPORTED: of the
 *         object there are no copies of parts; a device's error
 */
int adsm_spread_claim(struct adsm_want *want) ADSM_MUST_CHECK;

/* ---- arrays and hints ----------------------------------------------------- */

/** Say what array begins at `origin` (adsmShape). Return: ADSM_OK; ADSM_E_NOMEM;
 *  ADSM_E_NOT_SHARED (freed meanwhile) */
int adsm_spread_shape(const struct adsm_array *array) ADSM_MUST_CHECK;

/** The array that was said to begin at `address`. Return: ADSM_OK;
 *  ADSM_E_NOT_FOUND (object, generation and origin are set); ADSM_E_NOT_SHARED */
int adsm_spread_array(const void *address, struct adsm_array *array);

/** Allocate an array that has no home (adsmAllocArray). `accel` page-locks its
 *  host pages. */
int adsm_spread_alloc(struct adsm_accel *accel, size_t bytes,
                      void **host) ADSM_MUST_CHECK;

/** The same over memory of the program's (adsm_heap_give). */
int adsm_spread_give(struct adsm_accel *accel, void *host, size_t bytes,
                     const char **why) ADSM_MUST_CHECK;

/** Bytes of a box that copies on a device have, as far as is known without
 *  looking at what the CPU has written since. Thread: any. Signal: never */
size_t adsm_spread_there(const struct adsm_array *array, const adsmBox *box,
                         const struct adsm_accel *accel);

/** adsmPrefetch, adsmDrop, adsmDiscard, adsmWaitFor; `accel` NULL: the host. */
int adsm_spread_prefetch(const struct adsm_array *array, const adsmBox *box,
                         struct adsm_accel *accel) ADSM_MUST_CHECK;
int adsm_spread_drop(const struct adsm_array *array, const adsmBox *box,
                     struct adsm_accel *accel) ADSM_MUST_CHECK;
int adsm_spread_discard(const struct adsm_array *array,
                        const adsmBox *box) ADSM_MUST_CHECK;
int adsm_spread_wait(const struct adsm_array *array, const adsmBox *box,
                     bool writes) ADSM_MUST_CHECK;

/** adsmCopies: at most `most` are stored. Return: how many there are */
int adsm_spread_copies(const struct adsm_array *array, adsmCopyInfo *out,
                       int most);

#endif
