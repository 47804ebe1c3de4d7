/*
 * Huge pages under shared memory: 2 MiB behind one entry of the page table, so
 * that getting, opening and closing them costs as much as a small page.
 *
 * The kernel makes them on request (MADV_COLLAPSE, Linux 6.1), whatever
 * /sys/kernel/mm/transparent_hugepage says about memory files. Owns whether
 * that is asked for: not where ADSM_HUGE_PAGES is off, the engine answers
 * faults page by page (uffd) or the kernel has said that it cannot, and rarely
 * where it has found none free, or took long. What is refused stays on small
 * pages, and nothing else changes. Does not know objects. Lock: none.
 */
#ifndef ADSM_OS_HUGE_H
#define ADSM_OS_HUGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADSM_HUGE_BYTES ((size_t)2 << 20)

/** Is it of use to ask? Thread: any. Signal: fault path */
bool adsm_huge_is_wanted(void);

/**
 * Get huge pages for a part of a memory file, mapped there to be read and
 * written, of which nobody has page-locked anything. What it holds stays.
 *
 * @addr @bytes  whole 2 MiB, also in the file
 * Return: whether all of it lies on huge pages
 * Thread: any. Signal: fault path
 */
bool adsm_huge_make(uintptr_t addr, size_t bytes);

/**
 * Map a huge page that is there as one again, where its mapping was split.
 *
 * Return: whether it is; false where it was not tried. Thread, Signal, @addr, @bytes: as above
 */
bool adsm_huge_rejoin(uintptr_t addr, size_t bytes);

/**
 * Try it, with memory of its own.
 *
 * @why  one sentence: how they are got, or what stands in the way and who could
 *       change that
 * Return: whether shared memory gets huge pages
 * Thread: one. Signal: never
 */
bool adsm_huge_try(const char **why);

#endif
