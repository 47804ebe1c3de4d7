/*
 * A set of free ranges of numbers: addresses, file offsets, bytes of a slab.
 */
#ifndef SOFTCUDA_BASE_RANGES_H
#define SOFTCUDA_BASE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_range {
    uint64_t base, bytes;
};

/** Free ranges, sorted, never touching; the owner's lock guards it. */
struct sc_ranges {
    struct sc_range *list;
    size_t count, capacity;
};

#define SC_RANGES_NONE UINT64_MAX

/** Start with one free range. Return: false when memory ran out. */
bool sc_ranges_init(struct sc_ranges *set, uint64_t base, uint64_t bytes);

/** Forget everything. */
void sc_ranges_fini(struct sc_ranges *set);

/**
 * Take the first range that fits.
 *
 * @bytes wanted; @align a power of two
 * Return: its base, SC_RANGES_NONE when nothing fits
 * Thread: caller holds the owner's lock
 */
uint64_t sc_ranges_take(struct sc_ranges *set, uint64_t bytes, uint64_t align);

/** Take exactly [base, base + bytes). Return: false when not all free. */
bool sc_ranges_take_at(struct sc_ranges *set, uint64_t base, uint64_t bytes);

/** Give back a range that was taken; merges with its neighbours. */
void sc_ranges_give(struct sc_ranges *set, uint64_t base, uint64_t bytes);

#endif
