/*
 * Counters, one list (counters.def).
 *
 * Owns the numbers and their two printed forms. Always on: one relaxed add to
 * a shard chosen per thread, so that two threads that fault do not share a
 * cache line. No lock.
 */
#ifndef ADSM_BASE_STATS_H
#define ADSM_BASE_STATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

enum adsm_stat {
#define X(name, unit, help) ADSM_STAT_##name,
#include "base/counters.def"
#undef X
    ADSM_STAT_COUNT
};

#define ADSM_STATS_SHARDS 16

struct adsm_stats_shard {
    _Alignas(64) _Atomic uint64_t value[ADSM_STAT_COUNT];
};

extern struct adsm_stats_shard adsm_stats_shards[ADSM_STATS_SHARDS];
extern __thread uint32_t adsm_stats_slot
    __attribute__((tls_model("initial-exec")));

/** Give the calling thread its shard: 1-based. Signal: any handler. */
uint32_t adsm_stats_take_slot(void);

/**
 * Add to a counter; use ADSM_COUNT.
 *
 * Thread: any
 * Signal: any handler
 */
static inline void adsm_stats_add(enum adsm_stat stat, uint64_t n)
{
    uint32_t slot = adsm_stats_slot;
    if (slot == 0)
        slot = adsm_stats_take_slot();
    /* Relaxed: a sum of counters needs no order among them. */
    atomic_fetch_add_explicit(&adsm_stats_shards[slot - 1].value[stat], n,
                              memory_order_relaxed);
}

/** ADSM_COUNT(faults_read, 1) */
#define ADSM_COUNT(name, n) adsm_stats_add(ADSM_STAT_##name, (n))

/**
 * Value of a counter, summed over threads.
 *
 * Thread: any (a snapshot while others count)
 * Signal: any handler
 */
uint64_t adsm_stats_get(enum adsm_stat stat);

/** Name of a counter, "bytes_up". Return: "?" for none. Signal: any handler. */
const char *adsm_stats_name(enum adsm_stat stat);

/**
 * Set every counter to zero and restart "seconds".
 *
 * Thread: any; counts of other threads meanwhile may be lost
 * Signal: never
 */
void adsm_stats_reset(void);

/**
 * Print the counters that are not zero as a table for people.
 *
 * @out  stream to print to
 * Thread: any
 * Signal: never
 */
void adsm_stats_print(FILE *out);

/**
 * "12.30 MiB", "4.56 ms": a number with a unit that a person can compare.
 *
 * @unit  "bytes" or "ns"; any other stands behind the number
 * Thread: any
 * Signal: never
 */
void adsm_stats_text(uint64_t value, const char *unit, char *text,
                     size_t bytes);

/**
 * Append all counters to a file as one line of JSON,
 * {"bytes_up":…,…,"seconds":1.234567,"protocol":"rolling"}, in one write.
 *
 * @path  file to append to, created when missing
 * Return: ADSM_OK; ADSM_E_SYSTEM (not written whole; errno says why)
 * Thread: any
 * Signal: never
 */
ADSM_MUST_CHECK adsm_status_t adsm_stats_write_json(const char *path);

#endif
