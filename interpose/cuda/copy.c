/*
 * One-dimensional copies.
 *
 * A shared address is a device address: the driver may be given it on the
 * device side as it is, once the device's copy is current. On the host side of
 * a copy it would mean protected pages to the driver; there the copy becomes
 * one between two places of the device, whatever the program called it, which
 * also keeps asynchronous copies asynchronous. Host ranges that are partly
 * shared are copied piece by piece. What has no device memory is copied on the
 * host.
 */
#include "interpose/cuda/work.h"
#include "interpose/cuda/driver.h"
#include "interpose/cuda/context.h"

/* Longest prefix of [address, +bytes) that is uniformly shared or plain. */
static size_t uniform(CUdeviceptr address, size_t bytes, bool *shared)
{
    uintptr_t next = adsm_index_border(address);
    *shared = adsm_index_find((const void *)address) != NULL;
    while (next && next - address < bytes &&
           (adsm_index_find((const void *)next) != NULL) == *shared)
        next = adsm_index_border(next);
    return next && next - address < bytes ? next - address : bytes;
}

static CUresult copy_inside(struct device_work *work, CUdeviceptr to,
                            CUdeviceptr from, size_t bytes)
{
    CUdeviceptr device_to = device_address(to);
    CUdeviceptr device_from = device_address(from);
    if (device_to == device_from)
        return CUDA_SUCCESS;
    CUresult result = cuda_bring(work, from, to);
    if (!result)
        result = cuda_enter_read(work, from, bytes);
    if (!result)
        result = cuda_enter_write(work, to, bytes);
    if (result)
        return result;
    result = CUDA_SUBMIT(cuMemcpyDtoDAsync_v2,
                         (device_to, device_from, bytes, work->order.stream));
    return cuda_done(work, result);
}

/* Copy to the device from a host range that may be shared in parts. */
static CUresult upload_mixed(struct device_order order, bool waits,
                             CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    CUresult result = CUDA_SUCCESS;
    while (bytes > 0 && !result) {
        DEVICE_STAYS;
        struct device_work work = {.order = order};
        bool shared;
        size_t piece = uniform(from, bytes, &shared);
        if (shared) {
            result = copy_inside(&work, to, from, piece);
        } else {
            work.host = (const void *)from;
            result = cuda_enter_write(&work, to, piece);
            if (!result)
                result = cuda_done(
                    &work, CUDA_SUBMIT_HOST(
                               &work, (const void *)from, cuMemcpyHtoDAsync_v2,
                               (to, (const void *)from, piece, order.stream)));
        }
        to += piece;
        from += piece;
        bytes -= piece;
    }
    return !result && waits ? cuda_driver_wait(order.stream) : result;
}

/* Copy from the device to a host range that may be shared in parts. */
static CUresult download_mixed(struct device_order order, bool waits,
                               CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    CUresult result = CUDA_SUCCESS;
    while (bytes > 0 && !result) {
        DEVICE_STAYS;
        struct device_work work = {.order = order};
        bool shared;
        size_t piece = uniform(to, bytes, &shared);
        if (shared) {
            result = copy_inside(&work, to, from, piece);
        } else {
            result = cuda_enter_read(&work, from, piece);
            if (!result)
                result = cuda_done(
                    &work,
                    CUDA_SUBMIT_HOST(&work, (void *)to, cuMemcpyDtoHAsync_v2,
                                     ((void *)to, from, piece, order.stream)));
        }
        to += piece;
        from += piece;
        bytes -= piece;
    }
    return !result && waits ? cuda_driver_wait(order.stream) : result;
}

#define ON_DEVICE(address)                                                     \
    (struct device_side)                                                       \
    {                                                                          \
        (address), false                                                       \
    }
#define ON_HOST(pointer)                                                       \
    (struct device_side)                                                       \
    {                                                                          \
        (CUdeviceptr)(pointer), true                                           \
    }

