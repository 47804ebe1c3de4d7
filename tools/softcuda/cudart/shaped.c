/*
 * Owns: copies and fills of two and three dimensions, arrays among them.
 * Does not own: what an array is (array.c), runs of bytes in one (linear.c).
 *
 * Every one becomes the driver's CUDA_MEMCPY3D: x in bytes there, in elements
 * here where an array takes part.
 */
#include "cudart/array.h"
#include "cudart/copy.h"
#include "cudart/shaped.h"

static CUmemorytype from_type(enum cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    return kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice
               ? CU_MEMORYTYPE_HOST
               : CU_MEMORYTYPE_DEVICE;
}

static CUmemorytype to_type(enum cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    return kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost
               ? CU_MEMORYTYPE_HOST
               : CU_MEMORYTYPE_DEVICE;
}

static void set_from(CUDA_MEMCPY3D *c, const void *p, enum cudaMemcpyKind kind)
{
    c->srcMemoryType = from_type(kind);
    if (c->srcMemoryType == CU_MEMORYTYPE_HOST)
        c->srcHost = p;
    else
        c->srcDevice = (CUdeviceptr)(uintptr_t)p;
}

static void set_to(CUDA_MEMCPY3D *c, void *p, enum cudaMemcpyKind kind)
{
    c->dstMemoryType = to_type(kind);
    if (c->dstMemoryType == CU_MEMORYTYPE_HOST)
        c->dstHost = p;
    else
        c->dstDevice = (CUdeviceptr)(uintptr_t)p;
}

static cudaError_t run(const CUDA_MEMCPY3D *c, struct sc_rt_when when)
{
    if (c->WidthInBytes == 0 || c->Height == 0 || c->Depth == 0)
        return cudaSuccess;
    if (when.wait && !when.stream)
        return SC_RT_DRIVER(cuMemcpy3D(c));
    return sc_rt_finish(cuMemcpy3DAsync(c, when.stream), when);
}

static cudaError_t check_kind(enum cudaMemcpyKind kind)
{
    SC_RT_TRY(sc_rt_enter());
    return (unsigned)kind <= cudaMemcpyDefault
               ? cudaSuccess
               : cudaErrorInvalidMemcpyDirection;
}

static cudaError_t copy_2d(void *dst, size_t dpitch, const void *src,
                           size_t spitch, size_t width, size_t height,
                           enum cudaMemcpyKind kind, struct sc_rt_when when)
{
    CUDA_MEMCPY3D c = {.srcPitch = spitch,
                       .dstPitch = dpitch,
                       .WidthInBytes = width,
                       .Height = height,
                       .Depth = 1};
    SC_RT_TRY(check_kind(kind));
    if (width > dpitch || width > spitch)
        return cudaErrorInvalidPitchValue;
    set_from(&c, src, kind);
    set_to(&c, dst, kind);
    return run(&c, when);
}

cudaError_t sc_rt_to_array(cudaArray_t dst, size_t x, size_t y, const void *src,
                           size_t spitch, size_t width, size_t height,
                           enum cudaMemcpyKind kind, struct sc_rt_when when)
{
    CUDA_MEMCPY3D c = {.srcPitch = spitch,
                       .dstXInBytes = x,
                       .dstY = y,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = (CUarray)dst,
                       .WidthInBytes = width,
                       .Height = height,
                       .Depth = 1};
    SC_RT_TRY(check_kind(kind));
    if (width > spitch)
        return cudaErrorInvalidPitchValue;
    set_from(&c, src, kind);
    return run(&c, when);
}

cudaError_t sc_rt_from_array(void *dst, size_t dpitch, cudaArray_const_t src,
                             size_t x, size_t y, size_t width, size_t height,
                             enum cudaMemcpyKind kind, struct sc_rt_when when)
{
    CUDA_MEMCPY3D c = {.srcXInBytes = x,
                       .srcY = y,
                       .srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = (CUarray)src,
                       .dstPitch = dpitch,
                       .WidthInBytes = width,
                       .Height = height,
                       .Depth = 1};
    SC_RT_TRY(check_kind(kind));
    if (width > dpitch)
        return cudaErrorInvalidPitchValue;
    set_to(&c, dst, kind);
    return run(&c, when);
}

