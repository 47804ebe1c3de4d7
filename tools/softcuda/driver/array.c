/*
 * Owns: CUDA arrays and their entry points.
 * Does not own: shaped copies (api_copy.c), textures (texture.c), memory
 * (alloc.c).  Lock: `lock`, rank 4, for the list.
 */
#include "driver/array.h"

#include <pthread.h>
#include <stdlib.h>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/handle.h"
#include "driver/memory.h"

/* Rows begin where a texture of pitched memory may begin them. */
#define ROW_ALIGN 32u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUarray arrays;

unsigned sc_array_texel(CUarray_format format, unsigned channels)
{
    unsigned bytes = 0;
    if (channels != 1 && channels != 2 && channels != 4)
        return 0;
    switch ((int)format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        bytes = 1;
        break;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        bytes = 2;
        break;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        bytes = 4;
        break;
    default:
        break;
    }
    return bytes * channels;
}

uint64_t sc_array_rows(CUarray array)
{
    return array->desc.Height ? array->desc.Height : 1;
}

uint64_t sc_array_slices(CUarray array)
{
    return array->desc.Depth ? array->desc.Depth : 1;
}

static bool fits(const CUDA_ARRAY3D_DESCRIPTOR *d, size_t width, size_t height,
                 size_t depth)
{
    return d->Width <= width && d->Height <= height && d->Depth <= depth;
}

/* The sides a capability of 9.0 allows, as the attributes tell them. */
static CUresult check_sides(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    bool layered = d->Flags & CUDA_ARRAY3D_LAYERED;
    bool ok;
    if (d->Flags & CUDA_ARRAY3D_CUBEMAP)
        ok = d->Width == d->Height && d->Depth % 6 == 0 && d->Depth > 0 &&
             (layered || d->Depth == 6) && fits(d, 32768, 32768, 2046);
    else if (layered)
        ok = d->Depth > 0 && fits(d, 32768, 32768, 2048);
    else if (d->Depth > 0)
        ok = d->Height > 0 &&
             (fits(d, 16384, 16384, 16384) || fits(d, 8192, 8192, 32768));
    else
        ok = fits(d, 131072, 65536, 0);
    return ok && d->Width > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const unsigned known = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |
                           CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
    if (d->Flags & ~known) {
        sc_say("arrays with the flags %#x are not supported",
               d->Flags & ~known);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!sc_array_texel(d->Format, d->NumChannels)) {
        /* Video and block-compressed formats are numbered from here on. */
        if ((unsigned)d->Format <= CU_AD_FORMAT_FLOAT)
            return CUDA_ERROR_INVALID_VALUE;
        sc_say("arrays of format %#x are not supported", (unsigned)d->Format);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if ((d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER) &&
        (d->Height == 0 || d->Depth > 0))
        return CUDA_ERROR_INVALID_VALUE;
    return check_sides(d);
}

static CUresult create(CUarray *out, CUcontext ctx,
                       const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    CUarray array = calloc(1, sizeof *array);
    if (!array)
        return CUDA_ERROR_OUT_OF_MEMORY;
    array->ctx = ctx;
    array->desc = *desc;
    array->texel_bytes = sc_array_texel(desc->Format, desc->NumChannels);
    array->pitch = desc->Width * array->texel_bytes;
    array->pitch = (array->pitch + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    array->slice = array->pitch * sc_array_rows(array);
    CUresult result =
        sc_alloc(ctx, array->slice * sc_array_slices(array), &array->address);
    if (result == CUDA_SUCCESS)
        sc_alloc_conceal(array->address);
    if (result == CUDA_SUCCESS && !sc_handle_add(array, SC_HANDLE_ARRAY)) {
        sc_alloc_free(array->address);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result != CUDA_SUCCESS) {
        free(array);
        return result;
    }
    pthread_mutex_lock(&lock);
    array->next = arrays;
    arrays = array;
    pthread_mutex_unlock(&lock);
    *out = array;
    return CUDA_SUCCESS;
}

SC_API cuArray3DCreate(CUarray *pHandle,
                       const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    if (!pHandle || !pAllocateArray)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(check(pAllocateArray));
    return create(pHandle, ctx, pAllocateArray);
}

SC_API cuArrayCreate(CUarray *pHandle,
                     const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    if (!pAllocateArray)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = pAllocateArray->Width,
                                 .Height = pAllocateArray->Height,
                                 .Format = pAllocateArray->Format,
                                 .NumChannels = pAllocateArray->NumChannels};
    return cuArray3DCreate(pHandle, &d);
}

static CUresult find(CUarray array)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    return sc_handle_is(array, SC_HANDLE_ARRAY) ? CUDA_SUCCESS
                                                : CUDA_ERROR_INVALID_HANDLE;
}

SC_API cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor,
                              CUarray hArray)
{
    SC_TRY(find(hArray));
    if (!pArrayDescriptor)
        return CUDA_ERROR_INVALID_VALUE;
    *pArrayDescriptor = hArray->desc;
    return CUDA_SUCCESS;
}

SC_API cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor,
                            CUarray hArray)
{
    SC_TRY(find(hArray));
    if (!pArrayDescriptor)
        return CUDA_ERROR_INVALID_VALUE;
    *pArrayDescriptor =
        (CUDA_ARRAY_DESCRIPTOR){hArray->desc.Width, hArray->desc.Height,
                                hArray->desc.Format, hArray->desc.NumChannels};
    return CUDA_SUCCESS;
}

