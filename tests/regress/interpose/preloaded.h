/*
 * Regression tests of the preload library: ordinary CUDA programs that meson
 * runs preloaded. Each case runs in a process of its own, which has a device
 * only from device_start on.
 */
#ifndef PRELOADED_H
#define PRELOADED_H

#include "common/suite.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define must(call) ck_assert_int_eq((call), CUDA_SUCCESS)

/** First device, its primary context. */
static inline void device_start(void)
{
    CUdevice device;
    CUcontext context;
    must(cuInit(0));
    must(cuDeviceGet(&device, 0));
    must(cuDevicePrimaryCtxRetain(&context, device));
    must(cuCtxSetCurrent(context));
}

/** Is memory shared only from the CPU's first touch on? */
static inline int shares_at_touch(void)
{
    const char *strategy = getenv("ADSM_ADDRESS");
    return strategy && strcmp(strategy, "adopt") == 0;
}

/** Device memory, shared, every byte `value`, last written by the device. */
static inline uint8_t *device_bytes(size_t bytes, uint8_t value)
{
    CUdeviceptr at;
    must(cuMemAlloc(&at, bytes));
    if (shares_at_touch())
        (void)*(volatile uint8_t *)at;
    must(cuMemsetD8(at, value, bytes));
    return (uint8_t *)at;
}

/** Whether the runtime is up; fails where the library is not preloaded. */
static inline int runtime_is_up(void)
{
    _Bool (*is_up)(void) = dlsym(RTLD_DEFAULT, "adsm_is_up");
    ck_assert_msg(is_up != NULL, "not preloaded");
    return is_up();
}

#endif
