/*
 * Owns: per-thread-stream variants and older names, from forward.def.
 * Does not own: what the calls do.
 *
 * The macros of cuda.h are undone first: here the plain names are meant.
 */
#include "driver/entry.h"
#include "driver/stream.h"

#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags
#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuEventDestroy
#undef cuEventElapsedTime
#undef cuStreamDestroy
#undef cuMemHostRegister
#undef cuDeviceGetUuid
#undef cuLinkCreate
#undef cuLinkAddData
#undef cuLinkAddFile

CUresult cuStreamGetCaptureInfo_v2(CUstream a, CUstreamCaptureStatus *b,
                                   cuuint64_t *c, CUgraph *d,
                                   const CUgraphNode **e, size_t *f);

#define SC_PER_THREAD_AS(exported, name, parameters, arguments)                \
    CUresult exported parameters;                                              \
    SC_API exported parameters                                                 \
    {                                                                          \
        bool before = sc_stream_per_thread(true);                              \
        CUresult result = name arguments;                                      \
        sc_stream_per_thread(before);                                          \
        return result;                                                         \
    }

#define SC_PER_THREAD(name, suffix, parameters, arguments)                     \
    SC_PER_THREAD_AS(name##_##suffix, name, parameters, arguments)

#define SC_OLDER(name, newer, parameters, arguments)                           \
    CUresult name parameters;                                                  \
    SC_API name parameters                                                     \
    {                                                                          \
        return newer arguments;                                                \
    }

#include "driver/forward.def"
