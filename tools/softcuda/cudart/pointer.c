/*
 * Owns: what a pointer is, managed memory's hints, and copies between devices.
 */
#include <string.h>

#include "cudart/copy.h"

/* Until 12 the struct ended after the pointers. */
#define BYTES                                                                  \
    (SC_CUDART >= 13 ? sizeof(struct cudaPointerAttributes)                    \
                     : offsetof(struct cudaPointerAttributes, reserved))

static bool ask(void *value, CUpointer_attribute which, const void *ptr)
{
    return cuPointerGetAttribute(value, which, (CUdeviceptr)(uintptr_t)ptr) ==
           CUDA_SUCCESS;
}

static void describe(struct cudaPointerAttributes *a, const void *ptr)
{
    CUmemorytype type = 0;
    unsigned managed = 0;
    if (!ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr)) {
        a->type = cudaMemoryTypeUnregistered;
        a->device = cudaInvalidDeviceId;
        a->hostPointer = (void *)(uintptr_t)ptr;
        return;
    }
    ask(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, ptr);
    ask(&a->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ptr);
    ask(&a->devicePointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, ptr);
    if (managed || type == CU_MEMORYTYPE_HOST)
        ask(&a->hostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, ptr);
    a->type = managed                      ? cudaMemoryTypeManaged
              : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                           : cudaMemoryTypeDevice;
}

SC_RT cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                               const void *ptr)
{
    struct cudaPointerAttributes all = {0};
    if (!attributes)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    describe(&all, ptr);
    memcpy(attributes, &all, BYTES);
    return cudaSuccess;
}

static CUmemLocation place(struct cudaMemLocation location)
{
    return (CUmemLocation){.type = (CUmemLocationType)location.type,
                           .id = location.id};
}

SC_RT cudaMemPrefetchAsync(const void *devPtr, size_t count,
                           struct cudaMemLocation location, unsigned int flags,
                           cudaStream_t stream)
{
    SC_RT_BEGIN(sc_rt_enter());
    return sc_rt_done(
        SC_RT_DRIVER(cuMemPrefetchAsync((CUdeviceptr)(uintptr_t)devPtr, count,
                                        place(location), flags, stream)));
}

SC_RT cudaMemAdvise(const void *devPtr, size_t count,
                    enum cudaMemoryAdvise advice,
                    struct cudaMemLocation location)
{
    SC_RT_BEGIN(sc_rt_enter());
    return sc_rt_done(
        SC_RT_DRIVER(cuMemAdvise((CUdeviceptr)(uintptr_t)devPtr, count,
                                 (CUmem_advise)advice, place(location))));
}

static cudaError_t peers(int dst, int src, CUcontext *to, CUcontext *from)
{
    SC_RT_TRY(sc_rt_enter());
    SC_RT_TRY(sc_rt_primary(dst, to));
    return sc_rt_primary(src, from);
}

SC_RT cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice,
                     size_t count)
{
    CUcontext to, from;
    SC_RT_BEGIN(peers(dstDevice, srcDevice, &to, &from));
    return sc_rt_done(
        SC_RT_DRIVER(cuMemcpyPeer((CUdeviceptr)(uintptr_t)dst, to,
                                  (CUdeviceptr)(uintptr_t)src, from, count)));
}

SC_RT cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src,
                          int srcDevice, size_t count, cudaStream_t stream)
{
    CUcontext to, from;
    SC_RT_BEGIN(peers(dstDevice, srcDevice, &to, &from));
    return sc_rt_done(SC_RT_DRIVER(
        cuMemcpyPeerAsync((CUdeviceptr)(uintptr_t)dst, to,
                          (CUdeviceptr)(uintptr_t)src, from, count, stream)));
}