/* The side that is not shared, where there is one. */
static const void *plain_side(CUdeviceptr to, CUdeviceptr from)
{
    return device_is_shared(to, 1) ? (const void *)from : (const void *)to;
}

static CUresult enter_copy(struct device_work *work, CUdeviceptr to,
                           CUdeviceptr from, size_t bytes)
{
    CUresult result = cuda_bring(work, from, to);
    if (!result)
        result = cuda_enter_read(work, from, bytes);
    return result ? result : cuda_enter_write(work, to, bytes);
}

/* A copy: sides that are device memory (0: none), a side that may be the host's,
 * then the real call. */
#define COPY_HOST(to, from, plain, bytes, stream, per_thread, real, args)      \
    ({                                                                         \
        CUresult copy_result;                                                  \
        if (!CUDA_PASSES(&copy_result, real, args) &&                          \
            !cuda_away_copy(cuda_order(stream, per_thread), ON_DEVICE(to),     \
                            ON_DEVICE(from), bytes, &copy_result)) {           \
            DEVICE_STAYS;                                                      \
            struct device_work copy_work = cuda_work(stream, per_thread);      \
            copy_work.host = (plain);                                          \
            copy_result = enter_copy(&copy_work, to, from, bytes);             \
            if (!copy_result)                                                  \
                copy_result =                                                  \
                    cuda_done(&copy_work, CUDA_SUBMIT_HOST(&copy_work, plain,  \
                                                           real, args));       \
        }                                                                      \
        copy_result;                                                           \
    })

#define COPY(to, from, bytes, stream, per_thread, real, args)                  \
    COPY_HOST(to, from, NULL, bytes, stream, per_thread, real, args)

/* A copy of which either side may be the host's. */
#define COPY_ANY(to, from, bytes, stream, per_thread, real, args)              \
    COPY_HOST(to, from, plain_side(to, from), bytes, stream, per_thread, real, \
              args)

/* Whether a copy is none of ours, and may wait in the driver: there is nothing
 * shared on either side, and no handler of the program that could come
 * meanwhile. Then it was made, and *result is the driver's answer. */
#define COPY_APART(result, to, from, bytes, real, args)                        \
    ({                                                                         \
        bool copy_apart = false;                                               \
        if (!adsm_slices_begin()) {                                            \
            DEVICE_STAYS;                                                      \
            copy_apart = !device_is_shared(to, bytes) &&                       \
                         !device_is_shared(from, bytes);                       \
            if (copy_apart)                                                    \
                *(result) = CUDA_CALL_LONG(real, args);                        \
        }                                                                      \
        copy_apart;                                                            \
    })

/* A copy that returns when it is done, past CUDA_PASSES. */
#define COPY_NOW(to, from, bytes, per_thread, real, args)                      \
    ({                                                                         \
        CUresult copy_now;                                                     \
        if (!COPY_APART(&copy_now, to, from, bytes, real, args)) {             \
            copy_now = cuda_wait_ahead(cuda_order(NULL, per_thread));          \
            if (!copy_now)                                                     \
                copy_now =                                                     \
                    COPY(to, from, bytes, NULL, per_thread, real, args);       \
        }                                                                      \
        copy_now;                                                              \
    })

/* Each copy in its form for the legacy and for the per-thread stream. */

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    CUresult passed;
    if (CUDA_PASSES(&passed, cuMemcpy, (to, from, bytes)))
        return passed;
    return COPY_NOW(to, from, bytes, false, cuMemcpy, (to, from, bytes));
}

CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    CUresult passed;
    if (CUDA_PASSES(&passed, cuMemcpy_ptds, (to, from, bytes)))
        return passed;
    return COPY_NOW(to, from, bytes, true, cuMemcpy_ptds, (to, from, bytes));
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                       CUstream stream)
{
    return COPY_ANY(to, from, bytes, stream, false, cuMemcpyAsync,
                    (to, from, bytes, stream));
}

