/* Allocations and copies, noted; see cuda_parts.h. */
#include "interpose/cuda/capture.h"
#include "interpose/cuda/work.h"
#include "interpose/report/cuda_parts.h"

/* Smaller copies up may be over for the CPU before what is ahead of them is. */
enum { SMALL = 64 << 10 };

/* An array: device memory that has no address. */
enum { ARRAY = 1 };

typedef CUresult alloc_fn(CUdeviceptr *, size_t);

/* ---- memory ----------------------------------------------------------------- */

static CUresult came(struct report_call *call, CUresult result,
                     const CUdeviceptr *at, size_t bytes)
{
    if (result == CUDA_SUCCESS && at && bytes)
        report_came(call, *at, bytes);
    report_leave();
    return result;
}

CUresult report_noted_cuMemAlloc_v2(CUdeviceptr *at, size_t bytes)
{
    struct report_call call;
    if (!report_enter(&call))
        return report_driver.cuMemAlloc_v2(at, bytes);
    return came(&call, REPORT_CALL(&call, cuMemAlloc_v2, (at, bytes)), at,
                bytes);
}

CUresult report_noted_cuMemAllocPitch_v2(CUdeviceptr *at, size_t *pitch,
                                         size_t width, size_t height,
                                         unsigned element)
{
    struct report_call call;
    if (!report_enter(&call))
        return report_driver.cuMemAllocPitch_v2(at, pitch, width, height,
                                                element);
    CUresult result = REPORT_CALL(&call, cuMemAllocPitch_v2,
                                  (at, pitch, width, height, element));
    return came(&call, result, at, result ? 0 : *pitch * height);
}

#define ALLOC_ASYNC(name, params, args)                                        \
    CUresult report_noted_##name params                                        \
    {                                                                          \
        struct report_call call;                                               \
        if (!report_enter_stream(&call, stream))                               \
            return report_driver.name args;                                    \
        return came(&call, REPORT_CALL(&call, name, args), at, bytes);         \
    }
ALLOC_ASYNC(cuMemAllocAsync, (CUdeviceptr * at, size_t bytes, CUstream stream),
            (at, bytes, stream))
ALLOC_ASYNC(cuMemAllocAsync_ptsz,
            (CUdeviceptr * at, size_t bytes, CUstream stream),
            (at, bytes, stream))
ALLOC_ASYNC(cuMemAllocFromPoolAsync,
            (CUdeviceptr * at, size_t bytes, CUmemoryPool pool,
             CUstream stream),
            (at, bytes, pool, stream))
ALLOC_ASYNC(cuMemAllocFromPoolAsync_ptsz,
            (CUdeviceptr * at, size_t bytes, CUmemoryPool pool,
             CUstream stream),
            (at, bytes, pool, stream))

/* It is noted first: behind the driver's call another thread may have got the
 * memory. What the driver refuses was no memory. */
#define FREE(name, params, args, stream)                                       \
    CUresult report_noted_##name params                                        \
    {                                                                          \
        struct report_call call;                                               \
        if (!report_enter_stream(&call, stream))                               \
            return report_driver.name args;                                    \
        report_goes(&call, at);                                                \
        CUresult result = REPORT_CALL(&call, name, args);                      \
        report_freed(&call);                                                   \
        report_leave();                                                        \
        return result;                                                         \
    }
FREE(cuMemFree_v2, (CUdeviceptr at), (at), NULL)
FREE(cuMemFreeAsync, (CUdeviceptr at, CUstream stream), (at, stream), stream)
FREE(cuMemFreeAsync_ptsz, (CUdeviceptr at, CUstream stream), (at, stream),
     stream)

/* ---- copies ------------------------------------------------------------------ */

/* Wait for what is ahead of a copy that waits for it anyway, so that its time is
 * its own. */
static void wait_ahead(const struct report_copy *c, bool per_thread)
{
    if ((c->to && c->bytes < SMALL) || cuda_captures_now() ||
        !report_has_work(c->stream))
        return;
    if (per_thread && report_driver.cuStreamSynchronize_ptsz)
        (void)report_driver.cuStreamSynchronize_ptsz(NULL);
    else if (!per_thread && report_driver.cuStreamSynchronize)
        (void)report_driver.cuStreamSynchronize(NULL);
}

static struct report_copy line(CUdeviceptr to, CUdeviceptr from,
                               const void *host, size_t bytes, CUstream stream,
                               bool per_thread, bool waits)
{
    return (struct report_copy){.to = to,
                                .from = from,
                                .bytes = bytes,
                                .host = host,
                                .stream = report_stream_of(stream, per_thread),
                                .waits = waits && host,
                                .dense = true,
                                .span = bytes};
}

static CUresult copied(struct report_call *call, CUresult result,
                       struct report_copy *c)
{
    if (result == CUDA_SUCCESS && c->bytes)
        report_copied(call, c);
    report_leave();
    return result;
}

