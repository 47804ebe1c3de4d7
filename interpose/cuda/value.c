/*
 * Streams that write a value into memory, or wait until one is there.
 *
 * A value that the CPU has stored is on the device before the wait is
 * enqueued. What the CPU stores later a waiting stream does not see, as it
 * would see nothing of the sort of ordinary device memory: it takes a copy.
 */
#include "interpose/cuda/context.h"
#include "interpose/cuda/work.h"

static CUresult enter_write(struct device_work *work, CUdeviceptr at,
                            size_t bytes)
{
    work->is_set = true;
    return cuda_enter_write(work, at, bytes);
}

static CUresult enter_read(struct device_work *work, CUdeviceptr at,
                           size_t bytes)
{
    work->is_set = true;
    return cuda_enter_read(work, at, bytes);
}

/* A call and its per-thread form. */
#define VALUES(name, enter, type)                                              \
    CUresult name(CUstream stream, CUdeviceptr at, type value, unsigned flags) \
    {                                                                          \
        return CUDA_WORK(enter, at, sizeof value, stream, false, name,         \
                         (stream, at, value, flags));                          \
    }                                                                          \
    CUresult name##_ptsz(CUstream stream, CUdeviceptr at, type value,          \
                         unsigned flags)                                       \
    {                                                                          \
        return CUDA_WORK(enter, at, sizeof value, stream, true, name##_ptsz,   \
                         (stream, at, value, flags));                          \
    }

VALUES(cuStreamWriteValue32, enter_write, uint32_t)
VALUES(cuStreamWriteValue32_v2, enter_write, uint32_t)
VALUES(cuStreamWriteValue64, enter_write, uint64_t)
VALUES(cuStreamWriteValue64_v2, enter_write, uint64_t)
VALUES(cuStreamWaitValue32, enter_read, uint32_t)
VALUES(cuStreamWaitValue32_v2, enter_read, uint32_t)
VALUES(cuStreamWaitValue64, enter_read, uint64_t)
VALUES(cuStreamWaitValue64_v2, enter_read, uint64_t)
