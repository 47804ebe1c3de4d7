/*
 * Calls that are handed to the driver as they are, with signals held: a handler
 * that comes between, and touches shared memory, would need the driver whose
 * locks the thread holds. Here are those that programs make all the time; of
 * the others docs/contract.md says what they ask of handlers.
 */
#include "interpose/cuda/resolve.h"

/* With parameters of one to four types. */
#define HELD_1(name, A)                                                        \
    CUresult name(A a)                                                         \
    {                                                                          \
        return CUDA_CALL_HELD(name, (a));                                      \
    }
#define HELD_2(name, A, B)                                                     \
    CUresult name(A a, B b)                                                    \
    {                                                                          \
        return CUDA_CALL_HELD(name, (a, b));                                   \
    }
#define HELD_3(name, A, B, C)                                                  \
    CUresult name(A a, B b, C c)                                               \
    {                                                                          \
        return CUDA_CALL_HELD(name, (a, b, c));                                \
    }
#define HELD_4(name, A, B, C, D)                                               \
    CUresult name(A a, B b, C c, D d)                                          \
    {                                                                          \
        return CUDA_CALL_HELD(name, (a, b, c, d));                             \
    }

/* The same for a call that may wait for kernels. */
#define HELD_LONG(name, A)                                                     \
    CUresult name(A a)                                                         \
    {                                                                          \
        return CUDA_CALL_LONG(name, (a));                                      \
    }

HELD_1(cuCtxSetCurrent, CUcontext)
HELD_1(cuCtxGetCurrent, CUcontext *)
HELD_1(cuCtxPushCurrent, CUcontext)
HELD_1(cuCtxPushCurrent_v2, CUcontext)
HELD_1(cuCtxPopCurrent, CUcontext *)
HELD_1(cuCtxPopCurrent_v2, CUcontext *)
HELD_1(cuCtxGetDevice, CUdevice *)
HELD_2(cuCtxGetDevice_v2, CUdevice *, CUcontext)
HELD_2(cuStreamCreate, CUstream *, unsigned)
HELD_3(cuStreamCreateWithPriority, CUstream *, unsigned, int)
HELD_1(cuStreamQuery, CUstream)
HELD_1(cuStreamQuery_ptsz, CUstream)
HELD_3(cuStreamWaitEvent, CUstream, CUevent, unsigned)
HELD_3(cuStreamWaitEvent_ptsz, CUstream, CUevent, unsigned)
HELD_2(cuEventCreate, CUevent *, unsigned)
HELD_1(cuEventDestroy, CUevent)
HELD_1(cuEventDestroy_v2, CUevent)
HELD_2(cuEventRecord, CUevent, CUstream)
HELD_2(cuEventRecord_ptsz, CUevent, CUstream)
HELD_3(cuEventRecordWithFlags, CUevent, CUstream, unsigned)
HELD_3(cuEventRecordWithFlags_ptsz, CUevent, CUstream, unsigned)
HELD_1(cuEventQuery, CUevent)
HELD_3(cuEventElapsedTime, float *, CUevent, CUevent)
HELD_3(cuEventElapsedTime_v2, float *, CUevent, CUevent)
HELD_2(cuMemGetInfo_v2, size_t *, size_t *)
HELD_2(cuMemAllocHost_v2, void **, size_t)
HELD_3(cuMemHostAlloc, void **, size_t, unsigned)
HELD_LONG(cuMemHostUnregister, void *)
HELD_3(cuFuncGetAttribute, int *, int, CUfunction)
HELD_3(cuFuncSetAttribute, CUfunction, int, int)
