/*
 * Owns: callbacks of streams, and queries of the driver's entry points.
 * Does not own: what is one driver call (forward.def).
 */
#include <stdlib.h>

#include "cudart/rt.h"

struct callback {
    cudaStreamCallback_t function;
    void *data;
};

static void call(CUstream stream, CUresult status, void *data)
{
    struct callback c = *(struct callback *)data;
    free(data);
    c.function(stream, sc_rt_error(status), c.data);
}

SC_RT cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                            void *userData, unsigned int flags)
{
    if (!callback || flags != 0)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    struct callback *c = malloc(sizeof *c);
    if (!c)
        return sc_rt_done(cudaErrorMemoryAllocation);
    *c = (struct callback){callback, userData};
    CUresult result = cuStreamAddCallback(stream, call, c, 0);
    if (result != CUDA_SUCCESS)
        free(c);
    return sc_rt_done(SC_RT_DRIVER(result));
}

static cudaError_t look_up(const char *symbol, void **where, int version,
                           cuuint64_t flags,
                           enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (!symbol || !where || *symbol == '\0')
        return cudaErrorInvalidValue;
    SC_RT_TRY(sc_rt_init());
    CUresult result = cuGetProcAddress(symbol, where, version, flags, &found);
    if (status)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    if (result == CUDA_ERROR_NOT_FOUND && status)
        return cudaSuccess; /* the status says it */
    return SC_RT_DRIVER(result);
}

enum { VERSION = SC_CUDART >= 13 ? 13000 : SC_CUDART >= 12 ? 12080 : 11080 };

/* The variant for per-thread default streams unless another is asked for. */
static cuuint64_t own_kind(cuuint64_t flags)
{
    return flags == cudaEnableDefault ? cudaEnablePerThreadDefaultStream
                                      : flags;
}

#if SC_CUDART >= 12
SC_RT cudaGetDriverEntryPoint(const char *symbol, void **funcPtr,
                              unsigned long long flags,
                              enum cudaDriverEntryPointQueryResult *status)
{
    return sc_rt_done(look_up(symbol, funcPtr, VERSION, flags, status));
}

SC_RT
cudaGetDriverEntryPoint_ptsz(const char *symbol, void **funcPtr,
                             unsigned long long flags,
                             enum cudaDriverEntryPointQueryResult *status);
SC_RT
cudaGetDriverEntryPoint_ptsz(const char *symbol, void **funcPtr,
                             unsigned long long flags,
                             enum cudaDriverEntryPointQueryResult *status)
{
    return sc_rt_done(
        look_up(symbol, funcPtr, VERSION, own_kind(flags), status));
}
#else
SC_RT sc_rt_entry_11(
    const char *symbol, void **funcPtr,
    unsigned long long flags) __asm__("cudaGetDriverEntryPoint");
SC_RT sc_rt_entry_11_own(
    const char *symbol, void **funcPtr,
    unsigned long long flags) __asm__("cudaGetDriverEntryPoint_ptsz");

SC_RT sc_rt_entry_11(const char *symbol, void **funcPtr,
                     unsigned long long flags)
{
    return sc_rt_done(look_up(symbol, funcPtr, VERSION, flags, NULL));
}

SC_RT sc_rt_entry_11_own(const char *symbol, void **funcPtr,
                         unsigned long long flags)
{
    return sc_rt_done(look_up(symbol, funcPtr, VERSION, own_kind(flags), NULL));
}
#endif

SC_RT cudaGetDriverEntryPointByVersion(
    const char *symbol, void **funcPtr, unsigned int cudaVersion,
    unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
    return sc_rt_done(
        look_up(symbol, funcPtr, (int)cudaVersion, flags, status));
}

SC_RT cudaGetDriverEntryPointByVersion_ptsz(
    const char *symbol, void **funcPtr, unsigned int cudaVersion,
    unsigned long long flags, enum cudaDriverEntryPointQueryResult *status);
SC_RT cudaGetDriverEntryPointByVersion_ptsz(
    const char *symbol, void **funcPtr, unsigned int cudaVersion,
    unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
    return sc_rt_done(
        look_up(symbol, funcPtr, (int)cudaVersion, own_kind(flags), status));
}
