/*
 * The device as the MPI suites use it, preloaded as a CUDA program or, built
 * WITH_ADSM, through adsm.h. Kernels are those of tests/mm.
 */
#ifndef TESTS_MPI_DEVICE_H
#define TESTS_MPI_DEVICE_H

#include "mm/kernels.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(call)                                                             \
    do {                                                                       \
        int must_ = (call);                                                    \
        if (must_ != 0) {                                                      \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call,  \
                    must_);                                                    \
            exit(3);                                                           \
        }                                                                      \
    } while (0)

#ifdef WITH_ADSM
#include <adsm.h>

static adsmKernel *device_mix_kernel, *device_fill_kernel;

static inline void device_start(void)
{
    adsmModule *module;
    MUST(adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx));
    MUST(adsmKernelGet(&device_mix_kernel, module, "mix", ADSM_ONLY_ARGUMENTS));
    MUST(adsmKernelGet(&device_fill_kernel, module, "fill",
                       ADSM_ONLY_ARGUMENTS));
}

static inline uint8_t *device_alloc(size_t bytes)
{
    uint8_t *at = adsmAlloc(bytes);
    MUST(at ? 0 : (int)adsmLastStatus());
    return at;
}

static inline void device_fill(uint8_t *p, uint32_t n, uint32_t s)
{
    MUST(adsmLaunch(device_fill_kernel, adsmDim1((n + 255) / 256),
                    adsmDim1(256), 0, adsmInOut(p), adsmVal(n), adsmVal(s)));
}

static inline void device_mix(uint8_t *p, uint8_t *q, uint32_t n, uint32_t s)
{
    MUST(adsmLaunch(device_mix_kernel, adsmDim1((n + 255) / 256), adsmDim1(256),
                    0, adsmInOut(p), adsmInOut(q), adsmVal(n), adsmVal(s)));
}
#else
#include <cuda.h>

static CUfunction device_mix_kernel, device_fill_kernel;

static inline void device_start(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleLoadData(&module, kernels_ptx));
    MUST(cuModuleGetFunction(&device_mix_kernel, module, "mix"));
    MUST(cuModuleGetFunction(&device_fill_kernel, module, "fill"));
}

static inline uint8_t *device_alloc(size_t bytes)
{
    CUdeviceptr at;
    MUST(cuMemAlloc(&at, bytes));
    return (uint8_t *)at;
}

static inline void device_fill(uint8_t *p, uint32_t n, uint32_t s)
{
    void *args[] = {&p, &n, &s};
    MUST(cuLaunchKernel(device_fill_kernel, (n + 255) / 256, 1, 1, 256, 1, 1, 0,
                        NULL, args, NULL));
}

static inline void device_mix(uint8_t *p, uint8_t *q, uint32_t n, uint32_t s)
{
    void *args[] = {&p, &q, &n, &s};
    MUST(cuLaunchKernel(device_mix_kernel, (n + 255) / 256, 1, 1, 256, 1, 1, 0,
                        NULL, args, NULL));
}
#endif

#endif
