/*
 * Between the parts of the engine over userfaultfd: private to
 * os/fault_uffd*.c.
 *
 * fault_uffd.c owns the ranges, fault_uffd_serve.c the threads that answer,
 * fault_uffd_keep.c the descriptor, and fault_uffd_open.c knows its calls and
 * whether this machine can do them.
 */
#ifndef ADSM_OS_FAULT_UFFD_H
#define ADSM_OS_FAULT_UFFD_H

#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Linux 6.4, which the headers may not know. */
#ifndef UFFDIO_CONTINUE_MODE_WP
#define UFFDIO_CONTINUE_MODE_WP ((__u64)1 << 1)
#endif

/**
 * A descriptor that is told of accesses by the kernel's own code as well.
 *
 * @why  gets what stands in the way
 * Return: -1: there is none
 * Thread: any. Signal: never
 */
int adsm_uffd_open(const char **why);

/** The same at a number above those that programs count on, where that can be
 *  had. Thread: any. Signal: any handler */
int adsm_uffd_hide(int fd);

/** Keep the engine's descriptor. Thread: one. Signal: never */
void adsm_uffd_keep(int fd);

/** That which is kept, as it is numbered now; -1: none. Thread: any. Signal: any
 *  handler */
int adsm_uffd_fd(void);

/** The one of that number is gone. Return: another; -1, which it says: there
 *  can be none. Thread: any. Signal: any handler */
int adsm_uffd_again(int lost);

/** Watch a range; return: 0, or -1 with errno. Thread: any. Signal: any
 *  handler */
int adsm_uffd_register(int fd, uintptr_t addr, size_t bytes);

/**
 * Present pages without page table entries, at most to the first that has one.
 *
 * @mode   0: writable; UFFDIO_CONTINUE_MODE_WP: readable
 * @bytes  of the range; gets how many bytes of it are done
 * Return: 0, or an errno: EEXIST where the next page has an entry
 * Thread: any. Signal: any handler
 */
int adsm_uffd_continue(int fd, uintptr_t addr, size_t *bytes, uint64_t mode);

/** Forbid writing to the pages that have one. Return: 0, or -1 with errno.
 *  Thread: any. Signal: any handler */
int adsm_uffd_protect(int fd, uintptr_t addr, size_t bytes);

/** Take all page table entries away. Return: 0, or -1 with errno. Thread: any.
 *  Signal: any handler */
int adsm_uffd_drop(uintptr_t addr, size_t bytes);

/** Have accesses in there tried again. Thread: any. Signal: any handler */
void adsm_uffd_wake(int fd, uintptr_t addr, size_t bytes);

/**
 * Does all of it work here? Tried once, with a page, a pipe and a thread.
 *
 * Return: NULL: yes; why not otherwise
 * Thread: one. Signal: never
 */
const char *adsm_uffd_refused(void);

/**
 * Start the threads that answer what adsm_uffd_fd is told. They live as long as
 * the process.
 *
 * Return: ADSM_OK; ADSM_E_SYSTEM: no thread is to be had
 * Thread: one. Signal: never
 */
ADSM_MUST_CHECK adsm_status_t adsm_uffd_serve(void);

/** The page that the access is in which the calling thread answers; 0: none.
 *  Thread: any. Signal: any handler */
uintptr_t adsm_uffd_faulting(void);

/**
 * An access to the page cannot be had: what is tried again in there gets
 * SIGSEGV, or EFAULT in a system call. `forgive` lets all such be asked for
 * once more; it returns whether there were any.
 *
 * Thread: any. Signal: any handler
 */
void adsm_uffd_deny(uintptr_t page);
bool adsm_uffd_forgive(void);

#endif
