/*
 * Parts of an object that are written all over, in no order.
 *
 * An access opens one block of a size that the user has chosen, however small:
 * what goes to the device is what was written. Where more than half of 2 MiB
 * are dirty that costs more faults than it saves bytes, so the next fault opens
 * all of them. From then on, call after call, an eighth and then a thirtieth of
 * the blocks is evidence enough; after some openings it must be half of them
 * again, since what was opened says nothing of what would have been written.
 * Faults that went on over several calls without coming so far end it at once.
 * So a program whose accesses stay sparse sends what it writes, one whose
 * accesses stay as they are at most twice of that, and one that becomes sparse
 * sends too much for some calls.
 *
 * Only with blocks of 64 KiB at most, which take no longer to send than a fault
 * to answer, and not with ADSM_ROLLING_LEARN=0.
 *
 * Owns the member `dense` of `struct adsm_object`. Lock: the object's, shared at
 * least. Thread: any. Signal: fault path. Where nothing else is said.
 */
#ifndef ADSM_MM_DENSE_H
#define ADSM_MM_DENSE_H

#include "mm/object/block.h"

/**
 * Decide for a new object, no slab, whose blocks are there.
 *
 * Return: ADSM_OK; ADSM_E_NOMEM
 * Thread: the one that makes it. Signal: never
 */
int adsm_dense_init(struct adsm_object *object) ADSM_MUST_CHECK;
void adsm_dense_fini(struct adsm_object *object);

/**
 * Block `i` is about to be written, by an access that opens it.
 *
 * @limit  the rolling size: of which more than half are never opened together
 * Return: how many blocks from *first on, `i` among them, it should open
 *         instead; 0: it alone. They may be in any state
 */
uint32_t adsm_dense_reach(struct adsm_object *object, uint32_t i,
                          uint32_t limit, uint32_t *first);

#endif
