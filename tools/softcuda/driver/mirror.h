/*
 * What kernels see of the program's own memory, once it has a device pointer.
 *
 * Pages of the program cannot be mapped by another process, and exchanging
 * them under it would lose stores of its other threads, and share them with
 * its children.  So they stay, and kernels use a mirror in the host file: what
 * either side has changed goes to the other before a kernel begins, and when
 * it has ended.  Neither sees the other's stores in between.
 *
 * Lock: sc_mirror_lock, rank 1.5: before the memory lock, never with
 * sc_sched_lock; held while bytes move.
 */
#ifndef SOFTCUDA_DRIVER_MIRROR_H
#define SOFTCUDA_DRIVER_MIRROR_H

#include <pthread.h>

#include "driver/memory.h"
#include "driver/sched.h"

extern pthread_mutex_t sc_mirror_lock;

/**
 * Begin to mirror a range.
 *
 * @program its address; @shadow where the host file has room for it, mapped,
 *          at the same place of a page
 * Return: false: no memory or no thread
 * Thread: holds sc_mirror_lock
 */
bool sc_mirror_add(uint64_t program, uint64_t shadow, uint64_t bytes);

/** End it; no kernel uses it.  Thread: holds sc_mirror_lock. */
void sc_mirror_remove(uint64_t program);

/** Is this a command of the program's that may touch a mirror?
 *  Thread: holds sc_sched_lock. */
bool sc_mirror_concerns(const struct sc_op *op);

/** Bring mirrors up to date, then hand the command to its device, or, when it
 *  has answered, to the program.  Thread: holds sc_sched_lock. */
void sc_mirror_begin(struct sc_op *op);
void sc_mirror_end(struct sc_op *op, CUresult result);

/** What the thread of mirrors does.  Thread: that one, no lock held. */
void sc_mirror_step(struct sc_op *op);

#endif
