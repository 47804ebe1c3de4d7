/*
 * io_uring by raw system calls: rings that a program sets up, maps and enters
 * by itself.
 *
 * A ring is known from io_uring_setup on, and by what the program maps of it
 * are its entries found when it enters the kernel. So nothing is to be had of
 * rings whose entries the kernel takes at any time (IORING_SETUP_SQPOLL), of
 * those that are known by a number of the kernel's (registered rings), and of
 * those that were there before their calls are seen (ADSM_SYSCALLS=trap).
 *
 * Owns what is known of rings. Lock: `rings.lock`, rank API.
 */
#ifndef INTERPOSE_LIBC_URING_RING_H
#define INTERPOSE_LIBC_URING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * The calls of these names; of the first one also before the runtime is in use.
 *
 * @words  the six arguments
 * Return: as of syscall(2): -1 with errno
 * Thread: any. Signal: never
 */
long uring_ring_setup(const uintptr_t *words);
long uring_ring_enter(const uintptr_t *words);
long uring_ring_register(const uintptr_t *words);

/** Are there any? Signal: any handler */
bool uring_ring_any(void);

/** Is a descriptor that of a ring? Cheap where there are none. Signal: any
 *  handler */
bool uring_ring_is(int file);

/** The program has mapped a part of a ring. Thread: any. Signal: never */
void uring_ring_mapped(int file, off_t offset, void *at, size_t bytes);

/** Addresses are to be unmapped: rings that lie there end. Cheap where there
 *  are none. Thread: any. Signal: never */
void uring_ring_unmaps(const void *at, size_t bytes);

/** A ring is somebody else's to look at. Cheap where there are none. */
void uring_ring_forget(int file);

#endif
