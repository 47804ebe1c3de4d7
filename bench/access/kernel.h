/*
 * The kernels of access.cu and their launches.
 *
 * Two files have this: kernel.c loads the PTX by the driver API, kernel_nvcc.cu
 * is linked with the kernels as nvcc compiles them, for hardware. Results are
 * the driver's. One thread, a context is current, no locks.
 */
#ifndef BENCH_ACCESS_KERNEL_H
#define BENCH_ACCESS_KERNEL_H

#include <cuda.h>

#define ACCESS_KERNELS(X) X(scale_add) X(mix) X(fill) X(smooth) X(sweep) X(walk)

enum kernel {
#define X(name) KERNEL_##name,
    ACCESS_KERNELS(X)
#undef X
        KERNEL_COUNT
};

#ifdef __cplusplus
extern "C" {
#endif

/** Load the code. */
CUresult kernel_load(void);

/** Launch `rows` rows of `blocks` blocks of BLOCK threads in stream 0. */
CUresult kernel_launch(enum kernel kernel, unsigned blocks, unsigned rows,
                       void **arguments);

#ifdef __cplusplus
}
#endif

#endif
