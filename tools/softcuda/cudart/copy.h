/*
 * Copies and fills have four entry points each: synchronous and not, for the
 * legacy default stream and for the calling thread's own.
 */
#ifndef SOFTCUDA_CUDART_COPY_H
#define SOFTCUDA_CUDART_COPY_H

#include "cudart/rt.h"

/* Where work goes, and whether the call waits for it.  NULL and wait: the
 * driver's own synchronous call. */
struct sc_rt_when {
    cudaStream_t stream;
    bool wait;
};

/* The two that wait; `call` reads `when`. */
#define SC_RT_COPY_NOW(name, call, ...)                                        \
    SC_RT name(__VA_ARGS__)                                                    \
    {                                                                          \
        struct sc_rt_when when = {NULL, true};                                 \
        return sc_rt_done(call);                                               \
    }                                                                          \
    SC_RT name##_ptds(__VA_ARGS__);                                            \
    SC_RT name##_ptds(__VA_ARGS__)                                             \
    {                                                                          \
        struct sc_rt_when when = {cudaStreamPerThread, true};                  \
        return sc_rt_done(call);                                               \
    }

/* All four. */
#define SC_RT_COPY(name, call, ...)                                            \
    SC_RT_COPY_NOW(name, call, __VA_ARGS__)                                    \
    SC_RT name##Async(__VA_ARGS__, cudaStream_t stream)                        \
    {                                                                          \
        struct sc_rt_when when = {stream, false};                              \
        return sc_rt_done(call);                                               \
    }                                                                          \
    SC_RT name##Async_ptsz(__VA_ARGS__, cudaStream_t stream);                  \
    SC_RT name##Async_ptsz(__VA_ARGS__, cudaStream_t stream)                   \
    {                                                                          \
        struct sc_rt_when when = {sc_rt_own(stream), false};                   \
        return sc_rt_done(call);                                               \
    }

/**
 * Copy bytes between any two places.
 *
 * @n bytes; @kind what the program says the places are
 * Return: cudaSuccess, cudaErrorInvalidMemcpyDirection, what the driver said
 * Thread: any
 */
cudaError_t sc_rt_copy(void *dst, const void *src, size_t n,
                       enum cudaMemcpyKind kind, struct sc_rt_when when);

/**
 * End of an operation submitted to a stream: wait for it when asked to.
 *
 * Thread: any
 */
cudaError_t sc_rt_finish(CUresult result, struct sc_rt_when when);

#endif
