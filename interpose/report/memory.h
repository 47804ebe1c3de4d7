/*
 * The program's device memory: what is known of its contents, who put it there,
 * and whether it was read since.
 *
 * What is known of an allocation is a list of parts, each from one copy, set or
 * download. A kernel that is known takes from it what its code says; one that is
 * not known may have read and written everything. Every doubt ends in "it was
 * read" and "the contents are not known": then nothing is found.
 *
 * Owns the allocations that live, at most MEMORIES_MOST, with at most PARTS_MOST
 * parts each: what goes beyond is not looked at. All of it under the report's
 * lock. Signal: never
 */
#ifndef INTERPOSE_REPORT_MEMORY_H
#define INTERPOSE_REPORT_MEMORY_H

#include "interpose/report/finding.h"

/** Bytes that a launch touches. */
struct report_use {
    uint64_t first, last;
    bool reads, writes;
    bool whole; /* anywhere in the memory that `first` points into */
};

/** Memory came; `cost` is that of the call. */
void report_memory_came(uint64_t begin, uint64_t bytes,
                        const struct report_cost *cost);

/** It is freed at a site. Return: the one where it came; 0: it is not known */
uint32_t report_memory_goes(uint64_t begin, uint32_t site);

/**
 * A copy up brought `bytes` whose hash is known.
 *
 * @host  where they came from
 */
void report_memory_uploaded(uint64_t to, const void *host, uint64_t hash,
                            const struct report_cost *cost);

/** A set, or a copy whose bytes are not known, wrote all of the range. */
void report_memory_overwritten(uint64_t to, const struct report_cost *cost);

/** Some of the range may have been written; it was read. */
void report_memory_blurred(uint64_t at, uint64_t bytes);
void report_memory_read(uint64_t at, uint64_t bytes);

/** Are the bytes of the device known, and what are they? */
bool report_memory_is_known(uint64_t at, uint64_t bytes, uint64_t *hash);

/** Grows with each change of the memory; 0: it is not known here. */
uint64_t report_memory_version(uint64_t at);

/** The CPU got the range, which has this hash. */
void report_memory_learnt(uint64_t from, const void *host, uint64_t hash,
                          const struct report_cost *cost);

/** Was the same brought there by the last download to `host`? Whether it still
 *  lies there the caller looks. Return: its site; 0: no */
uint32_t report_memory_is_there(uint64_t from, const void *host, uint64_t bytes,
                                uint64_t *hash);

/** Bytes moved, for the allocation's sums; @down is 1 or 0. */
void report_memory_moved(uint64_t at, unsigned down, uint64_t bytes,
                         uint64_t ns, bool timed);

/** A launch of a kernel that is known; of one that is not. */
void report_memory_launched(const struct report_use *uses, unsigned count,
                            const struct report_cost *cost);
void report_memory_unknown(void);

/** The program is over. */
void report_memory_end(void);

/** How many allocations were not looked at. */
uint64_t report_memory_lost(void);

#endif
