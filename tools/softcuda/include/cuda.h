/*
 * CUDA driver API, version 13.0, for programs built without the SDK.
 *
 * Source- and binary-compatible with the SDK's header for the calls softcuda
 * has: the same names, numbers, layouts and name mappings, so a program may
 * switch between the two headers without a change.  Calls that softcuda only
 * refuses by name are not declared here.
 */
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__

#include <stdlib.h>

#define CUDA_VERSION 13000

#ifndef CUDAAPI
#define CUDAAPI
#endif
#ifndef CUDA_CB
#define CUDA_CB
#endif

#include "softcuda/types.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __CUDA_API_PTDS(api) api##_ptds
#define __CUDA_API_PTSZ(api) api##_ptsz
#else
#define __CUDA_API_PTDS(api) api
#define __CUDA_API_PTSZ(api) api
#endif

#include "softcuda/names.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void(CUDA_CB *CUstreamCallback)(CUstream hStream, CUresult status,
                                        void *userData);
typedef size_t(CUDA_CB *CUoccupancyB2DSize)(int blockSize);

#include "softcuda/calls.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
/** As cuGetProcAddress; a caller built for per-thread default streams gets
 *  those variants unless it asks for others. */
static inline CUresult
cuGetProcAddress_v2_ptsz(const char *symbol, void **pfn, int cudaVersion,
                         cuuint64_t flags,
                         CUdriverProcAddressQueryResult *symbolStatus)
{
    cuuint64_t kinds = CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                       CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (!(flags & kinds))
        flags |= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);
}
#define cuGetProcAddress_v2 cuGetProcAddress_v2_ptsz
#endif

#ifdef __cplusplus
}
#endif

#endif
