/*
 * Owns: the entry points of copies and memsets.
 * Does not own: how bytes move (copy.c, the device process).  No lock.
 */
#include "driver/array.h"
#include "driver/capture.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/handle.h"
#include "driver/memory.h"
#include "driver/output.h"
#include "driver/stream.h"

static uint64_t of_pointer(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* A copy within one device: its process moves the bytes. */
static struct sc_op *make_inside(const struct sc_copy *copy, CUcontext ctx)
{
    struct sc_op *op = sc_op_new(SC_OP_COMPUTE, copy->dst.device, ctx);
    if (!op)
        return NULL;
    /* fits into the operation itself */
    struct sc_command_copy *c = sc_op_command(op, SC_COMMAND_COPY, sizeof *c);
    c->dst = copy->dst.base;
    c->src = copy->src.base;
    c->dst_pitch = copy->dst.pitch;
    c->dst_slice = copy->dst.slice;
    c->src_pitch = copy->src.pitch;
    c->src_slice = copy->src.slice;
    c->width = copy->width;
    c->height = copy->height;
    c->depth = copy->depth;
    return op;
}

CUresult sc_copy_make(struct sc_copy *copy, CUcontext ctx, struct sc_op **op)
{
    SC_TRY(sc_copy_classify(copy, ctx));
    struct sc_device *to = copy->dst.device, *from = copy->src.device;
    if (to && to == from) {
        *op = make_inside(copy, ctx);
    } else {
        struct sc_device *device = from ? from : to ? to : ctx->device;
        *op = sc_op_new(from ? SC_OP_DOWNLOAD : SC_OP_UPLOAD, device, ctx);
        if (*op)
            (*op)->copy = *copy;
    }
    return *op ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Sides are told apart by their addresses again when the graph is launched. */
static CUresult capture(CUstream stream, const struct sc_copy *copy)
{
    struct sc_work work = {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
                           .ctx = stream->ctx};
    const struct sc_copy_side *src = &copy->src, *dst = &copy->dst;
    work.copy =
        (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                        .srcDevice = src->base,
                        .srcPitch = src->pitch,
                        .srcHeight = src->pitch ? src->slice / src->pitch : 0,
                        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                        .dstDevice = dst->base,
                        .dstPitch = dst->pitch,
                        .dstHeight = dst->pitch ? dst->slice / dst->pitch : 0,
                        .WidthInBytes = copy->width,
                        .Height = copy->height,
                        .Depth = copy->depth};
    return sc_capture_add(stream, &work);
}

/* One copy in one stream.  A host buffer that is not page-locked must not be
 * used after the call returns, so such a copy runs on the calling thread. */
static CUresult submit(struct sc_copy *copy, CUstream handle, bool async)
{
    CUcontext ctx;
    CUstream stream;
    struct sc_op *op;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_stream_resolve(handle, &ctx, &stream));
    if (sc_copy_bytes(copy) == 0)
        return CUDA_SUCCESS;
    if (sc_captures(stream))
        return async ? capture(stream, copy) : sc_capture_refuse(stream);
    SC_TRY(sc_copy_make(copy, ctx, &op));
    if (op->kind == SC_OP_COMPUTE || (async && sc_copy_is_pinned(copy))) {
        if (op->kind != SC_OP_COMPUTE && sc_copy_is_short(copy))
            sc_op_run_if_ready(op, stream);
        else
            sc_op_submit(op, stream);
        return CUDA_SUCCESS;
    }
    CUresult result = sc_op_run(op, stream);
    sc_output_drain(ctx->device);
    return result;
}

enum side { ANY, DEVICE };

static CUresult linear(uint64_t dst, enum side dst_side, uint64_t src,
                       enum side src_side, size_t bytes, CUstream stream,
                       bool async)
{
    struct sc_copy copy;
    if ((dst_side == DEVICE && bytes && !sc_memory_in_window(dst)) ||
        (src_side == DEVICE && bytes && !sc_memory_in_window(src)))
        return sc_enter() ? CUDA_ERROR_NOT_INITIALIZED
                          : CUDA_ERROR_INVALID_VALUE;
    sc_copy_linear(&copy, dst, src, bytes);
    return submit(&copy, stream, async);
}

SC_API cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return linear(dst, ANY, src, ANY, ByteCount, NULL, false);
}