/* Take an array, or the first one of a context, out of the list. */
static CUarray unlink_one(CUarray array, CUcontext ctx)
{
    pthread_mutex_lock(&lock);
    CUarray *p = &arrays;
    while (*p && *p != array && (*p)->ctx != ctx)
        p = &(*p)->next;
    CUarray found = *p;
    if (found)
        *p = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Destroying must work on a lost device too. */
SC_API cuArrayDestroy(CUarray hArray)
{
    SC_TRY(sc_enter());
    if (!sc_handle_is(hArray, SC_HANDLE_ARRAY))
        return CUDA_ERROR_INVALID_HANDLE;
    sc_handle_remove(hArray);
    if (!unlink_one(hArray, NULL))
        return CUDA_ERROR_INVALID_HANDLE;
    sc_alloc_free(hArray->address);
    free(hArray);
    return CUDA_SUCCESS;
}

void sc_array_free_context(CUcontext ctx)
{
    CUarray array;
    while ((array = unlink_one(NULL, ctx))) {
        sc_handle_remove(array);
        free(array);
    }
}

static bool is_inside(uint64_t at, uint64_t count, uint64_t all)
{
    return at <= all && count <= all - at;
}

CUresult sc_array_side(CUarray array, size_t x, size_t y, size_t z,
                       const struct sc_copy *copy, struct sc_copy_side *side)
{
    if (!sc_handle_is(array, SC_HANDLE_ARRAY))
        return CUDA_ERROR_INVALID_HANDLE;
    if (x % array->texel_bytes || copy->width % array->texel_bytes ||
        !is_inside(x, copy->width, array->desc.Width * array->texel_bytes) ||
        !is_inside(y, copy->height, sc_array_rows(array)) ||
        !is_inside(z, copy->depth, sc_array_slices(array)))
        return CUDA_ERROR_INVALID_VALUE;
    side->pitch = array->pitch;
    side->slice = array->slice;
    side->base = array->address + z * array->slice + y * array->pitch + x;
    return CUDA_SUCCESS;
}

/* Copies of a line between a one-dimensional array and something else. */
static CUresult line(CUDA_MEMCPY3D *copy, CUarray dst, size_t dst_offset,
                     CUarray src, size_t src_offset, size_t bytes)
{
    SC_TRY(sc_enter());
    if (dst) {
        copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy->dstArray = dst;
        copy->dstXInBytes = dst_offset;
    }
    if (src) {
        copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy->srcArray = src;
        copy->srcXInBytes = src_offset;
    }
    if ((dst && !sc_handle_is(dst, SC_HANDLE_ARRAY)) ||
        (src && !sc_handle_is(src, SC_HANDLE_ARRAY)) || (!dst && !src))
        return CUDA_ERROR_INVALID_HANDLE;
    if ((dst && dst->desc.Height) || (src && src->desc.Height))
        return CUDA_ERROR_INVALID_VALUE;
    copy->WidthInBytes = bytes;
    copy->Height = 1;
    copy->Depth = 1;
    return CUDA_SUCCESS;
}

SC_API cuMemcpyDtoA(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
                    size_t ByteCount)
{
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = srcDevice};
    SC_TRY(line(&c, dstArray, dstOffset, NULL, 0, ByteCount));
    return cuMemcpy3D(&c);
}

SC_API cuMemcpyAtoD(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
                    size_t ByteCount)
{
    CUDA_MEMCPY3D c = {.dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = dstDevice};
    SC_TRY(line(&c, NULL, 0, srcArray, srcOffset, ByteCount));
    return cuMemcpy3D(&c);
}

SC_API cuMemcpyHtoA(CUarray dstArray, size_t dstOffset, const void *srcHost,
                    size_t ByteCount)
{
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = srcHost};
    SC_TRY(line(&c, dstArray, dstOffset, NULL, 0, ByteCount));
    return cuMemcpy3D(&c);
}

SC_API cuMemcpyAtoH(void *dstHost, CUarray srcArray, size_t srcOffset,
                    size_t ByteCount)
{
    CUDA_MEMCPY3D c = {.dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = dstHost};
    SC_TRY(line(&c, NULL, 0, srcArray, srcOffset, ByteCount));
    return cuMemcpy3D(&c);
}

SC_API cuMemcpyAtoA(CUarray dstArray, size_t dstOffset, CUarray srcArray,
                    size_t srcOffset, size_t ByteCount)
{
    CUDA_MEMCPY3D c = {0};
    if (!dstArray || !srcArray)
        return CUDA_ERROR_INVALID_HANDLE;
    SC_TRY(line(&c, dstArray, dstOffset, srcArray, srcOffset, ByteCount));
    return cuMemcpy3D(&c);
}

SC_API cuMemcpyHtoAAsync(CUarray dstArray, size_t dstOffset,
                         const void *srcHost, size_t ByteCount,
                         CUstream hStream)
{
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = srcHost};
    SC_TRY(line(&c, dstArray, dstOffset, NULL, 0, ByteCount));
    return cuMemcpy3DAsync(&c, hStream);
}

SC_API cuMemcpyAtoHAsync(void *dstHost, CUarray srcArray, size_t srcOffset,
                         size_t ByteCount, CUstream hStream)
{
    CUDA_MEMCPY3D c = {.dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = dstHost};
    SC_TRY(line(&c, NULL, 0, srcArray, srcOffset, ByteCount));
    return cuMemcpy3DAsync(&c, hStream);
}