cudaError_t sc_rt_between_arrays(cudaArray_t dst, size_t dx, size_t dy,
                                 cudaArray_const_t src, size_t sx, size_t sy,
                                 size_t width, size_t height,
                                 struct sc_rt_when when)
{
    CUDA_MEMCPY3D c = {.srcXInBytes = sx,
                       .srcY = sy,
                       .srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = (CUarray)src,
                       .dstXInBytes = dx,
                       .dstY = dy,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = (CUarray)dst,
                       .WidthInBytes = width,
                       .Height = height,
                       .Depth = 1};
    SC_RT_TRY(sc_rt_enter());
    return run(&c, when);
}

/* The elements that extents and positions count in: those of the array that
 * takes part, bytes where none does. */
static cudaError_t unit_of(const struct cudaMemcpy3DParms *p, size_t *unit)
{
    size_t from = 1, to = 1;
    if (p->srcArray)
        SC_RT_TRY(sc_rt_array_element(p->srcArray, &from));
    if (p->dstArray)
        SC_RT_TRY(sc_rt_array_element(p->dstArray, &to));
    if (p->srcArray && p->dstArray && from != to)
        return cudaErrorInvalidValue;
    *unit = p->srcArray ? from : to;
    return cudaSuccess;
}

cudaError_t sc_rt_shape(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *c)
{
    size_t unit;
    bool from = p->srcArray != NULL, to = p->dstArray != NULL;
    if ((from && p->srcPtr.ptr) || (to && p->dstPtr.ptr) ||
        (!from && !p->srcPtr.ptr) || (!to && !p->dstPtr.ptr))
        return cudaErrorInvalidValue;
    SC_RT_TRY(check_kind(p->kind));
    SC_RT_TRY(unit_of(p, &unit));
    *c = (CUDA_MEMCPY3D){.srcXInBytes = p->srcPos.x * (from ? unit : 1),
                         .srcY = p->srcPos.y,
                         .srcZ = p->srcPos.z,
                         .srcPitch = p->srcPtr.pitch,
                         .srcHeight = p->srcPtr.ysize,
                         .dstXInBytes = p->dstPos.x * (to ? unit : 1),
                         .dstY = p->dstPos.y,
                         .dstZ = p->dstPos.z,
                         .dstPitch = p->dstPtr.pitch,
                         .dstHeight = p->dstPtr.ysize,
                         .WidthInBytes = p->extent.width * unit,
                         .Height = p->extent.height,
                         .Depth = p->extent.depth};
    if (from) {
        c->srcMemoryType = CU_MEMORYTYPE_ARRAY;
        c->srcArray = (CUarray)p->srcArray;
    } else {
        set_from(c, p->srcPtr.ptr, p->kind);
    }
    if (to) {
        c->dstMemoryType = CU_MEMORYTYPE_ARRAY;
        c->dstArray = (CUarray)p->dstArray;
    } else {
        set_to(c, p->dstPtr.ptr, p->kind);
    }
    return cudaSuccess;
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p,
                           struct sc_rt_when when)
{
    CUDA_MEMCPY3D c;
    if (!p)
        return cudaErrorInvalidValue;
    SC_RT_TRY(sc_rt_shape(p, &c));
    return run(&c, when);
}

