/*
 * Owns: texture and surface objects.
 * Does not own: channel formats (array.c).
 *
 * Until 12, resource descriptions ended before `flags` and their union was
 * smaller; until 11, texture descriptions ended before seamlessCubemap.
 */
#include <string.h>

#include "cudart/array.h"

#define RESOURCE_BYTES                                                         \
    (SC_CUDART >= 13                                                           \
         ? sizeof(struct cudaResourceDesc)                                     \
         : offsetof(struct cudaResourceDesc, res) +                            \
               sizeof(((struct cudaResourceDesc *)0)->res.pitch2D))
#define TEXTURE_BYTES                                                          \
    (SC_CUDART >= 12 ? sizeof(struct cudaTextureDesc)                          \
                     : offsetof(struct cudaTextureDesc, seamlessCubemap))
#define VIEW_BYTES                                                             \
    (SC_CUDART >= 13 ? sizeof(struct cudaResourceViewDesc)                     \
                     : offsetof(struct cudaResourceViewDesc, reserved))

static cudaError_t resource(const struct cudaResourceDesc *r,
                            CUDA_RESOURCE_DESC *d)
{
    memset(d, 0, sizeof *d);
    d->resType = (CUresourcetype)r->resType;
    switch (r->resType) {
    case cudaResourceTypeArray:
        d->res.array.hArray = (CUarray)r->res.array.array;
        return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
        d->res.mipmap.hMipmappedArray = (CUmipmappedArray)r->res.mipmap.mipmap;
        return cudaSuccess;
    case cudaResourceTypeLinear:
        d->res.linear.devPtr = (CUdeviceptr)(uintptr_t)r->res.linear.devPtr;
        d->res.linear.sizeInBytes = r->res.linear.sizeInBytes;
        return sc_rt_format(&r->res.linear.desc, &d->res.linear.format,
                            &d->res.linear.numChannels);
    case cudaResourceTypePitch2D:
        d->res.pitch2D.devPtr = (CUdeviceptr)(uintptr_t)r->res.pitch2D.devPtr;
        d->res.pitch2D.width = r->res.pitch2D.width;
        d->res.pitch2D.height = r->res.pitch2D.height;
        d->res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
        return sc_rt_format(&r->res.pitch2D.desc, &d->res.pitch2D.format,
                            &d->res.pitch2D.numChannels);
    default:
        return cudaErrorInvalidValue;
    }
}

static void resource_back(const CUDA_RESOURCE_DESC *d,
                          struct cudaResourceDesc *r)
{
    memset(r, 0, sizeof *r);
    r->resType = (enum cudaResourceType)d->resType;
    switch (r->resType) {
    case cudaResourceTypeArray:
        r->res.array.array = (cudaArray_t)d->res.array.hArray;
        break;
    case cudaResourceTypeMipmappedArray:
        r->res.mipmap.mipmap =
            (cudaMipmappedArray_t)d->res.mipmap.hMipmappedArray;
        break;
    case cudaResourceTypeLinear:
        r->res.linear.devPtr = (void *)(uintptr_t)d->res.linear.devPtr;
        r->res.linear.desc =
            sc_rt_channels(d->res.linear.format, d->res.linear.numChannels);
        r->res.linear.sizeInBytes = d->res.linear.sizeInBytes;
        break;
    default:
        r->res.pitch2D.devPtr = (void *)(uintptr_t)d->res.pitch2D.devPtr;
        r->res.pitch2D.desc =
            sc_rt_channels(d->res.pitch2D.format, d->res.pitch2D.numChannels);
        r->res.pitch2D.width = d->res.pitch2D.width;
        r->res.pitch2D.height = d->res.pitch2D.height;
        r->res.pitch2D.pitchInBytes = d->res.pitch2D.pitchInBytes;
    }
}