SC_API cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount,
                     CUstream hStream)
{
    return linear(dst, ANY, src, ANY, ByteCount, hStream, true);
}

SC_API cuMemcpyHtoD(CUdeviceptr dstDevice, const void *srcHost,
                    size_t ByteCount)
{
    return linear(dstDevice, DEVICE, of_pointer(srcHost), ANY, ByteCount, NULL,
                  false);
}

SC_API cuMemcpyDtoH(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return linear(of_pointer(dstHost), ANY, srcDevice, DEVICE, ByteCount, NULL,
                  false);
}

SC_API cuMemcpyDtoD(CUdeviceptr dstDevice, CUdeviceptr srcDevice,
                    size_t ByteCount)
{
    return linear(dstDevice, DEVICE, srcDevice, DEVICE, ByteCount, NULL, false);
}

SC_API cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost,
                         size_t ByteCount, CUstream hStream)
{
    return linear(dstDevice, DEVICE, of_pointer(srcHost), ANY, ByteCount,
                  hStream, true);
}

SC_API cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                         CUstream hStream)
{
    return linear(of_pointer(dstHost), ANY, srcDevice, DEVICE, ByteCount,
                  hStream, true);
}

SC_API cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice,
                         size_t ByteCount, CUstream hStream)
{
    return linear(dstDevice, DEVICE, srcDevice, DEVICE, ByteCount, hStream,
                  true);
}

/* A copy between contexts that is not in a stream follows all their work. The
 * current one's is ahead of it in any case. */
static CUresult await_peers(CUcontext dst, CUcontext src)
{
    CUcontext both[] = {dst, src};
    SC_TRY(sc_enter());
    for (int i = 0; i < 2; i++) {
        if (!both[i] || both[i] == sc_context_current())
            continue;
        if (!sc_handle_is(both[i], SC_HANDLE_CONTEXT))
            return CUDA_ERROR_INVALID_CONTEXT;
        SC_TRY(sc_context_wait(both[i]));
    }
    return CUDA_SUCCESS;
}

SC_API cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext,
                    CUdeviceptr srcDevice, CUcontext srcContext,
                    size_t ByteCount)
{
    SC_TRY(await_peers(dstContext, srcContext));
    return linear(dstDevice, DEVICE, srcDevice, DEVICE, ByteCount, NULL, false);
}

/* The contexts only name devices, which the addresses do already. */
SC_API cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
                         CUdeviceptr srcDevice, CUcontext srcContext,
                         size_t ByteCount, CUstream hStream)
{
    (void)dstContext;
    (void)srcContext;
    return linear(dstDevice, DEVICE, srcDevice, DEVICE, ByteCount, hStream,
                  true);
}

/* One side of a 2-D or 3-D copy, from the fields of the call's structure. */
struct side_fields {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, level, pitch, height;
};

