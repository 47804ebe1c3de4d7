/*
 * Sparse blocks: those that are written here and there.
 *
 * Under the engine async a block that a store opens by itself, not as one of a
 * run, is watched: it is DIRTY and open, and the kernel notes which of its pages
 * are written (os/written.h). Who sends it asks which, and sends these alone. A
 * call that only reads the object leaves it open: copies of the pages go, so
 * that no store has to wait, and the next ones are noted from then on, without a
 * signal. So the device has all of a watched block but the pages noted; whoever
 * takes from the device what it has, or writes through S, ends the watch or
 * notes the pages.
 *
 * What the last call found decides: where most of a block was written, or so
 * many pieces that one copy of all is quicker, or nothing for long, it is closed
 * as any other. One that was written densely is
 * not watched the next seven times that it opens alone, and after another such
 * time not the next 63: a store in each page costs more there than one signal.
 *
 * Watched blocks count for no rolling size and are not written back early: how
 * much of them is dirty nobody knows before the next call, which finds it. It is
 * little as long as the program does what it did; one that begins to write
 * densely there sends it once as late as under lazy.
 *
 * Owns `sparse` and `watched` of `struct adsm_object`. Does not decide states.
 * Lock: for blocks the caller holds, or all if it has the object's lock
 * exclusively.
 * Thread: any. Signal: fault path. Where nothing else is said.
 */
#ifndef ADSM_MM_SPARSE_H
#define ADSM_MM_SPARSE_H

#include "mm/object/block.h"

/** What is known of a block. */
struct adsm_sparse_block {
    _Atomic uint8_t is_watched; /* read without its block          */
    uint8_t level;              /* times it was found dense        */
    uint8_t skip;               /* openings alone to be let pass   */
    uint8_t idle;               /* calls that found nothing        */
    uint32_t found, runs;       /* pages written when last looked, and
                                   runs of them                    */
};

/** A new object that follows `protocol`: may its blocks be watched? Return:
 *  ADSM_OK; ADSM_E_NOMEM. Thread: the one that makes it. Signal: never */
int adsm_sparse_init(struct adsm_object *object,
                     const struct adsm_protocol *protocol) ADSM_MUST_CHECK;
void adsm_sparse_fini(struct adsm_object *object);

/** Is block `i` watched? Lock: none; it is so as long as the block is held. */
static inline bool adsm_sparse_is_watched(const struct adsm_object *object,
                                          uint32_t i)
{
    /* Relaxed: what must not change meanwhile is the block's holder's. */
    return object->sparse && atomic_load_explicit(&object->sparse[i].is_watched,
                                                  memory_order_relaxed);
}

/** Blocks from `first` on, at most `count`, that are all watched, or all not. */
uint32_t adsm_sparse_run(const struct adsm_object *object, uint32_t first,
                         uint32_t count);

/** How many of them are. */
uint32_t adsm_sparse_count(const struct adsm_object *object, uint32_t first,
                           uint32_t count);

/** A store is about to open block `i`, which is current on both sides then:
 *  should it be watched? Asking counts. */
bool adsm_sparse_wants(struct adsm_object *object, uint32_t i);

/** Watch block `i`, which is closed to stores. Return: false: it is not */
bool adsm_sparse_watch(struct adsm_object *object, uint32_t i);

/** Watch none of [first, first + count) any more: what was noted is lost. */
void adsm_sparse_unwatch(struct adsm_object *object, uint32_t first,
                         uint32_t count);

/** The same for all, whose mapping is going away. */
void adsm_sparse_abandon(struct adsm_object *object);

/** Has watched block `i` been written densely? */
bool adsm_sparse_is_full(struct adsm_object *object, uint32_t i);

/** May watched block `i` stay open at a call that only reads it? Only where its
 *  upload has nothing to wait for: see adsm_twin_keeps. */
bool adsm_sparse_keeps(const struct adsm_object *object, uint32_t i);

/**
 * Send what was written of watched blocks, which stay open, and note from here
 * on what is written next.
 *
 * @known  gets how many of them, in front, that is so for. Of the others nothing
 *         can be told: what was noted may be lost, and they are over
 * Return: ADSM_OK; a device's error: what was noted of all is lost
 */
int adsm_sparse_send(struct adsm_object *object, uint32_t first, uint32_t count,
                     uint32_t *known,
                     const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** Should the block, which was sent so, be closed and watched no more? */
bool adsm_sparse_is_over(const struct adsm_object *object, uint32_t i);

/** Send what was written of watched blocks that are closed. @done: set where
 *  something was. Return: ADSM_OK; a device's error: all is noted as before */
int adsm_sparse_flush(struct adsm_object *object, uint32_t first,
                      uint32_t count, struct adsm_fence *done,
                      const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** Bytes [from, to) of the object were written through S: note those in watched
 *  block `i`. Return: false: that cannot be done */
bool adsm_sparse_note(struct adsm_object *object, uint32_t i, size_t from,
                      size_t to);

#endif
