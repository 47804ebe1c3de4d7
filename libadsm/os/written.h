/*
 * Which pages of a range were written: the kernel notes it in the page table,
 * and is asked when somebody wants to know. No store is seen, none waits.
 *
 * By userfaultfd in asynchronous mode and PAGEMAP_SCAN (Linux 6.7). No
 * privilege is needed: what the kernel itself writes for a system call is noted
 * as well. A range is watched from `watch` to `unwatch`, or until it is mapped
 * over; its protection does not matter to what was noted. Stores through other
 * mappings of the same pages are not noted, nor those of devices that have them
 * pinned.
 *
 * Owns two descriptors. Programs close what they have not opened: where one is
 * gone nothing is known any more, which is said by every answer; nothing is
 * lost. Does not know objects or blocks. Addresses and sizes are multiples of
 * the page size.
 * Lock: none; calls about one page must not meet each other.
 * Thread: any. Signal: fault path. Where nothing else is said.
 */
#ifndef ADSM_OS_WRITTEN_H
#define ADSM_OS_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Pages [begin, end) that were written. As the kernel has it. */
struct adsm_written_run {
    uint64_t begin, end;
    uint64_t unused;
};

/**
 * Does it work here? Tried once, with memory of its own.
 *
 * Return: NULL: yes; why not otherwise
 * Thread: one. Signal: never
 */
const char *adsm_written_refused(void);

/** Get the descriptors. Return: false: there are none. Thread: one. Signal:
 *  never */
bool adsm_written_init(void);

/** They stay, for the next time. Thread: one. Signal: never */
void adsm_written_fini(void);

/** Between the two? Signal: any handler */
bool adsm_written_is_on(void);

/** Note what is written to a mapped range from here on. Return: false: that
 *  cannot be had, nothing has changed */
bool adsm_written_watch(uintptr_t addr, size_t bytes);

/** Note no more. */
void adsm_written_unwatch(uintptr_t addr, size_t bytes);

/**
 * Find pages of [*from, end), which is watched, that were written.
 *
 * @from   gets how far the answer goes; @again  forget, in the same step, what
 *         is answered: the next answer tells of later stores
 * @runs   gets them, `room` at most
 * Return: how many; -1: it is not known, and any may have been
 */
int adsm_written_find(uintptr_t *from, uintptr_t end, bool again,
                      struct adsm_written_run *runs, int room);

/** Note pages that are open as written, which were so behind the kernel's back.
 *  Return: false: that cannot be done */
bool adsm_written_note(uintptr_t addr, size_t bytes);

#endif
