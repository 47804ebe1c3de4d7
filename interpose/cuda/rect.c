/*
 * Two- and three-dimensional copies.
 *
 * As in copy.c: a shared side is a device side, whatever memory type the
 * program gave it, and so is one that would be shared when the CPU touches it.
 * The program's description is copied and changed, never written to.
 */
#include "interpose/cuda/driver.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/work.h"

/* One side of a copy, in either struct. */
struct side {
    int *type;
    CUdeviceptr host;
    CUdeviceptr *device;
    CUcontext *context; /* NULL: not a copy between contexts             */
    size_t x, y, z, pitch, height;
};

struct extent {
    size_t width, height, depth;
};

typedef CUresult rows_fn(struct device_work *, const struct device_rows *);

/* 0: an array of the driver's. */
static CUdeviceptr base_of(const struct side *side)
{
    bool device =
        *side->type == CUDA_MEMORY_DEVICE || *side->type == CUDA_MEMORY_UNIFIED;
    return *side->type == CUDA_MEMORY_HOST ? side->host
           : device                        ? *side->device
                                           : 0;
}

/* Make the device's copy of a shared side current and name it as such. */
static CUresult enter(struct device_work *work, struct side *side,
                      const struct extent *extent, rows_fn *rows_enter)
{
    CUdeviceptr base = base_of(side);
    if (!base)
        return CUDA_SUCCESS;
    /* What is 0 is as much as is copied. */
    size_t pitch = side->pitch ? side->pitch : extent->width;
    size_t height = side->height ? side->height : extent->height;
    struct device_rows rows = {
        .first = base + (side->z * height + side->y) * pitch + side->x,
        .bytes = extent->width,
        .pitch = pitch,
        .count = extent->height,
        .layer_pitch = height * pitch,
        .layers = extent->depth,
    };
    bool shared = device_is_shared(rows.first, 1);
    if (*side->type == CUDA_MEMORY_HOST &&
        (shared || cuda_is_untouched((const void *)rows.first, 1))) {
        *side->type = CUDA_MEMORY_DEVICE;
        *side->device = device_address(base);
        if (side->context)
            *side->context = cuda_driver_context();
    }
    return shared ? rows_enter(work, &rows) : CUDA_SUCCESS;
}

static CUresult enter_both(struct device_work *work, struct side *from,
                           struct side *to, const struct extent *extent)
{
    CUresult result = cuda_bring(work, base_of(from), base_of(to));
    if (!result)
        result = enter(work, from, extent, cuda_enter_read_rows);
    return result ? result : enter(work, to, extent, cuda_enter_write_rows);
}

static CUresult enter_2d(struct device_work *work, struct cuda_copy2d *c)
{
    struct extent extent = {c->width, c->height, 1};
    struct side from = {&c->src_type,
                        (CUdeviceptr)c->src_host,
                        &c->src_device,
                        NULL,
                        c->src_x,
                        c->src_y,
                        0,
                        c->src_pitch,
                        0};
    struct side to = {&c->dst_type,
                      (CUdeviceptr)c->dst_host,
                      &c->dst_device,
                      NULL,
                      c->dst_x,
                      c->dst_y,
                      0,
                      c->dst_pitch,
                      0};
    return enter_both(work, &from, &to, &extent);
}

static CUresult enter_volume(struct device_work *work, struct cuda_copy3d *c,
                             CUcontext *from_context, CUcontext *to_context)
{
    struct extent extent = {c->width, c->height, c->depth};
    struct side from = {&c->src_type,   (CUdeviceptr)c->src_host,
                        &c->src_device, from_context,
                        c->src_x,       c->src_y,
                        c->src_z,       c->src_pitch,
                        c->src_height};
    struct side to = {&c->dst_type,   (CUdeviceptr)c->dst_host,
                      &c->dst_device, to_context,
                      c->dst_x,       c->dst_y,
                      c->dst_z,       c->dst_pitch,
                      c->dst_height};
    return enter_both(work, &from, &to, &extent);
}

