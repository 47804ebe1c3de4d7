/*
 * Bytes that stay with the CPU: locks, semaphores and what else threads of the
 * host wait with, in shared memory.
 *
 * A thread that waits hands the address to the kernel, which finds its block
 * closed as soon as another thread makes a call, and libc ends the program when
 * that happens. So whoever works on such bytes does it at S, which is always
 * open, whatever their block's state is; and they are left out when the block is
 * fetched, for what the device has of them is old. What the device writes there
 * never arrives, what it reads there is what was last sent. The bytes around
 * them are like any others.
 *
 * Owns which bytes these are: a bit for four bytes, by page, so that a look
 * takes no lock. Ended by the program (adsm_keep_end), by a copy or a set of the
 * device over them, and with their allocation. Does not know what they are.
 *
 * Marks are changed in one step each. Calls over ranges (libadsm/range) do not
 * know of them: they are for programs that make none.
 *
 * Lock: the object's, shared at least, where nothing else is said.
 */
#ifndef ADSM_MM_KEEP_H
#define ADSM_MM_KEEP_H

#include "mm/object/object.h"

/** Bytes are kept by so many, from a multiple of that on. */
enum { ADSM_KEEP_UNIT = 4 };

/** Bytes [offset, +bytes), which the host has, are kept from here on. Their block
 *  is held. Return: ADSM_OK; ADSM_E_NOMEM: some may be. Thread: any. Signal:
 *  never */
int adsm_keep_mark(struct adsm_object *object, size_t offset,
                   size_t bytes) ADSM_MUST_CHECK;

/** Where to work on [address, +bytes), at S, where they are kept already; NULL
 *  otherwise. Lock: none is needed, as
 *  long as nobody frees them. Thread: any. Signal: any handler */
void *adsm_keep_find(const void *address, size_t bytes);

/**
 * Pages from `offset`, where one begins, on that all have had such bytes, or all
 * not.
 *
 * @kept  gets which
 * Return: their bytes, at most `bytes`
 * Thread: any. Signal: fault path
 */
size_t adsm_keep_pages(const struct adsm_object *object, size_t offset,
                       size_t bytes, bool *kept);

/** They are like any others again; what they hold is undefined. Lock: none is
 *  needed. Thread: any. Signal: any handler */
void adsm_keep_end(const void *address, size_t bytes);

/** The same for all that are kept of bytes [offset, +bytes) of an object.
 *  Thread: any. Signal: fault path */
void adsm_keep_drop(struct adsm_object *object, size_t offset, size_t bytes);

/**
 * Bytes from `offset` on that are all kept, or all not: how to walk a range.
 *
 * @kept  what they are; Return: from 1 to `bytes`
 * Thread: any. Signal: fault path
 */
size_t adsm_keep_run(const struct adsm_object *object, size_t offset,
                     size_t bytes, bool *kept);

/** The object's blocks are going away. Lock: none, nobody finds the object any
 *  more, or yet. Signal: never */
void adsm_keep_free(struct adsm_object *object);

#endif
