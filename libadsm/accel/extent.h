/*
 * Allocations of which one span is made.
 *
 * What is adopted may be several small allocations of the program on the same
 * pages, and the driver copies within one of them only. So copies of such a span
 * are cut where its allocations begin and end, and what lies between them is
 * left out. Owns the list of such spans of an accel.
 *
 * Lock: its own, rank POOL, for the look-up and changes only.
 */
#ifndef ADSM_ACCEL_EXTENT_H
#define ADSM_ACCEL_EXTENT_H

#include "accel/types.h"
#include "base/lock.h"

struct adsm_extent {
    uint64_t begin, end;
};

/** Of one span: in rising order, apart from each other. */
struct adsm_extents {
    size_t count, room;
    struct adsm_extent *list;
};

/** Those of an accel, in rising order, apart from each other: a copy looks one up
 *  among thousands. */
struct adsm_extent_table {
    struct adsm_lock lock;
    _Atomic size_t count; /* spans: 0 costs copies one load */
    size_t room;
    struct adsm_extents **spans;
};

void adsm_extent_table_init(struct adsm_extent_table *table);

/**
 * Add an allocation to a list that is not in a table yet, at its place.
 *
 * Return: ADSM_OK; ADSM_E_NOMEM
 * Thread: one. Signal: never
 */
int adsm_extents_add(struct adsm_extents *extents,
                     struct adsm_extent extent) ADSM_MUST_CHECK;

/** Copies are cut from now on, or not any more, if they were. No other span of the
 *  table has bytes in it. Return: ADSM_OK; ADSM_E_NOMEM. Thread: any. Signal:
 *  never */
int adsm_extent_enter(struct adsm_extent_table *table,
                      struct adsm_extents *extents) ADSM_MUST_CHECK;
void adsm_extent_remove(struct adsm_extent_table *table,
                        struct adsm_extents *extents);

/** Is the address in a span that is cut? Thread: any. Signal: fault path */
bool adsm_extent_cuts(struct adsm_accel *accel, struct adsm_daddr at);

/** The accel's copies and sets (ops.h), cut so. Thread: any. Signal: fault
 *  path */
int adsm_extent_copy_up(struct adsm_accel *accel, adsm_stream stream,
                        struct adsm_daddr to, const void *from, size_t bytes);
int adsm_extent_copy_down(struct adsm_accel *accel, adsm_stream stream,
                          void *to, struct adsm_daddr from, size_t bytes);
int adsm_extent_copy_down_now(struct adsm_accel *accel, void *to,
                              struct adsm_daddr from, size_t bytes);
int adsm_extent_set(struct adsm_accel *accel, adsm_stream stream,
                    struct adsm_daddr to, uint8_t value, size_t bytes);

#endif
