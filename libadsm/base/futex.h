/*
 * Sleeping on a word, and waking who sleeps there. Keeps errno.
 *
 * Thread: any. Signal: fault path.
 */
#ifndef ADSM_BASE_FUTEX_H
#define ADSM_BASE_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/** Sleep while the word has this value, until somebody wakes; or for nothing. */
static inline void adsm_futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    int saved_errno = errno;
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
    errno = saved_errno;
}

/** Wake `count` of those who sleep on it. */
static inline void adsm_futex_wake(_Atomic uint32_t *word, int count)
{
    int saved_errno = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
    errno = saved_errno;
}

/** Between two looks at a word that another processor is about to write. */
static inline void adsm_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

#endif