static void texture(const struct cudaTextureDesc *t, CUDA_TEXTURE_DESC *d)
{
    memset(d, 0, sizeof *d);
    for (int i = 0; i < 3; i++)
        d->addressMode[i] = (CUaddress_mode)t->addressMode[i];
    d->filterMode = (CUfilter_mode)t->filterMode;
    if (t->readMode == cudaReadModeElementType)
        d->flags |= CU_TRSF_READ_AS_INTEGER;
    if (t->normalizedCoords)
        d->flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (t->sRGB)
        d->flags |= CU_TRSF_SRGB;
    if (t->disableTrilinearOptimization)
        d->flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
    if (t->seamlessCubemap)
        d->flags |= CU_TRSF_SEAMLESS_CUBEMAP;
    d->maxAnisotropy = t->maxAnisotropy;
    d->mipmapFilterMode = (CUfilter_mode)t->mipmapFilterMode;
    d->mipmapLevelBias = t->mipmapLevelBias;
    d->minMipmapLevelClamp = t->minMipmapLevelClamp;
    d->maxMipmapLevelClamp = t->maxMipmapLevelClamp;
    memcpy(d->borderColor, t->borderColor, sizeof d->borderColor);
}

static void texture_back(const CUDA_TEXTURE_DESC *d, struct cudaTextureDesc *t)
{
    memset(t, 0, sizeof *t);
    for (int i = 0; i < 3; i++)
        t->addressMode[i] = (enum cudaTextureAddressMode)d->addressMode[i];
    t->filterMode = (enum cudaTextureFilterMode)d->filterMode;
    t->readMode = d->flags & CU_TRSF_READ_AS_INTEGER
                      ? cudaReadModeElementType
                      : cudaReadModeNormalizedFloat;
    t->normalizedCoords = !!(d->flags & CU_TRSF_NORMALIZED_COORDINATES);
    t->sRGB = !!(d->flags & CU_TRSF_SRGB);
    t->disableTrilinearOptimization =
        !!(d->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
    t->seamlessCubemap = !!(d->flags & CU_TRSF_SEAMLESS_CUBEMAP);
    t->maxAnisotropy = d->maxAnisotropy;
    t->mipmapFilterMode = (enum cudaTextureFilterMode)d->mipmapFilterMode;
    t->mipmapLevelBias = d->mipmapLevelBias;
    t->minMipmapLevelClamp = d->minMipmapLevelClamp;
    t->maxMipmapLevelClamp = d->maxMipmapLevelClamp;
    memcpy(t->borderColor, d->borderColor, sizeof t->borderColor);
}

static CUDA_RESOURCE_VIEW_DESC view(const struct cudaResourceViewDesc *v)
{
    return (CUDA_RESOURCE_VIEW_DESC){.format = (CUresourceViewFormat)v->format,
                                     .width = v->width,
                                     .height = v->height,
                                     .depth = v->depth,
                                     .firstMipmapLevel = v->firstMipmapLevel,
                                     .lastMipmapLevel = v->lastMipmapLevel,
                                     .firstLayer = v->firstLayer,
                                     .lastLayer = v->lastLayer};
}

/* Floats are what they are; other elements as they are cannot be averaged. */
static cudaError_t check_filter(const CUDA_RESOURCE_DESC *r,
                                const struct cudaTextureDesc *t)
{
    CUarray_format format = CU_AD_FORMAT_FLOAT;
    CUDA_ARRAY3D_DESCRIPTOR array;
    if (r->resType == CU_RESOURCE_TYPE_ARRAY &&
        cuArray3DGetDescriptor(&array, r->res.array.hArray) == CUDA_SUCCESS)
        format = array.Format;
    else if (r->resType == CU_RESOURCE_TYPE_LINEAR)
        format = r->res.linear.format;
    else if (r->resType == CU_RESOURCE_TYPE_PITCH2D)
        format = r->res.pitch2D.format;
    bool whole = format != CU_AD_FORMAT_FLOAT && format != CU_AD_FORMAT_HALF;
    bool wide = format == CU_AD_FORMAT_SIGNED_INT32 ||
                format == CU_AD_FORMAT_UNSIGNED_INT32;
    if (whole && wide && t->readMode == cudaReadModeNormalizedFloat)
        return cudaErrorInvalidNormSetting;
    if (whole && t->readMode == cudaReadModeElementType &&
        t->filterMode == cudaFilterModeLinear)
        return cudaErrorInvalidFilterSetting;
    return cudaSuccess;
}

SC_RT cudaCreateTextureObject(cudaTextureObject_t *pTexObject,
                              const struct cudaResourceDesc *pResDesc,
                              const struct cudaTextureDesc *pTexDesc,
                              const struct cudaResourceViewDesc *pResViewDesc)
{
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC t;
    CUDA_RESOURCE_VIEW_DESC v;
    struct cudaTextureDesc known = {0};
    if (!pTexObject || !pResDesc || !pTexDesc)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(resource(pResDesc, &r));
    memcpy(&known, pTexDesc, TEXTURE_BYTES);
    SC_RT_BEGIN(check_filter(&r, &known));
    texture(&known, &t);
    if (pResViewDesc)
        v = view(pResViewDesc);
    return sc_rt_done(SC_RT_DRIVER(
        cuTexObjectCreate(pTexObject, &r, &t, pResViewDesc ? &v : NULL)));
}

SC_RT cudaDestroyTextureObject(cudaTextureObject_t texObject)
{
    SC_RT_BEGIN(sc_rt_enter());
    return texObject ? sc_rt_done(SC_RT_DRIVER(cuTexObjectDestroy(texObject)))
                     : cudaSuccess;
}

SC_RT cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                       cudaTextureObject_t texObject)
{
    CUDA_RESOURCE_DESC d;
    struct cudaResourceDesc r;
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(SC_RT_DRIVER(cuTexObjectGetResourceDesc(&d, texObject)));
    resource_back(&d, &r);
    memcpy(pResDesc, &r, RESOURCE_BYTES);
    return cudaSuccess;
}

