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

CUfunction device_empty(void)
{
    return device_kernel(".version 6.0\n.target sm_70\n.address_size 64\n"
                         ".visible .entry empty()\n{\n\tret;\n}\n",
                         "empty");
}