static CUresult enter_3d(struct device_work *work, struct cuda_copy3d *copy)
{
    return enter_volume(work, copy, NULL, NULL);
}

static CUresult enter_peer(struct device_work *work, struct cuda_copy3d *copy)
{
    return enter_volume(work, copy, &copy->src_context, &copy->dst_context);
}

/* The side of a copy that is the host's, if one is. */
#define HOST_SIDE(copy)                                                        \
    ((copy).src_type == CUDA_MEMORY_HOST   ? (copy).src_host                   \
     : (copy).dst_type == CUDA_MEMORY_HOST ? (copy).dst_host                   \
                                           : NULL)

/* Does it name untouched device memory as the host's? It is to be changed then,
 * also where nothing is shared. */
#define NAMES_UNTOUCHED(copy)                                                  \
    (cuda_is_untouched(HOST_SIDE(copy), 1) ||                                  \
     ((copy).src_type == CUDA_MEMORY_HOST &&                                   \
      (copy).dst_type == CUDA_MEMORY_HOST &&                                   \
      cuda_is_untouched((copy).dst_host, 1)))

/* `args` use the changed description `copy`. */
#define RECT(type, enter_it, asked, waits, stream, per_thread, real, args,     \
             untouched_args)                                                   \
    ({                                                                         \
        CUresult rect_result;                                                  \
        if (!asked) {                                                          \
            rect_result = CUDA_CALL(real, untouched_args);                     \
        } else if (NAMES_UNTOUCHED(*asked) ||                                  \
                   !CUDA_PASSES(&rect_result, real, untouched_args)) {         \
            type copy = *asked;                                                \
            struct device_work rect_work = cuda_work(stream, per_thread);      \
            rect_result =                                                      \
                (waits) ? cuda_wait_ahead(rect_work.order) : CUDA_SUCCESS;     \
            rect_work.host = HOST_SIDE(copy);                                  \
            DEVICE_STAYS;                                                      \
            if (!rect_result)                                                  \
                rect_result = enter_it(&rect_work, &copy);                     \
            const void *rect_host = HOST_SIDE(copy);                           \
            if (!rect_result)                                                  \
                rect_result = cuda_done(                                       \
                    &rect_work,                                                \
                    CUDA_SUBMIT_HOST(&rect_work, rect_host, real, args));      \
        }                                                                      \
        rect_result;                                                           \
    })

#define RECT_2D(waits, stream, per_thread, real, args, untouched_args)         \
    RECT(struct cuda_copy2d, enter_2d, asked, waits, stream, per_thread, real, \
         args, untouched_args)

#define RECT_PEER(waits, stream, per_thread, real, args, untouched_args)       \
    RECT(struct cuda_copy3d, enter_peer, asked, waits, stream, per_thread,     \
         real, args, untouched_args)

#define RECT_3D(waits, stream, per_thread, real, args, untouched_args)         \
    RECT(struct cuda_copy3d, enter_3d, asked, waits, stream, per_thread, real, \
         args, untouched_args)

/* The aligned form refuses device-side pitches that were good enough for host
 * memory: a copy that was changed goes to the unaligned one. */
static bool is_changed(const struct cuda_copy2d *copy,
                       const struct cuda_copy2d *asked)
{
    return copy->src_type != asked->src_type ||
           copy->dst_type != asked->dst_type;
}

CUresult cuMemcpy2D_v2(const struct cuda_copy2d *asked)
{
    CUresult passed;
    if (!asked)
        return CUDA_CALL(cuMemcpy2D_v2, (asked));
    if (!NAMES_UNTOUCHED(*asked) &&
        CUDA_PASSES(&passed, cuMemcpy2D_v2, (asked)))
        return passed;
    struct cuda_copy2d copy = *asked;
    struct device_work work = cuda_work(NULL, false);
    CUresult result = cuda_wait_ahead(work.order);
    DEVICE_STAYS;
    if (!result)
        result = enter_2d(&work, &copy);
    if (result)
        return result;
    return cuda_done(&work, is_changed(&copy, asked)
                                ? CUDA_SUBMIT(cuMemcpy2DUnaligned_v2, (&copy))
                                : CUDA_SUBMIT(cuMemcpy2D_v2, (&copy)));
}

