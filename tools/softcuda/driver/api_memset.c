/*
 * Owns: the entry points of memsets.
 * Does not own: the filling (the device process).  No lock.
 */
#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory.h"
#include "driver/stream.h"

/* Asynchronous for the caller in every form, as on hardware. */
static CUresult fill(CUdeviceptr dst, size_t pitch, unsigned value,
                     uint32_t element_bytes, size_t width, size_t height,
                     CUstream handle)
{
    CUcontext ctx;
    CUstream stream;
    struct sc_block block;
    uint64_t row, rows, bytes;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_stream_resolve(handle, &ctx, &stream));
    if (width == 0 || height == 0)
        return CUDA_SUCCESS;
    if (__builtin_mul_overflow(width, (uint64_t)element_bytes, &row) ||
        __builtin_mul_overflow(pitch, (uint64_t)(height - 1), &rows) ||
        __builtin_add_overflow(row, rows, &bytes) || dst % element_bytes ||
        (height > 1 && (pitch < row || pitch % element_bytes)) ||
        !sc_memory_covers(dst, bytes) || !sc_memory_lookup(dst, &block))
        return CUDA_ERROR_INVALID_VALUE;
    struct sc_device *device = block.device ? block.device : ctx->device;
    struct sc_op *op = sc_op_new(SC_OP_COMPUTE, device, ctx);
    struct sc_command_fill *c =
        op ? sc_op_command(op, SC_COMMAND_FILL, sizeof *c) : NULL;
    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    c->address = dst;
    c->pitch = pitch;
    c->width = width;
    c->height = height;
    c->element_bytes = element_bytes;
    c->value = value;
    /* a page-locked target may be read by the program at once */
    if (!block.device)
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
