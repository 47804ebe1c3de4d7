/*
 * Dirty blocks: how many there are, how many there may be (the rolling size),
 * and the queue of them in the order in which they became so.
 *
 * Owns these (policies: protocols/dirty_queue.h and rolling_size.h). Which blocks
 * enter the queue is a matter of the protocol's table (ADSM_DO_QUEUE); who empties
 * it is write_back.h.
 *
 * Lock: the queue's, rank DIRTY_QUEUE, held for loads and stores only.
 * Thread: any, where nothing else is said. Signal: fault path.
 */
#ifndef ADSM_MM_DIRTY_H
#define ADSM_MM_DIRTY_H

#include "mm/object/object.h"
#include "protocols/dirty_queue.h"

/**
 * Make the queue; without it nothing is written back early.
 *
 * @options  rolling_size, rolling_factor, rolling_learn
 * Return: false when there is no memory for it
 * Thread: one, at init. Signal: never
 */
bool adsm_dirty_init(const struct adsm_options *options);

/** An allocation was made of which an access may open so many blocks: the
 *  adaptive rolling size grows, by `factor` for each. Thread: any. Signal:
 *  never */
void adsm_dirty_grow(uint32_t blocks);

/** The rolling size as it is now. Thread: any. Signal: any handler */
uint32_t adsm_dirty_limit(void);

/** A call has released what it may use. Thread: any. Signal: never */
void adsm_dirty_called(void);

/** By how many blocks more are DIRTY than may be; negative: fewer. Without a
 *  queue: as few as can be. Thread: any. Signal: any handler */
int64_t adsm_dirty_excess(void);

/** So many more blocks of the object are DIRTY, fewer when negative, unless it is
 *  one that is not written back early. Thread: any; its lock is held, shared at
 *  least. Signal: fault path */
void adsm_dirty_count(const struct adsm_object *object, int64_t more);

/** Blocks [first, first + count) have become DIRTY; those that stand in the
 *  queue keep their place. Thread: any; the object's lock is held, shared at
 *  least. Signal: fault path */
void adsm_dirty_enqueue(struct adsm_object *object, uint32_t first,
                        uint32_t count);

/**
 * Watch none of blocks [first, first + count) any more (mm/watch/sparse.h),
 * which the caller holds or has the object's lock exclusively: those that were
 * are DIRTY as a whole from here on. Signal: fault path
 */
void adsm_dirty_unwatch(struct adsm_object *object, uint32_t first,
                        uint32_t count);

/**
 * Take the oldest run of queued blocks, at most `most` long or up to the end of a
 * grain. They stay marked as queued. What cannot be written back now is entered
 * again.
 *
 * @passed  the gate that the caller has passed
 * @gate    gets that of the blocks, which has been passed, too
 * Return: how many; 0: there is none, or its gate is closed
 * Thread: any. Signal: fault path
 */
uint32_t adsm_dirty_take(struct adsm_dirty_entry *oldest, uint32_t most,
                         uint32_t passed, uint32_t *gate);

/** They were sent before a call asked for it: do they come back? Thread: any; the
 *  object's lock is held, shared at least. Signal: fault path */
void adsm_dirty_sent(struct adsm_object *object, uint32_t first,
                     uint32_t count);

#endif