static cudaError_t copy_peer(const struct cudaMemcpy3DPeerParms *p,
                             struct sc_rt_when when)
{
    CUDA_MEMCPY3D c;
    CUcontext from, to;
    if (!p)
        return cudaErrorInvalidValue;
    struct cudaMemcpy3DParms plain = {.srcArray = p->srcArray,
                                      .srcPos = p->srcPos,
                                      .srcPtr = p->srcPtr,
                                      .dstArray = p->dstArray,
                                      .dstPos = p->dstPos,
                                      .dstPtr = p->dstPtr,
                                      .extent = p->extent,
                                      .kind = cudaMemcpyDeviceToDevice};
    SC_RT_TRY(sc_rt_shape(&plain, &c));
    SC_RT_TRY(sc_rt_primary(p->srcDevice, &from));
    SC_RT_TRY(sc_rt_primary(p->dstDevice, &to));
    CUDA_MEMCPY3D_PEER peer = {.srcXInBytes = c.srcXInBytes,
                               .srcY = c.srcY,
                               .srcZ = c.srcZ,
                               .srcMemoryType = c.srcMemoryType,
                               .srcDevice = c.srcDevice,
                               .srcArray = c.srcArray,
                               .srcContext = from,
                               .srcPitch = c.srcPitch,
                               .srcHeight = c.srcHeight,
                               .dstXInBytes = c.dstXInBytes,
                               .dstY = c.dstY,
                               .dstZ = c.dstZ,
                               .dstMemoryType = c.dstMemoryType,
                               .dstDevice = c.dstDevice,
                               .dstArray = c.dstArray,
                               .dstContext = to,
                               .dstPitch = c.dstPitch,
                               .dstHeight = c.dstHeight,
                               .WidthInBytes = c.WidthInBytes,
                               .Height = c.Height,
                               .Depth = c.Depth};
    if (when.wait && !when.stream)
        return SC_RT_DRIVER(cuMemcpy3DPeer(&peer));
    return sc_rt_finish(cuMemcpy3DPeerAsync(&peer, when.stream), when);
}

static cudaError_t fill_2d(void *dst, size_t pitch, int value, size_t width,
                           size_t height, struct sc_rt_when when)
{
    CUdeviceptr to = (CUdeviceptr)(uintptr_t)dst;
    unsigned char byte = (unsigned char)value;
    SC_RT_TRY(sc_rt_enter());
    if (width == 0 || height == 0)
        return cudaSuccess;
    if (when.wait && !when.stream)
        return SC_RT_DRIVER(cuMemsetD2D8(to, pitch, byte, width, height));
    return sc_rt_finish(
        cuMemsetD2D8Async(to, pitch, byte, width, height, when.stream), when);
}

static cudaError_t fill_3d(struct cudaPitchedPtr p, int value,
                           struct cudaExtent extent, struct sc_rt_when when)
{
    if (extent.depth > 1 && extent.height == p.ysize)
        return fill_2d(p.ptr, p.pitch, value, extent.width,
                       extent.height * extent.depth, when);
    for (size_t z = 0; z < extent.depth; z++)
        SC_RT_TRY(fill_2d((char *)p.ptr + z * p.pitch * p.ysize, p.pitch, value,
                          extent.width, extent.height, when));
    return cudaSuccess;
}

SC_RT_COPY(cudaMemcpy2D,
           copy_2d(dst, dpitch, src, spitch, width, height, kind, when),
           void *dst, size_t dpitch, const void *src, size_t spitch,
           size_t width, size_t height, enum cudaMemcpyKind kind)
SC_RT_COPY(cudaMemcpy2DToArray,
           sc_rt_to_array(dst, wOffset, hOffset, src, spitch, width, height,
                          kind, when),
           cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
           size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind)
SC_RT_COPY(cudaMemcpy2DFromArray,
           sc_rt_from_array(dst, dpitch, src, wOffset, hOffset, width, height,
                            kind, when),
           void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
           size_t hOffset, size_t width, size_t height,
           enum cudaMemcpyKind kind)
SC_RT_COPY_NOW(cudaMemcpy2DArrayToArray,
               sc_rt_between_arrays(dst, wOffsetDst, hOffsetDst, src,
                                    wOffsetSrc, hOffsetSrc, width, height,
                                    when),
               cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
               cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
               size_t width, size_t height, enum cudaMemcpyKind kind)
SC_RT_COPY(cudaMemcpy3D, copy_3d(p, when), const struct cudaMemcpy3DParms *p)
SC_RT_COPY(cudaMemcpy3DPeer, copy_peer(p, when),
           const struct cudaMemcpy3DPeerParms *p)
SC_RT_COPY(cudaMemset2D, fill_2d(devPtr, pitch, value, width, height, when),
           void *devPtr, size_t pitch, int value, size_t width, size_t height)
SC_RT_COPY(cudaMemset3D, fill_3d(pitchedDevPtr, value, extent, when),
           struct cudaPitchedPtr pitchedDevPtr, int value,
           struct cudaExtent extent)
