/*
 * Writing back early: under rolling-update the oldest dirty blocks go to the
 * device once more than the rolling size are dirty (the paper, section 4.3,
 * which calls it eviction; here only a copy in device memory is evicted).
 *
 * Owns what a thread's last fault wrote back. The queue that it empties is
 * dirty.h's, what a write-back means for a block the protocol's
 * (ADSM_WRITE_BACK).
 *
 * Lock: objects are locked shared, one at a time, by adsm_write_back itself.
 * Thread: any, where nothing else is said. Signal: fault path.
 */
#ifndef ADSM_MM_WRITE_BACK_H
#define ADSM_MM_WRITE_BACK_H

#include "mm/object/object.h"

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
