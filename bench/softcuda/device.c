/* Driver calls that end the bench when they fail. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>

void device_check(CUresult result, const char *call)
{
    const char *name = "unknown error";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", call, name);
    exit(1);
}

void device_start(void)
{
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
}

CUfunction device_kernel(const char *text, const char *name)
{
    CUmodule module;
    CUfunction function;
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&function, module, name));
    return function;
}