/* Does the driver page through other memory of its own? */
static bool is_pageable(const struct report_copy *c)
{
    return c->host && !c->waits && !cuda_device_driver.knows(c->host);
}

#define COPY(describe, stream, per_thread, name, args)                         \
    {                                                                          \
        struct report_call call;                                               \
        if (!report_enter_stream(&call, stream))                               \
            return report_driver.name args;                                    \
        struct report_copy c = describe;                                       \
        if (c.waits) {                                                         \
            wait_ahead(&c, per_thread);                                        \
            c.there = report_expect(&c);                                       \
        } else {                                                               \
            c.pageable = is_pageable(&c);                                      \
        }                                                                      \
        return copied(&call, REPORT_CALL(&call, name, args), &c);              \
    }

/* Both forms of a copy that waits, and of one that does not. */
#define NOW(name, params, args, to, from, host)                                \
    CUresult report_noted_##name params COPY(                                  \
        line(to, from, host, bytes, NULL, false, true), NULL, false, name,     \
        args)                                                                  \
    CUresult report_noted_##name##_ptds params COPY(                           \
        line(to, from, host, bytes, NULL, true, true), CUDA_STREAM_PER_THREAD, \
        true, name##_ptds, args)
#define LATER(name, params, args, to, from, host)                              \
    CUresult report_noted_##name params COPY(                                  \
        line(to, from, host, bytes, stream, false, false), stream, false,      \
        name, args)                                                            \
    CUresult report_noted_##name##_ptsz params COPY(                           \
        line(to, from, host, bytes, stream, true, false), stream, true,        \
        name##_ptsz, args)

NOW(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes),
    (to, from, bytes), to, 0, from)
LATER(cuMemcpyHtoDAsync_v2,
      (CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
      (to, from, bytes, stream), to, 0, from)
NOW(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes),
    (to, from, bytes), 0, from, to)
LATER(cuMemcpyDtoHAsync_v2,
      (void *to, CUdeviceptr from, size_t bytes, CUstream stream),
      (to, from, bytes, stream), 0, from, to)
NOW(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
    (to, from, bytes), to, from, NULL)
LATER(cuMemcpyDtoDAsync_v2,
      (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
      (to, from, bytes, stream), to, from, NULL)
NOW(cuMemcpyPeer,
    (CUdeviceptr to, CUcontext to_in, CUdeviceptr from, CUcontext from_in,
     size_t bytes),
    (to, to_in, from, from_in, bytes), to, from, NULL)
LATER(cuMemcpyPeerAsync,
      (CUdeviceptr to, CUcontext to_in, CUdeviceptr from, CUcontext from_in,
       size_t bytes, CUstream stream),
      (to, to_in, from, from_in, bytes, stream), to, from, NULL)
NOW(cuMemcpyAtoD_v2,
    (CUdeviceptr to, CUarray from, size_t offset, size_t bytes),
    (to, from, offset, bytes), to, ARRAY, NULL)
NOW(cuMemcpyDtoA_v2,
    (CUarray to, size_t offset, CUdeviceptr from, size_t bytes),
    (to, offset, from, bytes), ARRAY, from, NULL)
NOW(cuMemcpyAtoH_v2, (void *to, CUarray from, size_t offset, size_t bytes),
    (to, from, offset, bytes), 0, ARRAY, to)
NOW(cuMemcpyHtoA_v2,
    (CUarray to, size_t offset, const void *from, size_t bytes),
    (to, offset, from, bytes), ARRAY, 0, from)
LATER(cuMemcpyAtoHAsync_v2,
      (void *to, CUarray from, size_t offset, size_t bytes, CUstream stream),
      (to, from, offset, bytes, stream), 0, ARRAY, to)
LATER(cuMemcpyHtoAAsync_v2,
      (CUarray to, size_t offset, const void *from, size_t bytes,
       CUstream stream),
      (to, offset, from, bytes, stream), ARRAY, 0, from)

/* ---- copies whose sides the addresses tell ------------------------------------ */

static struct report_copy either(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                 CUstream stream, bool per_thread, bool waits)
{
    bool up = !cuda_is_device((const void *)from);
    bool down = !up && !cuda_is_device((const void *)to);
    return line(down ? 0 : to, up ? 0 : from,
                up     ? (const void *)from
                : down ? (const void *)to
                       : NULL,
                bytes, stream, per_thread, waits);
}

CUresult report_noted_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
    COPY(either(to, from, bytes, NULL, false, true), NULL, false, cuMemcpy,
         (to, from, bytes)) CUresult
    report_noted_cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes)
        COPY(either(to, from, bytes, NULL, true, true), CUDA_STREAM_PER_THREAD,
             true, cuMemcpy_ptds, (to, from, bytes)) CUresult
    report_noted_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                               CUstream stream)
        COPY(either(to, from, bytes, stream, false, false), stream, false,
             cuMemcpyAsync, (to, from, bytes, stream)) CUresult
    report_noted_cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from,
                                    size_t bytes, CUstream stream)
        COPY(either(to, from, bytes, stream, true, false), stream, true,
             cuMemcpyAsync_ptsz, (to, from, bytes, stream))

    /* ---- copies of rows -------------------------------------------------------------- */

    /* One side of it. */
    struct side {
    int type;
    const void *host;
    CUdeviceptr device;
    size_t x, y, z, pitch, height;
};