static CUresult shaped_side(struct sc_copy_side *side,
                            const struct side_fields *f,
                            const struct sc_copy *copy)
{
    uint64_t base =
        f->type == CU_MEMORYTYPE_HOST ? of_pointer(f->host) : f->device;
    if (f->level != 0)
        return CUDA_ERROR_INVALID_VALUE; /* of mipmaps, which there are none */
    if (f->type == CU_MEMORYTYPE_ARRAY)
        return sc_array_side(f->array, f->x, f->y, f->z, copy, side);
    if (f->type < CU_MEMORYTYPE_HOST || f->type > CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    if (f->type == CU_MEMORYTYPE_DEVICE && !sc_memory_in_window(f->device))
        return CUDA_ERROR_INVALID_VALUE;
    size_t pitch = f->pitch ? f->pitch : copy->width;
    size_t height = f->height ? f->height : copy->height;
    if (pitch < copy->width && (copy->height > 1 || copy->depth > 1))
        return CUDA_ERROR_INVALID_VALUE;
    side->pitch = pitch;
    side->slice = pitch * height;
    side->base = base + f->z * side->slice + f->y * pitch + f->x;
    return CUDA_SUCCESS;
}

CUresult sc_copy_shape(const CUDA_MEMCPY3D *p, struct sc_copy *copy)
{
    *copy = (struct sc_copy){
        .width = p->WidthInBytes, .height = p->Height, .depth = p->Depth};
    if (sc_copy_bytes(copy) == 0)
        return CUDA_SUCCESS;
    struct side_fields src = {
        p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes,
        p->srcY,          p->srcZ,    p->srcLOD,    p->srcPitch, p->srcHeight};
    struct side_fields dst = {
        p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes,
        p->dstY,          p->dstZ,    p->dstLOD,    p->dstPitch, p->dstHeight};
    SC_TRY(shaped_side(&copy->src, &src, copy));
    return shaped_side(&copy->dst, &dst, copy);
}

static CUresult copy_3d(const CUDA_MEMCPY3D *p, CUstream stream, bool async)
{
    struct sc_copy copy;
    SC_TRY(sc_enter());
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(sc_copy_shape(p, &copy));
    return submit(&copy, stream, async);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *p, CUstream stream, bool async)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D q = {.srcXInBytes = p->srcXInBytes,
                       .srcY = p->srcY,
                       .srcMemoryType = p->srcMemoryType,
                       .srcHost = p->srcHost,
                       .srcDevice = p->srcDevice,
                       .srcArray = p->srcArray,
                       .srcPitch = p->srcPitch,
                       .dstXInBytes = p->dstXInBytes,
                       .dstY = p->dstY,
                       .dstMemoryType = p->dstMemoryType,
                       .dstHost = p->dstHost,
                       .dstDevice = p->dstDevice,
                       .dstArray = p->dstArray,
                       .dstPitch = p->dstPitch,
                       .WidthInBytes = p->WidthInBytes,
                       .Height = p->Height,
                       .Depth = 1};
    return copy_3d(&q, stream, async);
}

SC_API cuMemcpy2D(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, NULL, false);
}

SC_API cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, NULL, false);
}

SC_API cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    return copy_2d(pCopy, hStream, true);
}

SC_API cuMemcpy3D(const CUDA_MEMCPY3D *pCopy)
{
    return copy_3d(pCopy, NULL, false);
}

SC_API cuMemcpy3DAsync(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return copy_3d(pCopy, hStream, true);
}

static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *p, CUstream stream,
                             bool async)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D q = {.srcXInBytes = p->srcXInBytes,
                       .srcY = p->srcY,
                       .srcZ = p->srcZ,
                       .srcLOD = p->srcLOD,
                       .srcMemoryType = p->srcMemoryType,
                       .srcHost = p->srcHost,
                       .srcDevice = p->srcDevice,
                       .srcArray = p->srcArray,
                       .srcPitch = p->srcPitch,
                       .srcHeight = p->srcHeight,
                       .dstXInBytes = p->dstXInBytes,
                       .dstY = p->dstY,
                       .dstZ = p->dstZ,
                       .dstLOD = p->dstLOD,
                       .dstMemoryType = p->dstMemoryType,
                       .dstHost = p->dstHost,
                       .dstDevice = p->dstDevice,
                       .dstArray = p->dstArray,
                       .dstPitch = p->dstPitch,
                       .dstHeight = p->dstHeight,
                       .WidthInBytes = p->WidthInBytes,
                       .Height = p->Height,
                       .Depth = p->Depth};
    return copy_3d(&q, stream, async);
}

SC_API cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy)
{
    if (pCopy)
        SC_TRY(await_peers(pCopy->dstContext, pCopy->srcContext));
    return copy_3d_peer(pCopy, NULL, false);
}

SC_API cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
    return copy_3d_peer(pCopy, hStream, true);
}
