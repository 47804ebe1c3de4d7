/*
 * Copies between arrays and linear memory. A host side that is shared, or would
 * be when the CPU touches it, becomes the device side of the same copy, as in
 * copy.c; the asynchronous forms have no such twin, so there the stream is waited
 * for first.
 */
#include "interpose/cuda/driver.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/work.h"

static bool host_is_shared(const void *host, size_t bytes)
{
    return (hook_unlikely(!hook_is_apart(host, bytes)) && !hook_passes()) ||
           cuda_is_untouched(host, bytes);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t at, size_t bytes)
{
    return CUDA_WORK(cuda_enter_write, to, bytes, NULL, false, cuMemcpyAtoD_v2,
                     (to, from, at, bytes));
}

CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr to, CUarray from, size_t at,
                              size_t bytes)
{
    return CUDA_WORK(cuda_enter_write, to, bytes, NULL, true,
                     cuMemcpyAtoD_v2_ptds, (to, from, at, bytes));
}

CUresult cuMemcpyDtoA_v2(CUarray to, size_t at, CUdeviceptr from, size_t bytes)
{
    return CUDA_WORK(cuda_enter_read, from, bytes, NULL, false, cuMemcpyDtoA_v2,
                     (to, at, from, bytes));
}

CUresult cuMemcpyDtoA_v2_ptds(CUarray to, size_t at, CUdeviceptr from,
                              size_t bytes)
{
    return CUDA_WORK(cuda_enter_read, from, bytes, NULL, true,
                     cuMemcpyDtoA_v2_ptds, (to, at, from, bytes));
}

CUresult cuMemcpyAtoH_v2(void *to, CUarray from, size_t at, size_t bytes)
{
    return host_is_shared(to, bytes)
               ? cuMemcpyAtoD_v2((CUdeviceptr)to, from, at, bytes)
               : CUDA_CALL_LONG(cuMemcpyAtoH_v2, (to, from, at, bytes));
}

CUresult cuMemcpyAtoH_v2_ptds(void *to, CUarray from, size_t at, size_t bytes)
{
    return host_is_shared(to, bytes)
               ? cuMemcpyAtoD_v2_ptds((CUdeviceptr)to, from, at, bytes)
               : CUDA_CALL_LONG(cuMemcpyAtoH_v2_ptds, (to, from, at, bytes));
}

CUresult cuMemcpyHtoA_v2(CUarray to, size_t at, const void *from, size_t bytes)
{
    return host_is_shared(from, bytes)
               ? cuMemcpyDtoA_v2(to, at, (CUdeviceptr)from, bytes)
               : CUDA_CALL_LONG(cuMemcpyHtoA_v2, (to, at, from, bytes));
}

CUresult cuMemcpyHtoA_v2_ptds(CUarray to, size_t at, const void *from,
                              size_t bytes)
{
    return host_is_shared(from, bytes)
               ? cuMemcpyDtoA_v2_ptds(to, at, (CUdeviceptr)from, bytes)
               : CUDA_CALL_LONG(cuMemcpyHtoA_v2_ptds, (to, at, from, bytes));
}

CUresult cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t at, size_t bytes,
                              CUstream stream)
{
    if (!host_is_shared(to, bytes))
        return CUDA_CALL_LONG(cuMemcpyAtoHAsync_v2,
                              (to, from, at, bytes, stream));
    CUresult result = cuda_driver_wait(cuda_order(stream, false).stream);
    return result ? result : cuMemcpyAtoD_v2((CUdeviceptr)to, from, at, bytes);
}

CUresult cuMemcpyAtoHAsync_v2_ptsz(void *to, CUarray from, size_t at,
                                   size_t bytes, CUstream stream)
{
    if (!host_is_shared(to, bytes))
        return CUDA_CALL_LONG(cuMemcpyAtoHAsync_v2_ptsz,
                              (to, from, at, bytes, stream));
    CUresult result = cuda_driver_wait(cuda_order(stream, true).stream);
    return result ? result : cuMemcpyAtoD_v2((CUdeviceptr)to, from, at, bytes);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t at, const void *from,
                              size_t bytes, CUstream stream)
{
    if (!host_is_shared(from, bytes))
        return CUDA_CALL_LONG(cuMemcpyHtoAAsync_v2,
                              (to, at, from, bytes, stream));
    CUresult result = cuda_driver_wait(cuda_order(stream, false).stream);
    return result ? result : cuMemcpyDtoA_v2(to, at, (CUdeviceptr)from, bytes);
}

CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray to, size_t at, const void *from,
                                   size_t bytes, CUstream stream)
{
    if (!host_is_shared(from, bytes))
        return CUDA_CALL_LONG(cuMemcpyHtoAAsync_v2_ptsz,
                              (to, at, from, bytes, stream));
    CUresult result = cuda_driver_wait(cuda_order(stream, true).stream);
    return result ? result : cuMemcpyDtoA_v2(to, at, (CUdeviceptr)from, bytes);
}
