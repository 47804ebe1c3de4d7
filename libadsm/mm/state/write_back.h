/*
 * Writing back early: under rolling-update the oldest dirty blocks go to the
 * device once more than the rolling size are dirty (the paper, section 4.3,
 * which calls it eviction; here only a copy in device memory is evicted).
 *
 * Owns the queue of dirty blocks and the rolling size (policies:
 * protocols/dirty_queue.h and rolling_size.h) and their number. Which blocks enter it is a matter of the protocol's table
 * (ADSM_DO_QUEUE), what that means for one as well (ADSM_WRITE_BACK).
 *
 * Lock: the queue's, rank DIRTY_QUEUE, held for loads and stores only. Objects
 * are locked shared, one at a time, by adsm_write_back itself.
 * Thread: any, where nothing else is said. Signal: fault path.
 */
#ifndef ADSM_MM_WRITE_BACK_H
#define ADSM_MM_WRITE_BACK_H

#include "mm/object/object.h"

/**
 * Make the queue; without it nothing is written back early.
 *
 * @options  rolling_size, rolling_factor, rolling_learn
 * Return: false when there is no memory for it
 * Thread: one, at init. Signal: never
 */
bool adsm_write_back_init(const struct adsm_options *options);

/** An allocation was made of which an access may open so many blocks: the
 *  adaptive rolling size grows, by `factor` for each. Thread: any. Signal:
 *  never */
void adsm_write_back_grow(uint32_t blocks);

/** The rolling size as it is now. Thread: any. Signal: any handler */
uint32_t adsm_write_back_limit(void);

/** A call has released what it may use. Thread: any. Signal: never */
void adsm_write_back_called(void);

/** So many more blocks are DIRTY; fewer when negative. Thread: any.
 *  Signal: fault path */
void adsm_write_back_count(int64_t more);

/** Blocks [first, first + count) have become DIRTY; those that stand in the
 *  queue keep their place. Thread: any; the object's lock is held, shared at
 *  least. Signal: fault path */
void adsm_write_back_enqueue(struct adsm_object *object, uint32_t first,
                             uint32_t count);

/**
 * Write back the oldest dirty blocks until the rolling size is respected. What
 * somebody holds, or what cannot be sent or closed just now, stays in the queue.
 * Those whose own gate is closed wait for their next turn: a call has them, and
 * what it is busy with may take long.
 *
 * @gate   the gate (mm/object/gate.h) that the caller has passed
 * Thread: any; holds no lock or block. Signal: fault path
 */
void adsm_write_back(uint32_t gate);

/**
 * Has the thread's last fault (adsm_fault_thread) written back the block that
 * now faults again?
 * One store may lie across two blocks: where the rolling size is 1 it needs
 * both at once, and the caller leaves it to the next fault. Asking forgets it.
 *
 * Thread: any. Signal: fault path
 */
bool adsm_write_back_is_back(const struct adsm_object *object, uint32_t i);

/**
 * Is a fault not to write back, where another thread answers it? The system
 * call that it comes from may still fill what it wanted before
 * (adsm_fault_is_in_call). To be asked before the block is open, while the
 * thread waits: behind that it goes on. So one that need not write back then
 * does not do it later, for blocks that the thread has got meanwhile.
 *
 * Thread: any. Signal: fault path
 */
bool adsm_write_back_would_harm(void);

#endif