/* Where the side begins, and whether it is the host's. */
static uint64_t side_at(const struct side *s, bool *is_host)
{
    uint64_t offset = (s->z * s->height + s->y) * s->pitch + s->x;
    *is_host = s->type == CUDA_MEMORY_HOST ||
               (s->type == CUDA_MEMORY_UNIFIED &&
                !cuda_is_device((const void *)s->device));
    if (s->type == CUDA_MEMORY_HOST)
        return (uintptr_t)s->host + offset;
    return s->type == CUDA_MEMORY_DEVICE || s->type == CUDA_MEMORY_UNIFIED
               ? s->device + offset
               : ARRAY;
}

/* From the first byte to the last. */
static size_t side_span(const struct side *s, const size_t extent[3])
{
    return ((extent[2] - 1) * s->height + extent[1] - 1) * s->pitch + extent[0];
}

static struct report_copy rows(const struct side *to, const struct side *from,
                               const size_t extent[3], CUstream stream,
                               bool per_thread, bool waits)
{
    bool to_host, from_host;
    uint64_t to_at = side_at(to, &to_host), from_at = side_at(from, &from_host);
    size_t bytes = extent[0] * extent[1] * extent[2];
    struct report_copy c = line(to_host ? 0 : to_at, from_host ? 0 : from_at,
                                to_host     ? (const void *)to_at
                                : from_host ? (const void *)from_at
                                            : NULL,
                                bytes, stream, per_thread, waits);
    size_t span = bytes ? side_span(to, extent) : 0;
    size_t other = bytes ? side_span(from, extent) : 0;
    c.dense = span == bytes && other == bytes;
    c.span = to_host ? other : from_host ? span : span > other ? span : other;
    if (to_host && from_host)
        c.bytes = 0; /* no device has a part in it */
    return c;
}

static struct report_copy rows_2d(const struct cuda_copy2d *a, CUstream stream,
                                  bool per_thread, bool waits)
{
    const struct side to = {a->dst_type, a->dst_host, a->dst_device, a->dst_x,
                            a->dst_y,    0,           a->dst_pitch,  0};
    const struct side from = {a->src_type, a->src_host, a->src_device, a->src_x,
                              a->src_y,    0,           a->src_pitch,  0};
    const size_t extent[3] = {a->width, a->height, 1};
    return rows(&to, &from, extent, stream, per_thread, waits);
}

static struct report_copy rows_3d(const struct cuda_copy3d *a, CUstream stream,
                                  bool per_thread, bool waits)
{
    const struct side to = {a->dst_type,  a->dst_host,  a->dst_device,
                            a->dst_x,     a->dst_y,     a->dst_z,
                            a->dst_pitch, a->dst_height};
    const struct side from = {a->src_type,  a->src_host,  a->src_device,
                              a->src_x,     a->src_y,     a->src_z,
                              a->src_pitch, a->src_height};
    const size_t extent[3] = {a->width, a->height, a->depth};
    return rows(&to, &from, extent, stream, per_thread, waits);
}

#define ROWS_NOW(name, dimensions)                                             \
    CUresult report_noted_##name(const struct cuda_copy##dimensions *a)        \
        COPY(rows_##dimensions(a, NULL, false, true), NULL, false, name, (a))  \
            CUresult report_noted_##name##_ptds(                               \
                const struct cuda_copy##dimensions *a)                         \
                COPY(rows_##dimensions(a, NULL, true, true),                   \
                     CUDA_STREAM_PER_THREAD, true, name##_ptds, (a))
#define ROWS_LATER(name, dimensions)                                           \
    CUresult report_noted_##name(const struct cuda_copy##dimensions *a,        \
                                 CUstream stream)                              \
        COPY(rows_##dimensions(a, stream, false, false), stream, false, name,  \
             (a, stream))                                                      \
            CUresult report_noted_##name##_ptsz(                               \
                const struct cuda_copy##dimensions *a, CUstream stream)        \
                COPY(rows_##dimensions(a, stream, true, false), stream, true,  \
                     name##_ptsz, (a, stream))

ROWS_NOW(cuMemcpy2D_v2, 2d)
ROWS_NOW(cuMemcpy2DUnaligned_v2, 2d)
ROWS_LATER(cuMemcpy2DAsync_v2, 2d)
ROWS_NOW(cuMemcpy3D_v2, 3d)
ROWS_LATER(cuMemcpy3DAsync_v2, 3d)
