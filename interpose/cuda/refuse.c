/*
 * Calls that nothing shared can serve.
 *
 * Some ask for memory that the program mapped itself: what is behind a shared
 * address the runtime mapped, but to the program it is memory of cuMemAlloc,
 * for which the driver answers CUDA_ERROR_INVALID_VALUE. Others would let
 * another process or device write there, which nobody here would notice; they
 * are refused by name, once each.
 */
#include "base/log.h"
#include "interpose/cuda/context.h"
#include "interpose/device/adopt.h"

static bool is_ours(CUdeviceptr at)
{
    return !hook_passes() && device_is_ours(at);
}

/* No part of a range of the host may be shared. */
static bool has_ours(const void *at, size_t bytes)
{
    return (!hook_is_apart(at, bytes) && !hook_passes()) ||
           is_ours((CUdeviceptr)at);
}

/* The real call, unless what it is about is ours: then as the driver answers for
 * memory of cuMemAlloc. */
#define UNLESS(ours, real, args)                                               \
    ((ours) ? CUDA_ERROR_INVALID_VALUE : CUDA_CALL(real, args))

/* The real call, or no call, which is said once. */
#define REFUSE(at, real, args)                                                 \
    ({                                                                         \
        bool refuse_ours = is_ours((CUdeviceptr)(at));                         \
        if (refuse_ours)                                                       \
            adsm_log_once(ADSM_LOG_WARN, #real                                 \
                          " is not supported for memory that the CPU shares"); \
        refuse_ours ? CUDA_ERROR_NOT_SUPPORTED : CUDA_CALL(real, args);        \
    })

CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset, uint64_t handle,
                  unsigned long long flags)
{
    CUresult result =
        UNLESS(is_ours(at), cuMemMap, (at, bytes, offset, handle, flags));
    if (result == CUDA_SUCCESS)
        device_came_mapped(at, bytes);
    return result;
}

CUresult cuMemUnmap(CUdeviceptr at, size_t bytes)
{
    return is_ours(at) ? CUDA_ERROR_INVALID_VALUE
                       : CUDA_GIVES(device_range_goes(at, bytes), cuMemUnmap,
                                    (at, bytes));
}

CUresult cuMemAddressFree(CUdeviceptr at, size_t bytes)
{
    return UNLESS(is_ours(at), cuMemAddressFree, (at, bytes));
}

CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const void *access,
                        size_t count)
{
    if (is_ours(at))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_GIVES(device_range_goes(at, bytes), cuMemSetAccess,
                                 (at, bytes, access, count));
    if (result == CUDA_SUCCESS)
        device_came_mapped(at, bytes);
    return result;
}

CUresult cuMemGetAccess(unsigned long long *flags, const void *location,
                        CUdeviceptr at)
{
    return UNLESS(is_ours(at), cuMemGetAccess, (flags, location, at));
}

CUresult cuMemRetainAllocationHandle(uint64_t *handle, void *at)
{
    return UNLESS(is_ours((CUdeviceptr)at), cuMemRetainAllocationHandle,
                  (handle, at));
}

CUresult cuMemHostRegister(void *at, size_t bytes, unsigned flags)
{
    return UNLESS(has_ours(at, bytes), cuMemHostRegister, (at, bytes, flags));
}

CUresult cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags)
{
    return UNLESS(has_ours(at, bytes), cuMemHostRegister_v2,
                  (at, bytes, flags));
}

CUresult cuMemFreeHost(void *at)
{
    return is_ours((CUdeviceptr)at) ? CUDA_ERROR_INVALID_VALUE
                                    : CUDA_CALL_LONG(cuMemFreeHost, (at));
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr at,
                                       size_t bytes, int type,
                                       unsigned long long flags)
{
    return REFUSE(at, cuMemGetHandleForAddressRange,
                  (handle, at, bytes, type, flags));
}

CUresult cuMulticastBindAddr(uint64_t handle, size_t offset, CUdeviceptr at,
                             size_t bytes, unsigned long long flags)
{
    return REFUSE(at, cuMulticastBindAddr, (handle, offset, at, bytes, flags));
}

CUresult cuMulticastBindAddr_v2(uint64_t handle, CUdevice device, size_t offset,
                                CUdeviceptr at, size_t bytes,
                                unsigned long long flags)
{
    return REFUSE(at, cuMulticastBindAddr_v2,
                  (handle, device, offset, at, bytes, flags));
}

CUresult cuLogicalEndpointBindAddr(uint32_t endpoint, CUdevice device,
                                   uint64_t offset, void *at, uint64_t bytes,
                                   unsigned long long flags)
{
    return REFUSE(at, cuLogicalEndpointBindAddr,
                  (endpoint, device, offset, at, bytes, flags));
}
