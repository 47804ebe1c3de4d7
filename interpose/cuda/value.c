/*
 * Streams that write a value into memory, or wait until one is there.
 *
 * A value that the CPU has stored is on the device before the wait is
 * enqueued. What the CPU stores later a waiting stream does not see, as it
 * would see nothing of the sort of ordinary device memory: it takes a copy.
 */
#include "interpose/cuda/context.h"
#include "interpose/cuda/work.h"

/* `enter` is cuda_enter_write or cuda_enter_read. */
#define VALUE(enter, stream, per_thread, at, value, flags, real)               \
    if (!device_is_serving())                                                  \
        return CUDA_CALL(real, (stream, at, value, flags));                    \
    struct device_work work = cuda_work(stream, per_thread);                   \
    work.is_set = true;                                                        \
    CUresult result = enter(&work, at, sizeof(value));                         \
    return result ? result                                                     \
                  : cuda_done(&work,                                           \
                              CUDA_SUBMIT(real, (stream, at, value, flags)))

/* A call and its per-thread form. */
#define VALUES(name, enter, type)                                              \
    CUresult name(CUstream stream, CUdeviceptr at, type value, unsigned flags) \
    {                                                                          \
        VALUE(enter, stream, false, at, value, flags, name);                   \
    }                                                                          \
    CUresult name##_ptsz(CUstream stream, CUdeviceptr at, type value,          \
                         unsigned flags)                                       \
    {                                                                          \
        VALUE(enter, stream, true, at, value, flags, name##_ptsz);             \
    }

VALUES(cuStreamWriteValue32, cuda_enter_write, uint32_t)
VALUES(cuStreamWriteValue32_v2, cuda_enter_write, uint32_t)
VALUES(cuStreamWriteValue64, cuda_enter_write, uint64_t)
VALUES(cuStreamWriteValue64_v2, cuda_enter_write, uint64_t)
VALUES(cuStreamWaitValue32, cuda_enter_read, uint32_t)
VALUES(cuStreamWaitValue32_v2, cuda_enter_read, uint32_t)
VALUES(cuStreamWaitValue64, cuda_enter_read, uint64_t)
VALUES(cuStreamWaitValue64_v2, cuda_enter_read, uint64_t)
