/*
 * Words that threads wait in, by number: futex and its successors. glibc has no
 * functions for them.
 *
 * The kernel finds a shared word at its shadow, where it looks for the threads
 * that wait there, too. Owns no state.
 */
#ifndef INTERPOSE_CALLS_FUTEX_H
#define INTERPOSE_CALLS_FUTEX_H

#include <stdint.h>

/**
 * The calls of these names.
 *
 * @words  the six arguments
 * Return: as of syscall(2): -1 with errno
 * Thread: any. Signal: any handler, where that of the call may run
 */
long futex_call(const uintptr_t *words);
long futex_waitv_call(const uintptr_t *words);
long futex_wake_call(const uintptr_t *words);
long futex_wait_call(const uintptr_t *words);
long futex_requeue_call(const uintptr_t *words);

#endif
