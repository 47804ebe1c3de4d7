/*
 * The kernels as PTX, by the driver API. See kernel.h.
 */
#include "kernel.h"

#include "shape.h"

/* The build turns access.ptx into lines of string literals. */
static const char text[] =
#include "access_ptx.inc"
    ;

static const char *const names[] = {
#define X(name) #name,
    ACCESS_KERNELS(X)
#undef X
};

static CUfunction functions[KERNEL_COUNT];

CUresult kernel_load(void)
{
    CUmodule module;
    CUresult result = cuModuleLoadData(&module, text);
    for (int i = 0; i < KERNEL_COUNT && result == CUDA_SUCCESS; i++)
        result = cuModuleGetFunction(&functions[i], module, names[i]);
    return result;
}

CUresult kernel_launch(enum kernel kernel, unsigned blocks, unsigned rows,
                       void **arguments)
{
    return cuLaunchKernel(functions[kernel], blocks, rows, 1, BLOCK, 1, 1, 0,
                          NULL, arguments, NULL);
}
