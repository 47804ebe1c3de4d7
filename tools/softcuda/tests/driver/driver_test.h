/*
 * Helpers of the driver suites: checks of driver calls, a context, buffers.
 *
 * Each case runs in a process of its own (Check forks), so a case may set
 * SOFTCUDA_* and then call cuInit as a fresh program would.
 */
#ifndef TESTS_SOFTCUDA_DRIVER_TEST_H
#define TESTS_SOFTCUDA_DRIVER_TEST_H

#include <cuda.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/suite.h"

#define MIB ((size_t)1 << 20)

/** The call must return `want`; says what it returned instead. */
#define WANT(want, call)                                                       \
    do {                                                                       \
        CUresult got_ = (call);                                                \
        const char *name_ = "?";                                               \
        cuGetErrorName(got_, &name_);                                          \
        ck_assert_msg(got_ == (want), "%s returned %s (%d), not %d", #call,    \
                      name_, got_, (int)(want));                               \
    } while (0)

#define OK(call) WANT(CUDA_SUCCESS, call)

/** Start the driver and make a context current on device 0. */
static inline CUcontext begin(void)
{
    CUcontext ctx;
    OK(cuInit(0));
    OK(cuCtxCreate(&ctx, NULL, 0, 0));
    return ctx;
}

static inline double now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/** A small generator, so that a printed seed repeats a run anywhere. */
static inline uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static inline void fill_random(uint8_t *bytes, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)next_random(&seed);
}

#endif
