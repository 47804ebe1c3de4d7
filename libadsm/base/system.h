/*
 * System calls by number, where the function of the C library is one that others
 * change.
 *
 * Libraries that keep an eye on mappings stand before these functions, or write a
 * jump over their first instructions (UCX, Open MPI). What they do then takes
 * locks, calls malloc, and may come back here. The runtime changes mappings while
 * it answers a fault, and its own mappings concern nobody else: so it asks the
 * kernel. By syscall(2), not by instructions of its own, which ADSM_SYSCALLS=trap
 * would take for the program's.
 *
 * Arguments, results and errno are those of the functions. Thread: any. Signal:
 * any handler.
 */
#ifndef ADSM_BASE_SYSTEM_H
#define ADSM_BASE_SYSTEM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline void *adsm_system_mmap(void *at, size_t bytes, int protection,
                                     int flags, int file, off_t offset)
{
    return (void *)syscall(SYS_mmap, at, bytes, (long)protection, (long)flags,
                           (long)file, offset);
}

/**
 * Bytes to map for so many of the runtime's own, whose pages come as they are
 * used: by themselves a few pages come to lie in a hole that the program has
 * left, and what it does with a pointer to memory that it gave back is then no
 * fault but done to them.
 */
static inline size_t adsm_system_map_bytes(size_t bytes)
{
    enum { LEAST = 64 << 10 };
    return bytes < LEAST ? LEAST : bytes;
}

static inline int adsm_system_munmap(void *at, size_t bytes)
{
    return (int)syscall(SYS_munmap, at, bytes);
}

/** @to  of no meaning without MREMAP_FIXED */
static inline void *adsm_system_mremap(void *at, size_t bytes, size_t wanted,
                                       int flags, uintptr_t to)
{
    return (void *)syscall(SYS_mremap, at, bytes, wanted, (long)flags, to);
}

static inline int adsm_system_mprotect(void *at, size_t bytes, int protection)
{
    return (int)syscall(SYS_mprotect, at, bytes, (long)protection);
}

static inline int adsm_system_madvise(void *at, size_t bytes, int advice)
{
    return (int)syscall(SYS_madvise, at, bytes, (long)advice);
}

static inline int adsm_system_munlock(const void *at, size_t bytes)
{
    return (int)syscall(SYS_munlock, at, bytes);
}

static inline int adsm_system_mincore(void *at, size_t bytes,
                                      unsigned char *there)
{
    return (int)syscall(SYS_mincore, at, bytes, there);
}

/** An action as the kernel has it. */
struct adsm_system_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/** @action  with the C library's way back, so copied from one that it installed,
 *           or NULL; @before  or NULL */
static inline int adsm_system_sigaction(int number,
                                        const struct adsm_system_action *action,
                                        struct adsm_system_action *before)
{
    return (int)syscall(SYS_rt_sigaction, (long)number, action, before,
                        sizeof before->mask);
}

/** Does it leave what becomes of a signal to the program, by a handler? */
static inline bool
adsm_system_has_handler(const struct adsm_system_action *action)
{
    return (uintptr_t)action->handler > (uintptr_t)SIG_IGN;
}

#endif