CUresult cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                            CUstream stream)
{
    return COPY_ANY(to, from, bytes, stream, true, cuMemcpyAsync_ptsz,
                    (to, from, bytes, stream));
}

CUresult cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from,
                                     size_t bytes, void *attributes,
                                     CUstream stream)
{
    return COPY_ANY(to, from, bytes, stream, false, cuMemcpyWithAttributesAsync,
                    (to, from, bytes, attributes, stream));
}

CUresult cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr to, CUdeviceptr from,
                                          size_t bytes, void *attributes,
                                          CUstream stream)
{
    return COPY_ANY(to, from, bytes, stream, true,
                    cuMemcpyWithAttributesAsync_ptsz,
                    (to, from, bytes, attributes, stream));
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t bytes)
{
    return COPY(to, from, bytes, NULL, false, cuMemcpyPeer,
                (to, to_context, from, from_context, bytes));
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext to_context,
                           CUdeviceptr from, CUcontext from_context,
                           size_t bytes)
{
    return COPY(to, from, bytes, NULL, true, cuMemcpyPeer_ptds,
                (to, to_context, from, from_context, bytes));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context,
                           CUdeviceptr from, CUcontext from_context,
                           size_t bytes, CUstream stream)
{
    return COPY(to, from, bytes, stream, false, cuMemcpyPeerAsync,
                (to, to_context, from, from_context, bytes, stream));
}

CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext to_context,
                                CUdeviceptr from, CUcontext from_context,
                                size_t bytes, CUstream stream)
{
    return COPY(to, from, bytes, stream, true, cuMemcpyPeerAsync_ptsz,
                (to, to_context, from, from_context, bytes, stream));
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return COPY(to, from, bytes, NULL, false, cuMemcpyDtoD_v2,
                (to, from, bytes));
}

CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return COPY(to, from, bytes, NULL, true, cuMemcpyDtoD_v2_ptds,
                (to, from, bytes));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                              CUstream stream)
{
    return COPY(to, from, bytes, stream, false, cuMemcpyDtoDAsync_v2,
                (to, from, bytes, stream));
}

CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from,
                                   size_t bytes, CUstream stream)
{
    return COPY(to, from, bytes, stream, true, cuMemcpyDtoDAsync_v2_ptsz,
                (to, from, bytes, stream));
}

/* True when the host side needs more than the driver's own copy, or may do so
 * when that is made: another thread may be about to share it. */
static bool host_may_be_shared(const void *host, size_t bytes)
{
    return hook_unlikely(!hook_is_apart(host, bytes) ||
                         hook_may_adopt(host, bytes)) &&
           !hook_passes();
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    CUresult away;
    if (CUDA_PASSES(&away, cuMemcpyHtoD_v2, (to, from, bytes)) ||
        cuda_away_copy(cuda_order(NULL, false), ON_DEVICE(to), ON_HOST(from),
                       bytes, &away))
        return away;
    if (host_may_be_shared(from, bytes))
        return upload_mixed(cuda_order(NULL, false), true, to,
                            (CUdeviceptr)from, bytes);
    return COPY_NOW(to, 0, bytes, false, cuMemcpyHtoD_v2, (to, from, bytes));
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t bytes)
{
    CUresult away;
    if (CUDA_PASSES(&away, cuMemcpyHtoD_v2_ptds, (to, from, bytes)) ||
        cuda_away_copy(cuda_order(NULL, true), ON_DEVICE(to), ON_HOST(from),
                       bytes, &away))
        return away;
    if (host_may_be_shared(from, bytes))
        return upload_mixed(cuda_order(NULL, true), true, to, (CUdeviceptr)from,
                            bytes);
    return COPY_NOW(to, 0, bytes, true, cuMemcpyHtoD_v2_ptds,
                    (to, from, bytes));
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                              CUstream stream)
{
    CUresult away;
    if (CUDA_PASSES(&away, cuMemcpyHtoDAsync_v2, (to, from, bytes, stream)) ||
        cuda_away_copy(cuda_order(stream, false), ON_DEVICE(to), ON_HOST(from),
                       bytes, &away))
        return away;
    if (host_may_be_shared(from, bytes))
        return upload_mixed(cuda_order(stream, false), false, to,
                            (CUdeviceptr)from, bytes);
    return COPY_HOST(to, 0, from, bytes, stream, false, cuMemcpyHtoDAsync_v2,
                     (to, from, bytes, stream));
}

CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void *from,
                                   size_t bytes, CUstream stream)
{
    CUresult away;
    if (CUDA_PASSES(&away, cuMemcpyHtoDAsync_v2_ptsz,
                    (to, from, bytes, stream)) ||
        cuda_away_copy(cuda_order(stream, true), ON_DEVICE(to), ON_HOST(from),
                       bytes, &away))
        return away;
    if (host_may_be_shared(from, bytes))
        return upload_mixed(cuda_order(stream, true), false, to,
                            (CUdeviceptr)from, bytes);
    return COPY_HOST(to, 0, from, bytes, stream, true,
                     cuMemcpyHtoDAsync_v2_ptsz, (to, from, bytes, stream));
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    CUresult away;
    if (CUDA_PASSES(&away, cuMemcpyDtoH_v2, (to, from, bytes)) ||
        cuda_away_copy(cuda_order(NULL, false), ON_HOST(to), ON_DEVICE(from),
                       bytes, &away))
        return away;
    if (host_may_be_shared(to, bytes))
        return download_mixed(cuda_order(NULL, false), true, (CUdeviceptr)to,
                              from, bytes);
    return COPY_NOW(0, from, bytes, false, cuMemcpyDtoH_v2, (to, from, bytes));
}

CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes)
{
    CUresult away;
    if (CUDA_PASSES(&away, cuMemcpyDtoH_v2_ptds, (to, from, bytes)) ||
        cuda_away_copy(cuda_order(NULL, true), ON_HOST(to), ON_DEVICE(from),
                       bytes, &away))
        return away;
    if (host_may_be_shared(to, bytes))
        return download_mixed(cuda_order(NULL, true), true, (CUdeviceptr)to,
                              from, bytes);
    return COPY_NOW(0, from, bytes, true, cuMemcpyDtoH_v2_ptds,
                    (to, from, bytes));
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                              CUstream stream)
{
    CUresult away;
    if (CUDA_PASSES(&away, cuMemcpyDtoHAsync_v2, (to, from, bytes, stream)) ||
        cuda_away_copy(cuda_order(stream, false), ON_HOST(to), ON_DEVICE(from),
                       bytes, &away))
        return away;
    if (host_may_be_shared(to, bytes))
        return download_mixed(cuda_order(stream, false), false, (CUdeviceptr)to,
                              from, bytes);
    return COPY_HOST(0, from, to, bytes, stream, false, cuMemcpyDtoHAsync_v2,
                     (to, from, bytes, stream));
}

CUresult cuMemcpyDtoHAsync_v2_ptsz(void *to, CUdeviceptr from, size_t bytes,
                                   CUstream stream)
{
    CUresult away;
    if (CUDA_PASSES(&away, cuMemcpyDtoHAsync_v2_ptsz,
                    (to, from, bytes, stream)) ||
        cuda_away_copy(cuda_order(stream, true), ON_HOST(to), ON_DEVICE(from),
                       bytes, &away))
        return away;
    if (host_may_be_shared(to, bytes))
        return download_mixed(cuda_order(stream, true), false, (CUdeviceptr)to,
                              from, bytes);
    return COPY_HOST(0, from, to, bytes, stream, true,
                     cuMemcpyDtoHAsync_v2_ptsz, (to, from, bytes, stream));
}
