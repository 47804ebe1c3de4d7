/*
 * Owns: texture and surface objects: what the program described, checked, as
 * a descriptor in device memory whose address is the handle.
 * Does not own: the descriptor's meaning (base/texture.h), fetches (exec/).
 * Lock: `lock`, rank 4, for the list.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/texture.h"
#include "driver/array.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/handle.h"
#include "driver/memory.h"
#include "driver/move.h"

/* As the attributes say. */
#define LINEAR_ALIGN  512u
#define PITCH_ALIGN   32u
#define LINEAR_TEXELS (1ull << 28)
#define LINEAR_WIDTH  131072u
#define LINEAR_HEIGHT 65000u
#define LINEAR_PITCH  2097120u

struct object {
    struct object *next;
    CUcontext ctx;
    uint64_t address;
    uint32_t magic; /* which kind of object */
    bool has_view;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;

static enum sc_texture_kind kind_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    bool layered = d->Flags & CUDA_ARRAY3D_LAYERED;
    if (d->Flags & CUDA_ARRAY3D_CUBEMAP)
        return layered ? SC_TEXTURE_CUBE_LAYERED : SC_TEXTURE_CUBE;
    if (layered)
        return d->Height ? SC_TEXTURE_2D_LAYERED : SC_TEXTURE_1D_LAYERED;
    return d->Depth ? SC_TEXTURE_3D : d->Height ? SC_TEXTURE_2D : SC_TEXTURE_1D;
}

static CUresult from_array(struct sc_texture *t, CUarray array)
{
    if (!sc_handle_is(array, SC_HANDLE_ARRAY))
        return CUDA_ERROR_INVALID_HANDLE;
    const CUDA_ARRAY3D_DESCRIPTOR *d = &array->desc;
    t->kind = (uint8_t)kind_of(d);
    t->format = (uint8_t)d->Format;
    t->channels = (uint8_t)d->NumChannels;
    t->base = array->address;
    t->width = (uint32_t)d->Width;
    t->height = (uint32_t)sc_array_rows(array);
    t->depth = t->kind == SC_TEXTURE_3D ? (uint32_t)d->Depth : 1;
    t->layers = t->kind == SC_TEXTURE_3D ? 1 : (uint32_t)sc_array_slices(array);
    t->pitch = array->pitch;
    t->slice = array->slice;
    return CUDA_SUCCESS;
}

