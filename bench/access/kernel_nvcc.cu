/*
 * The kernels as nvcc compiles them, in the program. See kernel.h.
 */
#include "access.cu"

#include "kernel.h"

#include <cuda_runtime_api.h>

static const void *const symbols[] = {
#define X(name) (const void *)name,
    ACCESS_KERNELS(X)
#undef X
};

/* Errors of the runtime have the numbers of the driver's, but for some that do
 * not come from these calls. */
CUresult kernel_load(void)
{
    return (CUresult)cudaSetDevice(0);
}

CUresult kernel_launch(enum kernel kernel, unsigned blocks, unsigned rows,
                       void **arguments)
{
    return (CUresult)cudaLaunchKernel(symbols[kernel], dim3(blocks, rows),
                                      dim3(BLOCK), arguments, 0, 0);
}
