/*
 * Futex wait and wake on a word of shared memory.  No state, no lock.
 */
#ifndef SOFTCUDA_DEVICE_FUTEX_H
#define SOFTCUDA_DEVICE_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
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

#endif