static CUresult from_linear(struct sc_texture *t, const CUDA_RESOURCE_DESC *r)
{
    unsigned texel =
        sc_array_texel(r->res.linear.format, r->res.linear.numChannels);
    uint64_t bytes = r->res.linear.sizeInBytes;
    if (!texel || bytes < texel || bytes / texel > LINEAR_TEXELS ||
        r->res.linear.devPtr % LINEAR_ALIGN ||
        !sc_memory_covers(r->res.linear.devPtr, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    t->kind = SC_TEXTURE_BUFFER;
    t->format = (uint8_t)r->res.linear.format;
    t->channels = (uint8_t)r->res.linear.numChannels;
    t->base = r->res.linear.devPtr;
    t->width = (uint32_t)(bytes / texel);
    t->height = t->depth = t->layers = 1;
    t->pitch = t->slice = bytes;
    return CUDA_SUCCESS;
}

static CUresult from_pitched(struct sc_texture *t, const CUDA_RESOURCE_DESC *r)
{
    unsigned texel =
        sc_array_texel(r->res.pitch2D.format, r->res.pitch2D.numChannels);
    uint64_t width = r->res.pitch2D.width, height = r->res.pitch2D.height;
    uint64_t pitch = r->res.pitch2D.pitchInBytes;
    if (!texel || width == 0 || height == 0 || width > LINEAR_WIDTH ||
        height > LINEAR_HEIGHT || pitch > LINEAR_PITCH || pitch % PITCH_ALIGN ||
        pitch < width * texel || r->res.pitch2D.devPtr % LINEAR_ALIGN ||
        !sc_memory_covers(r->res.pitch2D.devPtr,
                          pitch * (height - 1) + width * texel))
        return CUDA_ERROR_INVALID_VALUE;
    t->kind = SC_TEXTURE_2D;
    t->format = (uint8_t)r->res.pitch2D.format;
    t->channels = (uint8_t)r->res.pitch2D.numChannels;
    t->base = r->res.pitch2D.devPtr;
    t->width = (uint32_t)width;
    t->height = (uint32_t)height;
    t->depth = t->layers = 1;
    t->pitch = pitch;
    t->slice = pitch * height;
    return CUDA_SUCCESS;
}

static CUresult from_resource(struct sc_texture *t, const CUDA_RESOURCE_DESC *r)
{
    if (r->flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    t->levels = 1;
    switch ((int)r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        return from_array(t, r->res.array.hArray);
    case CU_RESOURCE_TYPE_LINEAR:
        return from_linear(t, r);
    case CU_RESOURCE_TYPE_PITCH2D:
        return from_pitched(t, r);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return CUDA_ERROR_INVALID_HANDLE; /* there are none */
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static bool is_whole(const struct sc_texture *t)
{
    return t->format != CU_AD_FORMAT_FLOAT && t->format != CU_AD_FORMAT_HALF;
}

static CUresult add_sampling(struct sc_texture *t, const CUDA_TEXTURE_DESC *d)
{
    const unsigned known = CU_TRSF_READ_AS_INTEGER |
                           CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                           CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                           CU_TRSF_SEAMLESS_CUBEMAP;
    if ((d->flags & ~known) ||
        (unsigned)d->filterMode > CU_TR_FILTER_MODE_LINEAR)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < 3; i++) {
        if ((unsigned)d->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return CUDA_ERROR_INVALID_VALUE;
        t->address_mode[i] = (uint8_t)d->addressMode[i];
    }
    bool wide = t->format == CU_AD_FORMAT_UNSIGNED_INT32 ||
                t->format == CU_AD_FORMAT_SIGNED_INT32;
    t->read = is_whole(t) && !wide && !(d->flags & CU_TRSF_READ_AS_INTEGER)
                  ? SC_TEXTURE_READ_NORMALIZED
                  : SC_TEXTURE_READ_ELEMENT;
    t->linear = d->filterMode == CU_TR_FILTER_MODE_LINEAR;
    /* whole numbers cannot be averaged */
    if (t->linear && is_whole(t) && t->read == SC_TEXTURE_READ_ELEMENT &&
        t->kind != SC_TEXTURE_BUFFER)
        return CUDA_ERROR_INVALID_VALUE;
    t->normalized = !!(d->flags & CU_TRSF_NORMALIZED_COORDINATES);
    t->srgb = !!(d->flags & CU_TRSF_SRGB);
    memcpy(t->border, d->borderColor, sizeof t->border);
    return CUDA_SUCCESS;
}

/* Formats of views come in groups of three: 1, 2 and 4 channels. */
static CUresult view_format(CUresourceViewFormat format, struct sc_texture *t)
{
    static const uint8_t formats[] = {
        CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,
        CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
        CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
        CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
    if (format == CU_RES_VIEW_FORMAT_NONE)
        return CUDA_SUCCESS;
    if ((unsigned)format > CU_RES_VIEW_FORMAT_UNSIGNED_BC7)
        return CUDA_ERROR_INVALID_VALUE;
    if (format > CU_RES_VIEW_FORMAT_FLOAT_4X32)
        return CUDA_ERROR_NOT_SUPPORTED; /* compressed blocks */
    unsigned n = (unsigned)format - CU_RES_VIEW_FORMAT_UINT_1X8;
    uint8_t as = formats[n / 3], channels = (uint8_t)(1 << n % 3);
    if (sc_array_texel((CUarray_format)as, channels) !=
        sc_array_texel((CUarray_format)t->format, t->channels))
        return CUDA_ERROR_INVALID_VALUE;
    t->format = as;
    t->channels = channels;
    return CUDA_SUCCESS;
}

static CUresult add_view(struct sc_texture *t, const CUDA_RESOURCE_DESC *r,
                         const CUDA_RESOURCE_VIEW_DESC *v)
{
    if (r->resType != CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(view_format(v->format, t));
    if ((v->width && v->width != t->width) ||
        (v->height && v->height != t->height) || v->firstMipmapLevel ||
        v->lastMipmapLevel)
        return CUDA_ERROR_INVALID_VALUE;
    if (v->lastLayer == 0 && v->firstLayer == 0)
        return CUDA_SUCCESS;
    if (v->firstLayer > v->lastLayer || v->lastLayer >= t->layers)
        return CUDA_ERROR_INVALID_VALUE;
    t->base += v->firstLayer * t->slice;
    t->layers = v->lastLayer - v->firstLayer + 1;
    return CUDA_SUCCESS;
}

/* The descriptor is the driver's own: it takes no part in the copies that the
 * program counts or paces. */
static bool write_descriptor(uint64_t address, const struct sc_texture *t)
{
    struct sc_place place;
    return sc_memory_place(address, &place) &&
           sc_move_up(&place, (uint64_t)(uintptr_t)t, sizeof *t);
}

static CUresult enter_object(struct object *o, const struct sc_texture *t,
                             unsigned long long *handle)
{
    SC_TRY(sc_alloc(o->ctx, SC_TEXTURE_ALIGN, &o->address));
    if (!write_descriptor(o->address, t)) {
        sc_alloc_free(o->address);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&lock);
    o->next = objects;
    objects = o;
    pthread_mutex_unlock(&lock);
    *handle = o->address;
    return CUDA_SUCCESS;
}

static CUresult new_object(const struct object *from,
                           const struct sc_texture *t,
                           unsigned long long *handle)
{
    struct object *o = malloc(sizeof *o);
    if (!o)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *o = *from;
    CUresult result = enter_object(o, t, handle);
    if (result != CUDA_SUCCESS)
        free(o);
    return result;
}

SC_API cuTexObjectCreate(CUtexObject *pTexObject,
                         const CUDA_RESOURCE_DESC *pResDesc,
                         const CUDA_TEXTURE_DESC *pTexDesc,
                         const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    struct object o = {.magic = SC_TEXTURE_MAGIC};
    struct sc_texture t = {.magic = SC_TEXTURE_MAGIC};
    SC_TRY(sc_enter_context(&o.ctx));
    if (!pTexObject || !pResDesc || !pTexDesc)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(from_resource(&t, pResDesc));
    if (pResViewDesc)
        SC_TRY(add_view(&t, pResDesc, pResViewDesc));
    SC_TRY(add_sampling(&t, pTexDesc));
    o.resource = *pResDesc;
    o.texture = *pTexDesc;
    o.has_view = pResViewDesc != NULL;
    if (pResViewDesc)
        o.view = *pResViewDesc;
    return new_object(&o, &t, pTexObject);
}

SC_API cuSurfObjectCreate(CUsurfObject *pSurfObject,
                          const CUDA_RESOURCE_DESC *pResDesc)
{
    struct object o = {.magic = SC_SURFACE_MAGIC};
    struct sc_texture t = {.magic = SC_SURFACE_MAGIC};
    SC_TRY(sc_enter_context(&o.ctx));
    if (!pSurfObject || !pResDesc ||
        pResDesc->resType != CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(from_resource(&t, pResDesc));
    if (!(pResDesc->res.array.hArray->desc.Flags & CUDA_ARRAY3D_SURFACE_LDST))
        return CUDA_ERROR_INVALID_VALUE;
    o.resource = *pResDesc;
    return new_object(&o, &t, pSurfObject);
}

/* Take an object, or the first one of a context, out of the list. */
static struct object *unlink_one(uint64_t handle, uint32_t magic, CUcontext ctx)
{
    pthread_mutex_lock(&lock);
    struct object **p = &objects;
    while (*p && (ctx ? (*p)->ctx != ctx
                      : (*p)->address != handle || (*p)->magic != magic))
        p = &(*p)->next;
    struct object *found = *p;
    if (found)
        *p = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

static CUresult destroy(uint64_t handle, uint32_t magic)
{
    SC_TRY(sc_enter());
    struct object *o = unlink_one(handle, magic, NULL);
    if (!o)
        return CUDA_ERROR_INVALID_VALUE;
    sc_alloc_free(o->address);
    free(o);
    return CUDA_SUCCESS;
}

SC_API cuTexObjectDestroy(CUtexObject texObject)
{
    return destroy(texObject, SC_TEXTURE_MAGIC);
}

SC_API cuSurfObjectDestroy(CUsurfObject surfObject)
{
    return destroy(surfObject, SC_SURFACE_MAGIC);
}

void sc_texture_free_context(CUcontext ctx)
{
    struct object *o;
    while ((o = unlink_one(0, 0, ctx)))
        free(o);
}

/* Copy what is known about an object. */
static CUresult look_up(uint64_t handle, uint32_t magic, struct object *copy)
{
    SC_TRY(sc_enter());
    pthread_mutex_lock(&lock);
    const struct object *o = objects;
    while (o && (o->address != handle || o->magic != magic))
        o = o->next;
    if (o)
        *copy = *o;
    pthread_mutex_unlock(&lock);
    return o ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc,
                                  CUtexObject texObject)
{
    struct object o;
    SC_TRY(look_up(texObject, SC_TEXTURE_MAGIC, &o));
    if (!pResDesc)
        return CUDA_ERROR_INVALID_VALUE;
    *pResDesc = o.resource;
    return CUDA_SUCCESS;
}

SC_API cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc,
                                 CUtexObject texObject)
{
    struct object o;
    SC_TRY(look_up(texObject, SC_TEXTURE_MAGIC, &o));
    if (!pTexDesc)
        return CUDA_ERROR_INVALID_VALUE;
    *pTexDesc = o.texture;
    return CUDA_SUCCESS;
}

SC_API cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *pResViewDesc,
                                      CUtexObject texObject)
{
    struct object o;
    SC_TRY(look_up(texObject, SC_TEXTURE_MAGIC, &o));
    if (!pResViewDesc || !o.has_view)
        return CUDA_ERROR_INVALID_VALUE;
    *pResViewDesc = o.view;
    return CUDA_SUCCESS;
}

SC_API cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc,
                                   CUsurfObject surfObject)
{
    struct object o;
    SC_TRY(look_up(surfObject, SC_SURFACE_MAGIC, &o));
    if (!pResDesc)
        return CUDA_ERROR_INVALID_VALUE;
    *pResDesc = o.resource;
    return CUDA_SUCCESS;
}

SC_API cuDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                          CUarray_format format,
                                          unsigned numChannels, CUdevice dev)
{
    SC_TRY(sc_enter());
    if (!maxWidthInElements || !sc_array_texel(format, numChannels))
        return CUDA_ERROR_INVALID_VALUE;
    if (!sc_device_get(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    *maxWidthInElements = LINEAR_TEXELS;
    return CUDA_SUCCESS;
}
