/*
 * What the CUDA forms share: the driver's errors, device code, memory, copies
 * and calls, one line each. Knows nothing of libadsm.
 *
 * Which copy is made when is the forms' business; these functions time and
 * count them. Errors of the device end the program with BENCH_EXIT_DEVICE.
 * One thread, no locks.
 */
#ifndef BENCH_PARBOIL_CUDA_H
#define BENCH_PARBOIL_CUDA_H

#include <cuda.h>

#include "common/bench.h"

/** End the program unless `result` is CUDA_SUCCESS; use CHECK. */
void cuda_check(CUresult result, const char *call);

#define CHECK(call) cuda_check(call, #call)

/** Open device 0 and load `bench_ptx` there. */
CUmodule cuda_load(void);

CUfunction cuda_kernel(CUmodule module, const char *name);

/** Address of a variable of the module, constant memory for one. */
void *cuda_variable(CUmodule module, const char *name);

/** Memory of the device, and of the host beside it. */
void *device_alloc(size_t bytes);
void device_free(void *device);
void *host_alloc(size_t bytes);

/** Copies, charged to BENCH_COPY. */
void upload(void *device, const void *host, size_t bytes);
void download(void *host, const void *device, size_t bytes);

/** Set the memory of the device to zero. */
void device_clear(void *device, size_t bytes);

/** Fill a variable of the module: an object of the device alone. */
void variable_set(void *variable, const void *values, size_t bytes);

/** Call a kernel; device_wait waits for what was called. */
void launch(CUfunction kernel, struct bench_dim grid, struct bench_dim block,
            void **arguments);
void device_wait(void);

#endif
