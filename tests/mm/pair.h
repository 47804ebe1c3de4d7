/*
 * What the suites of watched blocks share: an array and its twin on the device.
 * They want ADSM_FAULT_ENGINE=async.
 */
#ifndef TESTS_MM_PAIR_H
#define TESTS_MM_PAIR_H

#include "fixture.h"

#include "base/stats.h"
#include "mm/watch/sparse.h"

#include <stdlib.h>
#include <string.h>

#define PAGE ((uint32_t)4096)

static inline uint64_t count(enum adsm_stat stat)
{
    return adsm_stats_get(stat);
}

/* An array of which host and device both know what is in it, and a second one
 * by which the device tells what it has of the first. */
struct pair {
    struct fixture f;
    uint8_t *in, *out;
    uint8_t *want;
    uint32_t bytes;
};

static inline struct pair begin(uint32_t bytes)
{
    struct pair pair = {.f = fixture_up(), .bytes = bytes};
    pair.in = adsmAlloc(bytes);
    pair.out = adsmAlloc(bytes);
    pair.want = malloc(bytes);
    device_fill(pair.f.fill, pair.in, bytes, 0);
    must(adsmSync());
    for (uint32_t i = 0; i < bytes; i++)
        pair.want[i] = filled(i, 0);
    ck_assert_mem_eq(pair.in, pair.want, bytes);
    return pair;
}

/* out = out * 5 + in, for the first `n` bytes. */
static inline void mix(struct pair *pair, bool in_is_written, uint32_t n)
{
    uint32_t zero = 0;
    must(adsmLaunch(pair->f.mix_only, adsmDim1((pair->bytes + 255) / 256),
                    adsmDim1(256), 0,
                    adsmInOut(in_is_written ? pair->in : pair->out),
                    adsmIn(in_is_written ? pair->out : pair->in), adsmVal(n),
                    adsmVal(zero)));
    must(adsmSync());
}

/* A kernel reads it, and nothing else that the host has written. */
static inline void call(struct pair *pair)
{
    mix(pair, false, pair->bytes);
}

/** As the host, so the device. */
static inline void end(struct pair *pair)
{
    memset(pair->out, 0, pair->bytes);
    call(pair);
    ck_assert_mem_eq(pair->out, pair->want, pair->bytes);
    ck_assert_mem_eq(pair->in, pair->want, pair->bytes);
    must(adsmFree(pair->in));
    must(adsmFree(pair->out));
    free(pair->want);
}

static inline void store(struct pair *pair, uint32_t at, uint8_t value)
{
    pair->in[at] = value;
    pair->want[at] = value;
}

/* Pages of `in` that the next call sends. */
static inline uint64_t sent_pages(struct pair *pair)
{
    uint64_t before = count(ADSM_STAT_bytes_up);
    call(pair);
    uint64_t bytes = count(ADSM_STAT_bytes_up) - before;
    ck_assert_uint_eq(bytes % PAGE, 0);
    return bytes / PAGE;
}

static inline bool is_watched(const struct pair *pair, uint32_t at)
{
    struct adsm_object *object = adsm_index_find(pair->in);
    return adsm_sparse_is_watched(object, adsm_block_of(object, at));
}

#endif