SC_RT cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc,
                                      cudaTextureObject_t texObject)
{
    CUDA_TEXTURE_DESC d;
    struct cudaTextureDesc t;
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(SC_RT_DRIVER(cuTexObjectGetTextureDesc(&d, texObject)));
    texture_back(&d, &t);
    memcpy(pTexDesc, &t, TEXTURE_BYTES);
    return cudaSuccess;
}

SC_RT
cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *pResViewDesc,
                                     cudaTextureObject_t texObject)
{
    CUDA_RESOURCE_VIEW_DESC d;
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(SC_RT_DRIVER(cuTexObjectGetResourceViewDesc(&d, texObject)));
    struct cudaResourceViewDesc v = {.format =
                                         (enum cudaResourceViewFormat)d.format,
                                     .width = d.width,
                                     .height = d.height,
                                     .depth = d.depth,
                                     .firstMipmapLevel = d.firstMipmapLevel,
                                     .lastMipmapLevel = d.lastMipmapLevel,
                                     .firstLayer = d.firstLayer,
                                     .lastLayer = d.lastLayer};
    memcpy(pResViewDesc, &v, VIEW_BYTES);
    return cudaSuccess;
}

SC_RT cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject,
                              const struct cudaResourceDesc *pResDesc)
{
    CUDA_RESOURCE_DESC r;
    if (!pSurfObject || !pResDesc)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(resource(pResDesc, &r));
    return sc_rt_done(SC_RT_DRIVER(cuSurfObjectCreate(pSurfObject, &r)));
}

SC_RT cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject)
{
    SC_RT_BEGIN(sc_rt_enter());
    return surfObject
               ? sc_rt_done(SC_RT_DRIVER(cuSurfObjectDestroy(surfObject)))
               : cudaSuccess;
}

SC_RT cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                       cudaSurfaceObject_t surfObject)
{
    CUDA_RESOURCE_DESC d;
    struct cudaResourceDesc r;
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(SC_RT_DRIVER(cuSurfObjectGetResourceDesc(&d, surfObject)));
    resource_back(&d, &r);
    memcpy(pResDesc, &r, RESOURCE_BYTES);
    return cudaSuccess;
}
