/*
 * What the accel suites share: a device, a text with every failed status, and
 * a gate that stops a stream for as long as a test wants.
 */
#ifndef TESTS_ACCEL_FIXTURE_H
#define TESTS_ACCEL_FIXTURE_H

#include "accel/address/way.h"
#include "accel/cuda/api.h"
#include "accel/device.h"
#include "accel/dma.h"
#include "accel/lane.h"
#include "accel/pinned.h"
#include "base/clock.h"
#include "base/option.h"
#include "common/must.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const struct adsm_fence nothing = {0};

/* ThreadSanitizer takes every clone for a fork, also the one by which the
 * software driver starts its device in shared memory, and sees nothing of what
 * the calling thread locks from then on: the driver gets the C library's clone. */
#ifdef __SANITIZE_THREAD__
int __clone(int (*run)(void *), void *stack, int flags, void *arg, ...);
int clone(int (*run)(void *), void *stack, int flags, void *arg, ...);

__attribute__((visibility("default"), no_sanitize("thread"))) int
clone(int (*run)(void *), void *stack, int flags, void *arg, ...)
{
    return __clone(run, stack, flags, arg, NULL, NULL, NULL);
}
#endif

/** The options of the environment and device 0. */
static inline struct adsm_accel *accel_up(void)
{
    struct adsm_accel *accel = NULL;
    adsm_options_load();
    must(adsm_accel_open(0, &accel));
    return accel;
}

/** A driver function that libadsm itself has no use for. */
static inline void *driver(const char *symbol)
{
    void *found = adsm_cuda_api_symbol(symbol);
    ck_assert_msg(found != NULL, "the driver has no %s", symbol);
    return found;
}

/** A context of the program's own on device 0, current in this thread. */
static inline adsm_cu_context new_context(void)
{
    adsm_cu_result (*create)(adsm_cu_context *, unsigned, adsm_cu_device) =
        driver("cuCtxCreate_v2");
    adsm_cu_context context = NULL;
    ck_assert_int_eq(create(&context, 0, 0), 0);
    return context;
}

/** Make the accel's context current in this thread, as a program would. */
static inline void enter(struct adsm_accel *accel)
{
    ck_assert_int_eq(
        adsm_cuda_api()->CtxPushCurrent((adsm_cu_context)accel->context), 0);
}

static inline void leave(void)
{
    adsm_cu_context context;
    ck_assert_int_eq(adsm_cuda_api()->CtxPopCurrent(&context), 0);
}

static inline adsm_stream new_stream(struct adsm_accel *accel)
{
    adsm_stream stream = NULL;
    must(accel->ops->stream_create(accel, &stream));
    return stream;
}

/** Holds up a stream until it is opened. */
struct gate {
    atomic_bool open;
    atomic_bool reached;
};

static inline void gate_body(void *arg)
{
    struct gate *gate = arg;
    gate->reached = true;
    while (!gate->open)
        usleep(200);
}

static inline void gate_put(struct adsm_accel *accel, adsm_stream stream,
                            struct gate *gate)
{
    gate->open = false;
    gate->reached = false;
    adsm_cu_result (*launch)(adsm_cu_stream, void (*)(void *), void *) =
        driver("cuLaunchHostFunc");
    enter(accel);
    ck_assert_int_eq(launch((adsm_cu_stream)stream, gate_body, gate), 0);
    leave();
}

static inline void nap_ms(unsigned ms)
{
    usleep(ms * 1000);
}

/** A page-aligned buffer of host memory. */
static inline uint8_t *host_buffer(size_t bytes)
{
    void *at = NULL;
    ck_assert_int_eq(posix_memalign(&at, 4096, bytes), 0);
    return at;
}

static inline void fill(uint8_t *at, size_t bytes, uint32_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)((i + seed) * 2654435761u >> 13);
}

/** Index of the first byte that `fill` would not have put there, or bytes. */
static inline size_t first_wrong(const uint8_t *at, size_t bytes, uint32_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != (uint8_t)((i + seed) * 2654435761u >> 13))
            return i;
    return bytes;
}

#endif
