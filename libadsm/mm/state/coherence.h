/*
 * The coherence engine: runs the protocol tables; sole writer of block states.
 *
 * A fault in five steps: find the object (index), hold the block (BUSY), look
 * up protocol.cell[event][state], run its actions (fetch, flush, queue), set
 * protection and state. Runs of adjacent blocks in one state go through the
 * same steps as one transfer and one change of protection.
 *
 * Lock: object->lock. Shared: for blocks the caller holds. Exclusive: for any,
 * where a function says so. Those taken here (pages, near list, queue) rank
 * below it.
 * Thread: any, where nothing else is said. Signal: fault path, where nothing
 * else is said; CALL_IN and CALL_KEPT, which no fault handler applies, may
 * allocate twins.
 */
#ifndef ADSM_MM_COHERENCE_H
#define ADSM_MM_COHERENCE_H

#include "mm/object/block.h"

/**
 * Choose the protocols, and the queue's limit as `options` say.
 *
 * @protocol @direct  of objects that move, and of memory that the device shares;
 *                    those that adsm_protocol_check calls sound
 * Thread: one, at init. Signal: never
 */
void adsm_coherence_init(const struct adsm_protocol *protocol,
                         const struct adsm_protocol *direct,
                         const struct adsm_options *options);

/** The protocol in use, and that of an object: another where host and device
 *  share it. Thread: any. Signal: any handler */
const struct adsm_protocol *adsm_coherence_protocol(void);
const struct adsm_protocol *
adsm_coherence_protocol_of(const struct adsm_object *object);

/** A new object's blocks enter the counts; its lock is held exclusively. */
void adsm_coherence_adopt(struct adsm_object *object);

/** The object is going away: its blocks leave the counts, nothing is written
 *  back. Its lock is held exclusively. */
void adsm_coherence_abandon(struct adsm_object *object);

/**
 * Apply `event` to blocks [first, first + count), which are held by the caller
 * (or the object's lock is held exclusively) and in one and the same state:
 * one transfer, one change of protection.
 *
 * Return: ADSM_OK; ADSM_E_DEVICE(_LOST), ADSM_E_NOMEM, ADSM_E_LIMIT (too many
 *         mappings: see adsm_coherence_widen): states unchanged. For BULK_READ
 *         and RETURN that limit is no failure: the host has the bytes, the
 *         state stays INVALID
 * Signal: fault path
 * Paper:  section 4.3, Fig. 6; differs: runs, partial last block
 */
int adsm_coherence_apply(struct adsm_object *object, uint32_t first,
                         uint32_t count, enum adsm_event event,
                         const struct adsm_cause *cause) ADSM_MUST_CHECK;

/**
 * The same for blocks whose protection stays as it is, which allows no more
 * than the next state does: the access that wants more will fault and ask. For
 * the limit on mappings, and ahead of accesses. Thread: any, as above. Signal:
 * fault path
 */
int adsm_coherence_apply_closed(struct adsm_object *object, uint32_t first,
                                uint32_t count, enum adsm_event event,
                                const struct adsm_cause *cause) ADSM_MUST_CHECK;

/**
 * Apply `event` to every block of [first, first + count), run by run, except
 * that a block held for overwriting is not fetched. At the limit on mappings the
 * whole object goes to the device instead. The object's lock is held
 * exclusively.
 *
 * Return: ADSM_OK; the first failure of adsm_coherence_apply: blocks before it
 *         have changed
 */
int adsm_coherence_apply_all(struct adsm_object *object, uint32_t first,
                             uint32_t count, enum adsm_event event,
                             const struct adsm_cause *cause) ADSM_MUST_CHECK;

/**
 * A write fault of block `i` opens all of [first, first + count), which are held
 * by the caller and in any states, with one change of protection.
 *
 * Return: ADSM_OK; ADSM_E_LIMIT; ADSM_E_NOMEM; a device error: states unchanged
 * Signal: fault path
 */
int adsm_coherence_open(struct adsm_object *object, uint32_t first,
                        uint32_t count, uint32_t i,
                        const struct adsm_cause *cause) ADSM_MUST_CHECK;

/**
 * Open block `i` for writing without a new mapping: together with the blocks
 * down to the next open one, or the whole object. For the limit on mappings
 * (vm.max_map_count). The object's lock is held exclusively.
 *
 * @awaited  set when nothing was opened because a loan holds one of the blocks:
 *           to be tried again when it has ended
 * Return: ADSM_OK; ADSM_E_LIMIT; a device error
 * Signal: fault path
 */
int adsm_coherence_widen(struct adsm_object *object, uint32_t i, bool *awaited,
                         const struct adsm_cause *cause) ADSM_MUST_CHECK;

/**
 * The object is gathered from now on, or is so no longer: its dirty blocks enter
 * the count that early write-backs go by, or leave it, and walks over near
 * objects find it in either state. Its lock is held exclusively. Thread: any.
 * Signal: never
 */
void adsm_coherence_set_gathered(struct adsm_object *object, bool gathered);

/**
 * The object's device memory is about to go: all of its blocks become DIRTY. The
 * host gets what it has not, unless `holds` is false: then those blocks hold
 * nothing that anybody wrote. Protections stay, which allow no more than the
 * next state does. No protocol is asked, for what only the host has is DIRTY in
 * all of them. The object's lock is held exclusively.
 *
 * Return: ADSM_OK; ADSM_E_NOMEM; a device's error; ADSM_E_LIMIT: a loan is
 *         filling a block that only the device has. Blocks may have become
 *         READ_ONLY then
 * Signal: never
 */
int adsm_coherence_take_home(struct adsm_object *object, bool holds,
                             const struct adsm_cause *cause) ADSM_MUST_CHECK;

#endif
