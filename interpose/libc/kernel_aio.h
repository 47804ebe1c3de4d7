/*
 * Linux's own asynchronous I/O (io_submit and its like) on memory that may be
 * shared, by number; libaio's functions make these calls by syscall(2).
 *
 * The kernel gets a block of ours whose buffers are plain or the shadow
 * (flight.h), and gives it back in an event: then what arrived is moved, and the
 * event names the program's block. So it is where it belongs when the program
 * has the event; one that reads events from the ring itself, which is no
 * documented interface, gets neither.
 */
#ifndef INTERPOSE_LIBC_KERNEL_AIO_H
#define INTERPOSE_LIBC_KERNEL_AIO_H

#include <stdint.h>

/**
 * The calls of these names.
 *
 * @words  the six arguments
 * Return: as of syscall(2): -1 with errno
 * Thread: any. Signal: never
 */
long kernel_aio_submit(const uintptr_t *words);
long kernel_aio_getevents(const uintptr_t *words);
long kernel_aio_pgetevents(const uintptr_t *words);
long kernel_aio_cancel(const uintptr_t *words);
long kernel_aio_destroy(const uintptr_t *words);

#endif
