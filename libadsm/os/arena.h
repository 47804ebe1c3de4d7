/*
 * Host memory of shared objects: a few large memfd segments, each mapped once,
 * read-write, as the shadow S. Never one file per object, and no open file at
 * all once a segment is there.
 *
 * Owns the segments and which 2 MiB granules of them are in use. Does not own
 * the mapping at A. Lazy: a range costs address space only, until it is
 * committed. Not inherited by fork. Lock: one, rank ARENA. Its invariants are
 * adsm_arena_is_valid.
 */
#ifndef ADSM_OS_ARENA_H
#define ADSM_OS_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define ADSM_ARENA_GRANULE_BYTES ((size_t)2 << 20)

/** A part of a segment. Filled by adsm_arena_alloc, all zero when freed. */
struct adsm_arena_range {
    uint8_t *shadow; /* S: 2 MiB aligned, always readable and writable  */
    size_t bytes;    /* whole granules, at least what was asked for     */
    void *segment;   /* the arena's own                                 */
};

/**
 * Allocate host address space for an object. Contents are zero once committed.
 *
 * @range  filled on success, cleared on failure; @bytes  at least 1
 * Return: ADSM_OK; ADSM_E_NOMEM (no address space or file left)
 * Thread: any; takes the ARENA lock
 * Signal: never
 */
ADSM_MUST_CHECK adsm_status_t adsm_arena_alloc(struct adsm_arena_range *range,
                                               size_t bytes);

/**
 * Give a range back, with its memory. The caller has unmapped A and
 * unregistered S before.
 *
 * @range  from adsm_arena_alloc; a cleared one does nothing; cleared after
 * Thread: any; takes the ARENA lock
 * Signal: fault path
 */
void adsm_arena_free(struct adsm_arena_range *range);

/**
 * Get real memory for a part of a range, so that no later touch of it can fail
 * (a SIGBUS). Parts committed before keep their contents.
 *
 * @offset @bytes  part of the range in bytes; rounded out to pages
 * Return: ADSM_OK; ADSM_E_NOMEM (not enough memory; what was committed stays);
 *         ADSM_E_INVALID (not within the range)
 * Thread: any; takes no lock
 * Signal: fault path
 */
ADSM_MUST_CHECK adsm_status_t adsm_arena_commit(
    const struct adsm_arena_range *range, size_t offset, size_t bytes);

/**
 * Give the memory of a part of a range back, keeping its addresses; it reads
 * as zero once committed again. Part as in adsm_arena_commit, rounded inwards.
 *
 * Thread: any; takes no lock
 * Signal: fault path
 */
void adsm_arena_decommit(const struct adsm_arena_range *range, size_t offset,
                         size_t bytes);

/** Host memory that is there in all segments, in bytes, swapped memory left
 *  out. Slow. Thread: any. Signal: never */
uint64_t adsm_arena_bytes_committed(void);

/** Number of segments. Signal: fault path. */
size_t adsm_arena_segments(void);

/**
 * Do the bitmaps agree with the counts? For assertions and tests.
 *
 * Thread: any; takes the ARENA lock
 * Signal: never (slow)
 */
bool adsm_arena_is_valid(void);

/**
 * Release every segment; no range may be in use.
 *
 * Thread: one
 * Signal: never
 */
void adsm_arena_fini(void);

#endif
