/*
 * Calls of the driver that pass the runtime by.
 *
 * While nothing is shared there is nothing to keep coherent, and work of the
 * program goes straight to the driver. Whoever makes the first object must know
 * that no such call is still on its way, since nobody noted its work. The cost
 * lies with him: a thread that passes by writes to a line of its own, with no
 * fence, and he has the system put a fence into every thread (membarrier), or
 * pays for one by a change of protection.
 *
 *   passes by:       inside++ ; is anything shared? ; the call ; inside--
 *   makes an object: something is shared ; fence everywhere ; until inside is 0
 *
 * While something is shared, calls that are known to use nothing of it go the
 * same way; who makes another object waits for them as well.
 *
 * Owns a record for each thread that ever passed by, kept for later threads. No
 * lock.
 */
#ifndef ADSM_MM_PASSING_H
#define ADSM_MM_PASSING_H

#include "mm/object/index.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct adsm_passing {
    _Alignas(64) _Atomic uint32_t inside; /* written by its thread alone */
    _Atomic bool taken;
    struct adsm_passing *next; /* written before publication */
};

extern _Thread_local struct adsm_passing *adsm_passing_mine
    __attribute__((tls_model("initial-exec")));

/** How many reasons there are not to pass by: objects, and those to come. */
extern _Atomic uint64_t adsm_passing_barred;

/** How many of them are to come. */
extern _Atomic uint64_t adsm_passing_coming;

/** Is there a reason, just now? Signal: any handler */
static inline bool adsm_passing_is_barred(void)
{
    return atomic_load_explicit(&adsm_passing_barred, memory_order_acquire) !=
           0;
}

/** A record for the calling thread; NULL: none is to be had. Thread: any.
 *  Signal: any handler */
struct adsm_passing *adsm_passing_join(void);

/* The record says that the thread is inside. A handler in between leaves it as
 * it was. */
static inline bool adsm_passing_enter(void)
{
    struct adsm_passing *mine = adsm_passing_mine;
    if (!mine && !(mine = adsm_passing_join()))
        return false;
    atomic_store_explicit(
        &mine->inside,
        atomic_load_explicit(&mine->inside, memory_order_relaxed) + 1,
        memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

static inline void adsm_passing_end(void)
{
    struct adsm_passing *mine = adsm_passing_mine;
    /* Release: what the call did is done when the record says so. */
    atomic_store_explicit(
        &mine->inside,
        atomic_load_explicit(&mine->inside, memory_order_relaxed) - 1,
        memory_order_release);
}

/**
 * Is there nothing to do, so that the call may pass by? Then adsm_passing_end
 * comes behind it. Nests.
 *
 * Thread: any. Signal: any handler
 */
static inline bool adsm_passing_begin(void)
{
    if (!adsm_passing_enter())
        return false;
    if (!adsm_passing_is_barred())
        return true;
    adsm_passing_end();
    return false;
}

/**
 * The same for a call that uses no object: may it pass by those there are?
 *
 * @objects  how many had come when that was found out (adsm_index_count)
 */
static inline bool adsm_passing_begin_beside(uint64_t objects)
{
    if (!adsm_passing_enter())
        return false;
    /* In this order: who sees nobody come sees what has come. */
    if (atomic_load_explicit(&adsm_passing_coming, memory_order_acquire) == 0 &&
        adsm_index_count() == objects)
        return true;
    adsm_passing_end();
    return false;
}

/** The calling thread leaves whatever calls it is in, by a jump. Thread: any.
 *  Signal: any handler */
static inline void adsm_passing_leave(void)
{
    if (adsm_passing_mine)
        atomic_store_explicit(&adsm_passing_mine->inside, 0,
                              memory_order_release);
}

/** From now on nobody passes by, and who does so now is waited for; the calling
 *  thread is not. Once for each that is undone by adsm_passing_allow. Thread:
 *  any; holds no lock. Signal: fault path */
void adsm_passing_bar(void);
void adsm_passing_allow(void);

#endif
