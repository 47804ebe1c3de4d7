/*
 * System calls by number, for those who get them otherwise than through the
 * function of libc.
 */
#ifndef INTERPOSE_CALLS_SYSCALL_H
#define INTERPOSE_CALLS_SYSCALL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Make a call of which some memory is shared, or that is not the kernel's alone.
 *
 * @words   the number and six arguments
 * @result  as of syscall(2): -1 with errno
 * Return: false: nothing was done, the call is to be made as it is
 * Thread: any. Signal: any handler, where that of the call may run
 */
bool syscall_answers(const uintptr_t *words, long *result);

#endif
