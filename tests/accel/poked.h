/*
 * What the suites of pokes share: device memory that is to be as a model of it, and
 * a device on which stores are gathered, whose launches and loads of modules are
 * counted.
 */
#ifndef TESTS_ACCEL_POKED_H
#define TESTS_ACCEL_POKED_H

#include "fixture.h"

#include "accel/cuda/call.h"
#include "accel/poke.h"
#include "base/stats.h"

enum { ROOM = 64 << 10 };

static struct adsm_accel *accel;
static struct adsm_accel_ops ops; /* the accel's, to be spoilt */
static struct adsm_span span;
static uint8_t model[ROOM], *down;
static int launches, loads;

static inline uint64_t sends(void)
{
    return adsm_stats_get(ADSM_STAT_store_sends);
}

static inline bool is_held(void)
{
    return atomic_load(&accel->lanes->lane[ADSM_LANE_UPLOAD].held) != 0;
}

static inline struct adsm_daddr at(size_t offset)
{
    return adsm_daddr_add(span.device, offset);
}

static inline int count_launch(struct adsm_accel *of,
                               const struct adsm_launch *launch)
{
    launches++;
    return adsm_cuda_ops.launch(of, launch);
}

static inline int count_load(struct adsm_accel *of, const void *image,
                             size_t bytes, void **module)
{
    loads++;
    return adsm_cuda_ops.module_load(of, image, bytes, module);
}

static inline int poke_behind(size_t offset, const void *value, size_t bytes,
                              struct adsm_fence after, struct adsm_fence *done)
{
    int rc = adsm_poke_send(accel, at(offset), value, bytes, after, done,
                            ADSM_CAUSE(trial));
    if (rc == ADSM_OK)
        memcpy(model + offset, value, bytes);
    return rc;
}

static inline struct adsm_fence poke(size_t offset, const void *value,
                                     size_t bytes)
{
    struct adsm_fence done;
    must(poke_behind(offset, value, bytes, nothing, &done));
    return done;
}

static inline struct adsm_fence poke_byte(size_t offset, uint8_t value)
{
    return poke(offset, &value, 1);
}

/* As many copies as it takes. */
static inline void copies(void)
{
    for (int i = 0; i < ADSM_POKE_COPIES; i++) {
        poke_byte((size_t)i, (uint8_t)i);
        must(adsm_dma_drain(accel));
    }
}

/* Memory that is as the model, and no kernel yet. */
static inline void begin_without(void)
{
    struct adsm_fence done;
    accel = accel_up();
    ops = adsm_cuda_ops;
    ops.launch = count_launch;
    ops.module_load = count_load;
    accel->ops = &ops;
    must(adsm_address_alloc(accel, ROOM, false, &span));
    down = host_buffer(ROOM);
    fill(model, ROOM, 1);
    memcpy(down, model, ROOM);
    must(adsm_dma_upload(accel, span.device, down, ROOM, nothing, &done,
                         ADSM_CAUSE(trial)));
    must(adsm_dma_drain(accel));
}

static inline void begin(void)
{
    begin_without();
    copies();
    adsm_poke_prepare(accel);
    ck_assert_ptr_nonnull(accel->poke->kernel);
    launches = 0;
}

/* By no way that would send the log. */
static inline void must_be_there(size_t offset, size_t bytes)
{
    must(adsm_cuda_ops.context_wait(accel));
    must(adsm_cuda_ops.copy_down_now(accel, down + offset, at(offset), bytes));
    for (size_t i = offset; i < offset + bytes; i++)
        ck_assert_msg(down[i] == model[i], "at %zu: %d, not %d", i, down[i],
                      model[i]);
}

static inline void must_end(void)
{
    must(adsm_dma_drain(accel));
    must_be_there(0, ROOM);
    ck_assert(adsm_lanes_are_valid(accel));
}

#endif
