/*
 * Owns: CUDA arrays, mipmapped ones, and channel formats.
 * Does not own: copies (shaped.c), textures (texture.c).
 */
#include "cudart/array.h"

struct format {
    enum cudaChannelFormatKind kind;
    int bits;
    CUarray_format format;
};

static const struct format formats[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};
enum { FORMATS = sizeof formats / sizeof *formats };

cudaError_t sc_rt_format(const struct cudaChannelFormatDesc *d,
                         CUarray_format *format, unsigned *channels)
{
    *channels = d->w ? 4 : d->z ? 3 : d->y ? 2 : 1;
    if (*channels == 3 || (d->y && d->y != d->x) || (d->w && d->w != d->x) ||
        (d->w && d->z != d->x))
        return cudaErrorInvalidChannelDescriptor;
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].kind == d->f && formats[i].bits == d->x) {
            *format = formats[i].format;
            return cudaSuccess;
        }
    return cudaErrorInvalidChannelDescriptor;
}

struct cudaChannelFormatDesc sc_rt_channels(CUarray_format format,
                                            unsigned channels)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].format == format) {
            int bits = formats[i].bits;
            return (struct cudaChannelFormatDesc){
                bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                channels > 3 ? bits : 0, formats[i].kind};
        }
    return (struct cudaChannelFormatDesc){.f = cudaChannelFormatKindNone};
}

__attribute__((visibility("default"))) struct cudaChannelFormatDesc
cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

static cudaError_t describe(cudaArray_const_t array,
                            CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    if (!array)
        return cudaErrorInvalidResourceHandle;
    SC_RT_TRY(sc_rt_enter());
    return SC_RT_DRIVER(cuArray3DGetDescriptor(desc, (CUarray)array));
}

static size_t element(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    struct cudaChannelFormatDesc c =
        sc_rt_channels(desc->Format, desc->NumChannels);
    return (size_t)(c.x + c.y + c.z + c.w) / 8;
}

cudaError_t sc_rt_array_element(cudaArray_const_t array, size_t *bytes)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;
    SC_RT_TRY(describe(array, &desc));
    *bytes = element(&desc);
    return cudaSuccess;
}

cudaError_t sc_rt_array_rows(cudaArray_const_t array, size_t *row, size_t *rows)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;
    SC_RT_TRY(describe(array, &desc));
    *row = desc.Width * element(&desc);
    *rows = desc.Height ? desc.Height : 1;
    return cudaSuccess;
}

static cudaError_t fill(CUDA_ARRAY3D_DESCRIPTOR *d,
                        const struct cudaChannelFormatDesc *desc,
                        struct cudaExtent extent, unsigned flags)
{
    if (!desc)
        return cudaErrorInvalidValue;
    *d = (CUDA_ARRAY3D_DESCRIPTOR){.Width = extent.width,
                                   .Height = extent.height,
                                   .Depth = extent.depth,
                                   .Flags = flags};
    SC_RT_TRY(sc_rt_enter());
    return sc_rt_format(desc, &d->Format, &d->NumChannels);
}

SC_RT cudaMalloc3DArray(cudaArray_t *array,
                        const struct cudaChannelFormatDesc *desc,
                        struct cudaExtent extent, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (!array)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(fill(&d, desc, extent, flags));
    return sc_rt_done(SC_RT_DRIVER(cuArray3DCreate((CUarray *)array, &d)));
}

SC_RT cudaMallocArray(cudaArray_t *array,
                      const struct cudaChannelFormatDesc *desc, size_t width,
                      size_t height, unsigned int flags)
{
    return cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0},
                             flags);
}

SC_RT cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray,
                               const struct cudaChannelFormatDesc *desc,
                               struct cudaExtent extent, unsigned int numLevels,
                               unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (!mipmappedArray)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(fill(&d, desc, extent, flags));
    return sc_rt_done(SC_RT_DRIVER(cuMipmappedArrayCreate(
        (CUmipmappedArray *)mipmappedArray, &d, numLevels)));
}

SC_RT cudaFreeArray(cudaArray_t array)
{
    SC_RT_BEGIN(sc_rt_enter());
    return array ? sc_rt_done(SC_RT_DRIVER(cuArrayDestroy((CUarray)array)))
                 : cudaSuccess;
}

SC_RT cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray)
{
    SC_RT_BEGIN(sc_rt_enter());
    if (!mipmappedArray)
        return cudaSuccess;
    return sc_rt_done(SC_RT_DRIVER(
        cuMipmappedArrayDestroy((CUmipmappedArray)mipmappedArray)));
}

SC_RT cudaGetMipmappedArrayLevel(cudaArray_t *levelArray,
                                 cudaMipmappedArray_const_t mipmappedArray,
                                 unsigned int level)
{
    SC_RT_BEGIN(sc_rt_enter());
    return sc_rt_done(SC_RT_DRIVER(cuMipmappedArrayGetLevel(
        (CUarray *)levelArray, (CUmipmappedArray)mipmappedArray, level)));
}

SC_RT cudaGetChannelDesc(struct cudaChannelFormatDesc *desc,
                         cudaArray_const_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (!desc)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(describe(array, &d));
    *desc = sc_rt_channels(d.Format, d.NumChannels);
    return cudaSuccess;
}

SC_RT cudaArrayGetInfo(struct cudaChannelFormatDesc *desc,
                       struct cudaExtent *extent, unsigned int *flags,
                       cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    SC_RT_BEGIN(describe(array, &d));
    if (desc)
        *desc = sc_rt_channels(d.Format, d.NumChannels);
    if (extent)
        *extent = (struct cudaExtent){d.Width, d.Height, d.Depth};
    if (flags)
        *flags = d.Flags;
    return cudaSuccess;
}

SC_RT
cudaDeviceGetTexture1DLinearMaxWidth(
    size_t *maxWidthInElements, const struct cudaChannelFormatDesc *fmtDesc,
    int device)
{
    CUarray_format format;
    unsigned channels;
    if (!maxWidthInElements || !fmtDesc)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_init());
    SC_RT_BEGIN(sc_rt_format(fmtDesc, &format, &channels));
    return sc_rt_done(SC_RT_DRIVER(cuDeviceGetTexture1DLinearMaxWidth(
        maxWidthInElements, format, channels, device)));
}
