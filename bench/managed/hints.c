/*
 * Hints that are given. See hints.h.
 */
#include "managed/hints.h"

#include <stdbool.h>
#include <stdint.h>

/* As every driver since CUDA 8 has them. What cuda.h calls so takes a location,
 * and drivers have it from 12.2 on. */
CUresult memory_prefetch(CUdeviceptr memory, size_t bytes, CUdevice to,
                         CUstream stream) __asm__("cuMemPrefetchAsync");
CUresult memory_advise(CUdeviceptr memory, size_t bytes, CUmem_advise advice,
                       CUdevice device) __asm__("cuMemAdvise");

/* Success also for what the device refuses because it cannot do it at all. */
static CUresult without_refusal(CUresult result, CUdevice device)
{
    int concurrent = 1;
    if (result != CUDA_ERROR_INVALID_DEVICE &&
        result != CUDA_ERROR_NOT_SUPPORTED)
        return result;
    CUresult asked = cuDeviceGetAttribute(
        &concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device);
    return asked == CUDA_SUCCESS && !concurrent ? CUDA_SUCCESS : result;
}

static CUresult advise(const void *memory, size_t bytes, CUmem_advise advice)
{
    CUdevice device;
    CUresult result = cuCtxGetDevice(&device);
    if (result != CUDA_SUCCESS)
        return result;
    return without_refusal(
        memory_advise((CUdeviceptr)(uintptr_t)memory, bytes, advice, device),
        device);
}

static CUresult prefetch(const void *memory, size_t bytes, bool to_host)
{
    CUdevice device;
    CUresult result = cuCtxGetDevice(&device);
    if (result != CUDA_SUCCESS)
        return result;
    return without_refusal(
        memory_prefetch((CUdeviceptr)(uintptr_t)memory, bytes,
                        to_host ? CU_DEVICE_CPU : device, NULL),
        device);
}

CUresult hint_read_mostly(const void *memory, size_t bytes)
{
    return advise(memory, bytes, CU_MEM_ADVISE_SET_READ_MOSTLY);
}

CUresult hint_prefer_device(const void *memory, size_t bytes)
{
    return advise(memory, bytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION);
}

CUresult hint_to_device(const void *memory, size_t bytes)
{
    return prefetch(memory, bytes, false);
}

CUresult hint_to_host(const void *memory, size_t bytes)
{
    CUresult result = prefetch(memory, bytes, true);
    return result == CUDA_SUCCESS ? cuCtxSynchronize() : result;
}
