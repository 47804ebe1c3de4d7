/*
 * Owns: allocation of device, host and managed memory.
 * Does not own: arrays (array.c), pools (forward.def).
 */
#include "cudart/rt.h"

SC_RT cudaMalloc(void **devPtr, size_t size)
{
    CUdeviceptr address = 0;
    if (!devPtr)
        return sc_rt_done(cudaErrorInvalidValue);
    *devPtr = NULL;
    SC_RT_BEGIN(sc_rt_enter());
    if (size == 0)
        return cudaSuccess;
    SC_RT_BEGIN(SC_RT_DRIVER(cuMemAlloc(&address, size)));
    *devPtr = (void *)(uintptr_t)address;
    return cudaSuccess;
}

/* cudaFree takes memory of the device whatever context is current. */
SC_RT cudaFree(void *devPtr)
{
    SC_RT_BEGIN(sc_rt_enter());
    if (!devPtr)
        return cudaSuccess;
    return sc_rt_done(SC_RT_DRIVER(cuMemFree((CUdeviceptr)(uintptr_t)devPtr)));
}

SC_RT cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    if (!pHost)
        return sc_rt_done(cudaErrorInvalidValue);
    *pHost = NULL;
    SC_RT_BEGIN(sc_rt_enter());
    if (size == 0)
        return cudaSuccess;
    return sc_rt_done(SC_RT_DRIVER(cuMemHostAlloc(pHost, size, flags)));
}

SC_RT cudaMallocHost(void **ptr, size_t size)
{
    return cudaHostAlloc(ptr, size, cudaHostAllocDefault);
}

SC_RT cudaFreeHost(void *ptr)
{
    SC_RT_BEGIN(sc_rt_enter());
    if (!ptr)
        return cudaSuccess;
    return sc_rt_done(SC_RT_DRIVER(cuMemFreeHost(ptr)));
}

SC_RT cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    CUdeviceptr address = 0;
    if (!devPtr || size == 0 ||
        (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(SC_RT_DRIVER(cuMemAllocManaged(&address, size, flags)));
    *devPtr = (void *)(uintptr_t)address;
    return cudaSuccess;
}

static cudaError_t pitched(void **ptr, size_t *pitch, size_t width,
                           size_t height)
{
    CUdeviceptr address = 0;
    *ptr = NULL;
    *pitch = 0;
    SC_RT_TRY(sc_rt_enter());
    if (width == 0 || height == 0)
        return cudaSuccess;
    SC_RT_TRY(SC_RT_DRIVER(cuMemAllocPitch(&address, pitch, width, height, 4)));
    *ptr = (void *)(uintptr_t)address;
    return cudaSuccess;
}

SC_RT cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    if (!devPtr || !pitch)
        return sc_rt_done(cudaErrorInvalidValue);
    return sc_rt_done(pitched(devPtr, pitch, width, height));
}

SC_RT cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr,
                   struct cudaExtent extent)
{
    if (!pitchedDevPtr)
        return sc_rt_done(cudaErrorInvalidValue);
    if (extent.depth > 0 && extent.height > SIZE_MAX / extent.depth)
        return sc_rt_done(cudaErrorMemoryAllocation);
    SC_RT_BEGIN(pitched(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch,
                        extent.width, extent.height * extent.depth));
    pitchedDevPtr->xsize = extent.width;
    pitchedDevPtr->ysize = extent.height;
    return cudaSuccess;
}

SC_RT cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    CUdeviceptr address = 0;
    if (!pDevice)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(
        SC_RT_DRIVER(cuMemHostGetDevicePointer(&address, pHost, flags)));
    *pDevice = (void *)(uintptr_t)address;
    return cudaSuccess;
}
