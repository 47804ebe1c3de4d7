/*
 * Futex wait and wake on a word of shared memory.  No state, no lock.
 */
#ifndef SOFTCUDA_BASE_FUTEX_H
#define SOFTCUDA_BASE_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/** Sleep while *word == seen; returns on a wake, a signal or the timeout.
 *  Not FUTEX_PRIVATE: the word may be shared between processes. */
static inline void sc_futex_wait(_Atomic uint32_t *word, uint32_t seen,
                                 const struct timespec *timeout)
{
    syscall(SYS_futex, word, FUTEX_WAIT, seen, timeout, NULL, 0);
}

/** Wake everybody who sleeps on the word. */
static inline void sc_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/** Sleep on a flag that is 1 (protocol.h). Return: for whatever reason */
static inline void sc_flag_sleep(_Atomic uint32_t *sleeps,
                                 const struct timespec *timeout)
{
    sc_futex_wait(sleeps, 1, timeout);
}

/** Wake who sleeps on a flag, or keep it from sleeping. */
static inline void sc_flag_wake(_Atomic uint32_t *sleeps)
{
    if (atomic_load(sleeps) && atomic_exchange(sleeps, 0))
        sc_futex_wake(sleeps);
}

/** Wake up to `count` of those who sleep on the word. */
static inline void sc_futex_wake_some(_Atomic uint32_t *word, uint32_t count)
{
    syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

/** CLOCK_MONOTONIC in nanoseconds, the same clock in every process. */
static inline uint64_t sc_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/** One step of a spin loop. */
static inline void sc_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/** Whether spinning before a sleep has paid lately: it does not where both
 *  sides share a core, or where what one waits for takes long.  Zeroed: not
 *  yet.  Threads may share one, its counters need not be exact. */
struct sc_spin {
    _Atomic uint32_t luck, waits;
};

#define SC_SPIN_MOST  8u
#define SC_SPIN_TRIAL 16u /* of so many waits one tries in any case */

/** Spin now?  If so, tell sc_spin_told what came of it. */
static inline bool sc_spin_now(struct sc_spin *spin)
{
    return atomic_load_explicit(&spin->luck, memory_order_relaxed) > 0 ||
           atomic_fetch_add_explicit(&spin->waits, 1, memory_order_relaxed) %
                   SC_SPIN_TRIAL ==
               0;
}

/** What made it vain has changed: try again. */
static inline void sc_spin_renew(struct sc_spin *spin)
{
    atomic_store_explicit(&spin->luck, SC_SPIN_MOST, memory_order_relaxed);
}

/** What was waited for came while spinning, or it did not. */
static inline void sc_spin_told(struct sc_spin *spin, bool came)
{
    uint32_t luck = atomic_load_explicit(&spin->luck, memory_order_relaxed);
    if (came)
        luck += luck < SC_SPIN_MOST;
    else
        luck =
            luck > 2 ? luck - 2 : 0; /* a vain one costs more than it saves */
    atomic_store_explicit(&spin->luck, luck, memory_order_relaxed);
}

#endif