CUresult cuMemcpy2D_v2_ptds(const struct cuda_copy2d *asked)
{
    CUresult passed;
    if (!asked)
        return CUDA_CALL(cuMemcpy2D_v2_ptds, (asked));
    if (!NAMES_UNTOUCHED(*asked) &&
        CUDA_PASSES(&passed, cuMemcpy2D_v2_ptds, (asked)))
        return passed;
    struct cuda_copy2d copy = *asked;
    struct device_work work = cuda_work(NULL, true);
    CUresult result = cuda_wait_ahead(work.order);
    DEVICE_STAYS;
    if (!result)
        result = enter_2d(&work, &copy);
    if (result)
        return result;
    return cuda_done(&work,
                     is_changed(&copy, asked)
                         ? CUDA_SUBMIT(cuMemcpy2DUnaligned_v2_ptds, (&copy))
                         : CUDA_SUBMIT(cuMemcpy2D_v2_ptds, (&copy)));
}

CUresult cuMemcpy2DUnaligned_v2(const struct cuda_copy2d *asked)
{
    return RECT_2D(true, NULL, false, cuMemcpy2DUnaligned_v2, (&copy), (asked));
}

CUresult cuMemcpy2DUnaligned_v2_ptds(const struct cuda_copy2d *asked)
{
    return RECT_2D(true, NULL, true, cuMemcpy2DUnaligned_v2_ptds, (&copy),
                   (asked));
}

CUresult cuMemcpy2DAsync_v2(const struct cuda_copy2d *asked, CUstream stream)
{
    return RECT_2D(false, stream, false, cuMemcpy2DAsync_v2, (&copy, stream),
                   (asked, stream));
}

CUresult cuMemcpy2DAsync_v2_ptsz(const struct cuda_copy2d *asked,
                                 CUstream stream)
{
    return RECT_2D(false, stream, true, cuMemcpy2DAsync_v2_ptsz,
                   (&copy, stream), (asked, stream));
}

CUresult cuMemcpy3D_v2(const struct cuda_copy3d *asked)
{
    return RECT_3D(true, NULL, false, cuMemcpy3D_v2, (&copy), (asked));
}

CUresult cuMemcpy3D_v2_ptds(const struct cuda_copy3d *asked)
{
    return RECT_3D(true, NULL, true, cuMemcpy3D_v2_ptds, (&copy), (asked));
}

CUresult cuMemcpy3DAsync_v2(const struct cuda_copy3d *asked, CUstream stream)
{
    return RECT_3D(false, stream, false, cuMemcpy3DAsync_v2, (&copy, stream),
                   (asked, stream));
}

CUresult cuMemcpy3DAsync_v2_ptsz(const struct cuda_copy3d *asked,
                                 CUstream stream)
{
    return RECT_3D(false, stream, true, cuMemcpy3DAsync_v2_ptsz,
                   (&copy, stream), (asked, stream));
}

CUresult cuMemcpy3DPeer(const struct cuda_copy3d *asked)
{
    return RECT_PEER(true, NULL, false, cuMemcpy3DPeer, (&copy), (asked));
}

CUresult cuMemcpy3DPeer_ptds(const struct cuda_copy3d *asked)
{
    return RECT_PEER(true, NULL, true, cuMemcpy3DPeer_ptds, (&copy), (asked));
}

CUresult cuMemcpy3DPeerAsync(const struct cuda_copy3d *asked, CUstream stream)
{
    return RECT_PEER(false, stream, false, cuMemcpy3DPeerAsync, (&copy, stream),
                     (asked, stream));
}

CUresult cuMemcpy3DPeerAsync_ptsz(const struct cuda_copy3d *asked,
                                  CUstream stream)
{
    return RECT_PEER(false, stream, true, cuMemcpy3DPeerAsync_ptsz,
                     (&copy, stream), (asked, stream));
}
