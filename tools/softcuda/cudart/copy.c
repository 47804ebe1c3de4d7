/*
 * Owns: copies and fills of one dimension, and of symbols.
 * Does not own: shaped ones (shaped.c).
 *
 * A stream of NULL is the legacy default stream; the variants for per-thread
 * default streams pass cudaStreamPerThread.
 */
#include "cudart/copy.h"
#include "cudart/register.h"

#define ADDRESS(p) ((CUdeviceptr)(uintptr_t)(p))

static CUresult now(void *dst, const void *src, size_t n,
                    enum cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return cuMemcpyHtoD(ADDRESS(dst), src, n);
    case cudaMemcpyDeviceToHost:
        return cuMemcpyDtoH(dst, ADDRESS(src), n);
    case cudaMemcpyDeviceToDevice:
        return cuMemcpyDtoD(ADDRESS(dst), ADDRESS(src), n);
    default:
        return cuMemcpy(ADDRESS(dst), ADDRESS(src), n);
    }
}

static CUresult later(void *dst, const void *src, size_t n,
                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return cuMemcpyHtoDAsync(ADDRESS(dst), src, n, stream);
    case cudaMemcpyDeviceToHost:
        return cuMemcpyDtoHAsync(dst, ADDRESS(src), n, stream);
    case cudaMemcpyDeviceToDevice:
        return cuMemcpyDtoDAsync(ADDRESS(dst), ADDRESS(src), n, stream);
    default:
        return cuMemcpyAsync(ADDRESS(dst), ADDRESS(src), n, stream);
    }
}

cudaError_t sc_rt_finish(CUresult result, struct sc_rt_when when)
{
    if (result == CUDA_SUCCESS && when.wait && when.stream)
        result = cuStreamSynchronize(when.stream);
    return SC_RT_DRIVER(result);
}

cudaError_t sc_rt_copy(void *dst, const void *src, size_t n,
                       enum cudaMemcpyKind kind, struct sc_rt_when when)
{
    SC_RT_TRY(sc_rt_enter());
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (n == 0)
        return cudaSuccess;
    if (!dst || !src)
        return cudaErrorInvalidValue;
    if (when.wait && !when.stream)
        return SC_RT_DRIVER(now(dst, src, n, kind));
    return sc_rt_finish(later(dst, src, n, kind, when.stream), when);
}

static cudaError_t fill(void *dst, int value, size_t n, struct sc_rt_when when)
{
    SC_RT_TRY(sc_rt_enter());
    if (n == 0)
        return cudaSuccess;
    unsigned char byte = (unsigned char)value;
    if (when.wait && !when.stream)
        return SC_RT_DRIVER(cuMemsetD8(ADDRESS(dst), byte, n));
    return sc_rt_finish(cuMemsetD8Async(ADDRESS(dst), byte, n, when.stream),
                        when);
}

static cudaError_t place(const void *symbol, size_t offset, size_t n,
                         void **where)
{
    CUdeviceptr address;
    size_t bytes;
    SC_RT_TRY(sc_rt_enter());
    SC_RT_TRY(sc_rt_variable(symbol, &address, &bytes));
    if (offset > bytes || n > bytes - offset)
        return cudaErrorInvalidValue;
    *where = (void *)(uintptr_t)(address + offset);
    return cudaSuccess;
}

static cudaError_t to_symbol(const void *symbol, const void *src, size_t n,
                             size_t offset, enum cudaMemcpyKind kind,
                             struct sc_rt_when when)
{
    void *dst;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        return cudaErrorInvalidMemcpyDirection;
    SC_RT_TRY(place(symbol, offset, n, &dst));
    return sc_rt_copy(dst, src, n, kind, when);
}

static cudaError_t from_symbol(void *dst, const void *symbol, size_t n,
                               size_t offset, enum cudaMemcpyKind kind,
                               struct sc_rt_when when)
{
    void *src;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return cudaErrorInvalidMemcpyDirection;
    SC_RT_TRY(place(symbol, offset, n, &src));
    return sc_rt_copy(dst, src, n, kind, when);
}

SC_RT_COPY(cudaMemcpy, sc_rt_copy(dst, src, count, kind, when), void *dst,
           const void *src, size_t count, enum cudaMemcpyKind kind)
SC_RT_COPY(cudaMemset, fill(devPtr, value, count, when), void *devPtr,
           int value, size_t count)
SC_RT_COPY(cudaMemcpyToSymbol,
           to_symbol(symbol, src, count, offset, kind, when),
           const void *symbol, const void *src, size_t count, size_t offset,
           enum cudaMemcpyKind kind)
SC_RT_COPY(cudaMemcpyFromSymbol,
           from_symbol(dst, symbol, count, offset, kind, when), void *dst,
           const void *symbol, size_t count, size_t offset,
           enum cudaMemcpyKind kind)
