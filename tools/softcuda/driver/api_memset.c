/*
 * Owns: the entry points of memsets.
 * Does not own: the filling (the device process).  No lock.
 */
#include "driver/capture.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory.h"
#include "driver/stream.h"

CUresult sc_fill_make(const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext ctx,
                      struct sc_op **op, bool *on_host)
{
    struct sc_block block;
    uint64_t row, rows, bytes;
    unsigned size = fill->elementSize;
    if (size != 1 && size != 2 && size != 4)
        return CUDA_ERROR_INVALID_VALUE;
    if (fill->width == 0 || fill->height == 0 ||
        __builtin_mul_overflow(fill->width, (uint64_t)size, &row) ||
        __builtin_mul_overflow(fill->pitch, (uint64_t)(fill->height - 1),
                               &rows) ||
        __builtin_add_overflow(row, rows, &bytes) || fill->dst % size ||
        (fill->height > 1 && (fill->pitch < row || fill->pitch % size)) ||
        !sc_memory_covers(fill->dst, bytes) ||
        !sc_memory_lookup(fill->dst, &block))
        return CUDA_ERROR_INVALID_VALUE;
    struct sc_device *device = block.device ? block.device : ctx->device;
    *op = sc_op_new(SC_OP_COMPUTE, device, ctx);
    if (!*op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* fits into the operation itself */
    struct sc_command_fill *c = sc_op_command(*op, SC_COMMAND_FILL, sizeof *c);
    c->address = fill->dst;
    c->pitch = fill->pitch;
    c->width = fill->width;
    c->height = fill->height;
    c->element_bytes = size;
    c->value = fill->value;
    if (on_host)
        *on_host = !block.device;
    return CUDA_SUCCESS;
}

/* Asynchronous for the caller in every form, as on hardware. */
static CUresult fill(CUdeviceptr dst, size_t pitch, unsigned value,
                     uint32_t element_bytes, size_t width, size_t height,
                     CUstream handle)
{
    CUcontext ctx;
    CUstream stream;
    struct sc_op *op;
    bool on_host;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_stream_resolve(handle, &ctx, &stream));
    if (width == 0 || height == 0)
        return CUDA_SUCCESS;
    struct sc_work work = {
        .type = CU_GRAPH_NODE_TYPE_MEMSET,
        .ctx = ctx,
        .fill = {dst, pitch, value, element_bytes, width, height}};
    if (sc_captures(stream))
        return sc_capture_add(stream, &work);
    SC_TRY(sc_fill_make(&work.fill, ctx, &op, &on_host));
    /* a page-locked target may be read by the program at once */
    if (on_host)
        return sc_op_submit_wait(op, stream);
    sc_op_submit(op, stream);
    return CUDA_SUCCESS;
}

SC_API cuMemsetD8(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
    return fill(dstDevice, N, uc, 1, N, 1, NULL);
}

SC_API cuMemsetD16(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
    return fill(dstDevice, 0, us, 2, N, 1, NULL);
}

SC_API cuMemsetD32(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
    return fill(dstDevice, 0, ui, 4, N, 1, NULL);
}

SC_API cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N,
                       CUstream hStream)
{
    return fill(dstDevice, 0, uc, 1, N, 1, hStream);
}

SC_API cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N,
                        CUstream hStream)
{
    return fill(dstDevice, 0, us, 2, N, 1, hStream);
}

SC_API cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N,
                        CUstream hStream)
{
    return fill(dstDevice, 0, ui, 4, N, 1, hStream);
}

SC_API cuMemsetD2D8(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
                    size_t Width, size_t Height)
{
    return fill(dstDevice, dstPitch, uc, 1, Width, Height, NULL);
}

SC_API cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
                     size_t Width, size_t Height)
{
    return fill(dstDevice, dstPitch, us, 2, Width, Height, NULL);
}

SC_API cuMemsetD2D32(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
                     size_t Width, size_t Height)
{
    return fill(dstDevice, dstPitch, ui, 4, Width, Height, NULL);
}

SC_API cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch,
                         unsigned char uc, size_t Width, size_t Height,
                         CUstream hStream)
{
    return fill(dstDevice, dstPitch, uc, 1, Width, Height, hStream);
}

SC_API cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch,
                          unsigned short us, size_t Width, size_t Height,
                          CUstream hStream)
{
    return fill(dstDevice, dstPitch, us, 2, Width, Height, hStream);
}

SC_API cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch,
                          unsigned int ui, size_t Width, size_t Height,
                          CUstream hStream)
{
    return fill(dstDevice, dstPitch, ui, 4, Width, Height, hStream);
}
