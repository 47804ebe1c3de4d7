/*
 * Shared memory in the small, for tests of the fault engine: pages that a
 * callback opens as the access asks, and children that are expected to die.
 */
#ifndef TESTS_OS_FAULTY_H
#define TESTS_OS_FAULTY_H

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/no_handler.h"
#include "common/suite.h"
#include "os/fault.h"
#include "os/vm.h"

/* For functions with atomics on protected pages: ThreadSanitizer would do them
 * inside its runtime, under a lock that its hooks in the handler need too. */
#if defined(__clang__)
#define UNTRACED __attribute__((disable_sanitizer_instrumentation))
#else
#define UNTRACED __attribute__((no_sanitize("thread")))
#endif

#define FAULTY_PAGES 64
#define PAGE         ((uintptr_t)4096)

static uintptr_t faulty; /* FAULTY_PAGES pages */
static _Atomic unsigned faulty_reads, faulty_writes;

static inline bool faulty_owns(uintptr_t addr)
{
    return addr - faulty < FAULTY_PAGES * PAGE;
}

/** The callback: opens the page for what was asked. */
static inline bool faulty_open(uintptr_t addr, enum adsm_access access,
                               uintptr_t ip)
{
    if (!faulty_owns(addr))
        return false;
    bool is_write = access == ADSM_WRITE;
    atomic_fetch_add(is_write ? &faulty_writes : &faulty_reads, 1);
    return adsm_vm_protect(addr & ~(PAGE - 1), PAGE,
                           is_write ? ADSM_PROT_READ_WRITE : ADSM_PROT_READ) ==
           ADSM_OK;
}

/** Take access to every page away and forget the counts. */
static inline void faulty_close(void)
{
    ck_assert_int_eq(
        adsm_vm_protect(faulty, FAULTY_PAGES * PAGE, ADSM_PROT_NONE), ADSM_OK);
    faulty_reads = faulty_writes = 0;
}

/** Reserve the pages, closed, without an engine. */
static inline void faulty_reserve(void)
{
    faulty = adsm_vm_reserve(FAULTY_PAGES * PAGE, 0, 0);
    ck_assert_uint_ne(faulty, 0);
}

/** Reserve the pages and install the engine. */
static inline void faulty_start(void)
{
    faulty_reserve();
    ck_assert_int_eq(adsm_fault_init(faulty_open), ADSM_OK);
}

static inline volatile char *faulty_page(int page)
{
    return (volatile char *)(faulty + (uintptr_t)page * PAGE);
}

/**
 * Run `fn` in a child. Return: its exit status, or 1000 + the signal that
 * killed it.
 */
static inline int in_child(void (*fn)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        alarm(10);
        fn();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

#define DIED_OF(signal) (1000 + (signal))

#endif
