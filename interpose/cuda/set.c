/*
 * Device memory sets. Shared ranges are overwritten on the device: whatever
 * the host has of them becomes invalid, the bytes beside them do not.
 */
#include "interpose/cuda/work.h"
#include "interpose/cuda/context.h"

/* `rows` describes what is overwritten. */
static CUresult enter(struct device_work *work, CUdeviceptr to, size_t pitch,
                      size_t bytes, size_t height)
{
    struct device_rows rows = {.first = to,
                               .bytes = bytes,
                               .pitch = pitch,
                               .count = height,
                               .layers = 1};
    work->is_set = true;
    return cuda_enter_write_rows(work, &rows);
}

/* The real call, of which `height` rows of `bytes` become `value`. */
#define SET(to, value, pitch, bytes, height, stream, per_thread, real, args)   \
    ({                                                                         \
        CUresult set_result;                                                   \
        if (!CUDA_PASSES(&set_result, real, args) &&                           \
            ((height) != 1 ||                                                  \
             !cuda_away_set(cuda_order(stream, per_thread), to, &value,        \
                            sizeof value, bytes, &set_result))) {              \
            DEVICE_STAYS;                                                      \
            struct device_work set_work = cuda_work(stream, per_thread);       \
            set_result = enter(&set_work, to, pitch, bytes, height);           \
            if (!set_result)                                                   \
                set_result = cuda_done(&set_work, CUDA_SUBMIT(real, args));    \
        }                                                                      \
        set_result;                                                            \
    })

/* The four forms of a set of `type` values, and of one with a pitch. */
#define SET_LINE(bits, type)                                                   \
    CUresult cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count)    \
    {                                                                          \
        return SET(to, value, 0, count * sizeof(type), 1, NULL, false,         \
                   cuMemsetD##bits##_v2, (to, value, count));                  \
    }                                                                          \
    CUresult cuMemsetD##bits##_v2_ptds(CUdeviceptr to, type value,             \
                                       size_t count)                           \
    {                                                                          \
        return SET(to, value, 0, count * sizeof(type), 1, NULL, true,          \
                   cuMemsetD##bits##_v2_ptds, (to, value, count));             \
    }                                                                          \
    CUresult cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count,  \
                                    CUstream stream)                           \
    {                                                                          \
        return SET(to, value, 0, count * sizeof(type), 1, stream, false,       \
                   cuMemsetD##bits##Async, (to, value, count, stream));        \
    }                                                                          \
    CUresult cuMemsetD##bits##Async_ptsz(CUdeviceptr to, type value,           \
                                         size_t count, CUstream stream)        \
    {                                                                          \
        return SET(to, value, 0, count * sizeof(type), 1, stream, true,        \
                   cuMemsetD##bits##Async_ptsz, (to, value, count, stream));   \
    }

#define SET_RECT(bits, type)                                                   \
    CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value,  \
                                    size_t width, size_t height)               \
    {                                                                          \
        return SET(to, value, pitch, width * sizeof(type), height, NULL,       \
                   false, cuMemsetD2D##bits##_v2,                              \
                   (to, pitch, value, width, height));                         \
    }                                                                          \
    CUresult cuMemsetD2D##bits##_v2_ptds(                                      \
        CUdeviceptr to, size_t pitch, type value, size_t width, size_t height) \
    {                                                                          \
        return SET(to, value, pitch, width * sizeof(type), height, NULL, true, \
                   cuMemsetD2D##bits##_v2_ptds,                                \
                   (to, pitch, value, width, height));                         \
    }                                                                          \
    CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch,            \
                                      type value, size_t width, size_t height, \
                                      CUstream stream)                         \
    {                                                                          \
        return SET(to, value, pitch, width * sizeof(type), height, stream,     \
                   false, cuMemsetD2D##bits##Async,                            \
                   (to, pitch, value, width, height, stream));                 \
    }                                                                          \
    CUresult cuMemsetD2D##bits##Async_ptsz(CUdeviceptr to, size_t pitch,       \
                                           type value, size_t width,           \
                                           size_t height, CUstream stream)     \
    {                                                                          \
        return SET(to, value, pitch, width * sizeof(type), height, stream,     \
                   true, cuMemsetD2D##bits##Async_ptsz,                        \
                   (to, pitch, value, width, height, stream));                 \
    }

SET_LINE(8, unsigned char)
SET_LINE(16, unsigned short)
SET_LINE(32, unsigned)
SET_RECT(8, unsigned char)
SET_RECT(16, unsigned short)
SET_RECT(32, unsigned)
