/*
 * Textures and surfaces; see exec/texture.h.
 *
 * Filtering follows the CUDA programming guide: texel i covers [i, i + 1),
 * weights have 8 bits of fraction. Lock: none.
 */
#include "exec/texture.h"
#include "device/texture.h"

#include <math.h>
#include <string.h>

enum { WRAP, CLAMP, MIRROR, BORDER }; /* CUaddress_mode */
enum {                                /* CUarray_format */
       U8 = 1,
       U16 = 2,
       U32 = 3,
       S8 = 8,
       S16 = 9,
       S32 = 10,
       HALF = 16,
       FLOAT = 32
};

/* One level of a texture, ready to be read. */
struct image {
    const struct sc_texture_window *window;
    const struct sc_texture *t;
    uint64_t base, pitch, slice;
    uint32_t size[3]; /* texels */
    uint32_t texel;   /* bytes */
    bool whole;       /* results are integers */
    uint64_t bad;     /* first address that was refused, 0 = none */
};

/* ---- descriptors ---- */

static bool is_inside(const struct sc_texture_window *window, uint64_t at,
                      uint64_t bytes)
{
    return bytes <= window->bytes && at - window->base <= window->bytes - bytes;
}

static const struct sc_texture *describe(const struct sc_texture_window *window,
                                         uint64_t handle, uint32_t magic)
{
    if (handle % 16 || !is_inside(window, handle, sizeof(struct sc_texture)))
        return NULL;
    const struct sc_texture *t = (const struct sc_texture *)(uintptr_t)handle;
    return t->magic == magic ? t : NULL;
}

static uint32_t channel_bytes(uint32_t format)
{
    switch (format) {
    case U8:
    case S8:
        return 1;
    case U16:
    case S16:
    case HALF:
        return 2;
    case U32:
    case S32:
    case FLOAT:
        return 4;
    default:
        return 0;
    }
}

static uint32_t texel_bytes(const struct sc_texture *t)
{
    bool good = t->channels == 1 || t->channels == 2 || t->channels == 4;
    return good ? channel_bytes(t->format) * t->channels : 0;
}

static uint32_t halved(uint32_t size, uint32_t times)
{
    uint32_t small = times < 32 ? size >> times : 0;
    return small ? small : 1;
}

static bool open_level(struct image *image,
                       const struct sc_texture_window *window,
                       const struct sc_texture *t, uint32_t level)
{
    *image = (struct image){.window = window,
                            .t = t,
                            .base = t->base,
                            .pitch = t->pitch,
                            .slice = t->slice,
                            .texel = texel_bytes(t)};
    bool real = t->format == FLOAT || t->format == HALF ||
                (t->read == SC_TEXTURE_READ_NORMALIZED && t->format != U32 &&
                 t->format != S32);
    image->whole = !real;
    uint32_t last = sizeof t->level_offset / sizeof *t->level_offset;
    if (level > last)
        level = last;
    image->size[0] = halved(t->width, level);
    image->size[1] = halved(t->height, level);
    image->size[2] =
        t->kind == SC_TEXTURE_3D ? halved(t->depth, level) : t->depth;
    if (level) {
        image->base = t->base + (uint64_t)t->level_offset[level - 1] * 256;
        image->pitch =
            ((uint64_t)image->size[0] * image->texel + 255) & ~(uint64_t)255;
        image->slice = image->pitch * image->size[1];
    }
    return image->texel != 0;
}

/* ---- one texel ---- */

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float half_float(uint16_t half)
{
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    float size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                 : exponent ? ldexpf((float)(1024 + mantissa), exponent - 25)
                            : ldexpf((float)mantissa, -24);
    return half & 0x8000 ? -size : size;
}

static float to_linear(float v)
{
    return v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
}

static uint32_t channel(const struct image *image, const unsigned char *from,
                        uint32_t c)
{
    const struct sc_texture *t = image->t;
    uint32_t u = 0;
    memcpy(&u, from, channel_bytes(t->format));
    int32_t s = t->format == S8    ? (int8_t)u
                : t->format == S16 ? (int16_t)u
                                   : (int32_t)u;
    if (t->format == HALF)
        return float_bits(half_float((uint16_t)u));
    if (t->format == FLOAT || image->whole)
        return (uint32_t)s;
    float v = 0;
    if (t->format == U8)
        v = (float)u / 255;
    else if (t->format == U16)
        v = (float)u / 65535;
    else
        v = fmaxf((float)s / (t->format == S8 ? 127 : 32767), -1);
    return float_bits(t->srgb && t->format == U8 && c < 3 ? to_linear(v) : v);
}

static uint32_t whole_bits(float v)
{
    if (!(v > -2147483648.0f))
        return v != v ? 0 : 0x80000000u;
    if (v >= 4294967296.0f)
        return ~0u;
    return v < 0 ? (uint32_t)(int32_t)v : (uint32_t)v;
}

/* What a texture without that channel, or outside of it, gives. */
static void fill(const struct image *image, bool border, uint32_t result[4])
{
    for (uint32_t c = 0; c < 4; c++) {
        float v = border ? image->t->border[c] : c == 3 ? 1.0f : 0.0f;
        result[c] = image->whole ? whole_bits(v) : float_bits(v);
    }
}

static void read_texel(struct image *image, const int64_t at[3], int64_t layer,
                       uint32_t result[4])
{
    uint64_t where = image->base + (uint64_t)at[0] * image->texel +
                     (uint64_t)at[1] * image->pitch +
                     (uint64_t)(at[2] + layer) * image->slice;
    fill(image, false, result);
    if (!is_inside(image->window, where, image->texel)) {
        image->bad = where;
        return;
    }
    const unsigned char *from = (const unsigned char *)(uintptr_t)where;
    uint32_t step = channel_bytes(image->t->format);
    for (uint32_t c = 0; c < image->t->channels; c++)
        result[c] = channel(image, from + c * step, c);
}

/* Brings one index inside; false: it lies in the border. */
static bool bound_index(const struct sc_texture *t, int axis, int64_t size,
                        int64_t *index)
{
    int mode = t->address_mode[axis];
    int64_t i = *index;
    if (i >= 0 && i < size)
        return true;
    if (mode == BORDER)
        return false;
    if (mode == WRAP && t->normalized) {
        i %= size;
        i = i < 0 ? i + size : i;
    } else if (mode == MIRROR && t->normalized) {
        i %= 2 * size;
        i = i < 0 ? i + 2 * size : i;
        i = i < size ? i : 2 * size - 1 - i;
    } else {
        i = i < 0 ? 0 : size - 1;
    }
    *index = i;
    return true;
}

static void sample_texel(struct image *image, const int64_t index[3], int dims,
                         int64_t layer, uint32_t result[4])
{
    int64_t at[3] = {0, 0, 0};
    for (int i = 0; i < dims; i++) {
        at[i] = index[i];
        if (!bound_index(image->t, i, image->size[i], &at[i])) {
            fill(image, true, result);
            return;
        }
    }
    read_texel(image, at, layer, result);
}

/* ---- filtering ---- */

/* Position in texels; keeps far away places away from integer overflow. What
 * an axis repeats is taken away by whole periods, the rest is done to the index
 * of a texel. */
static double position(const struct image *image, int axis, float x)
{
    const struct sc_texture *t = image->t;
    double p = x;
    if (p != p)
        p = 0;
    if (t->normalized) {
        int mode = t->address_mode[axis];
        if (mode == WRAP)
            p -= floor(p);
        else if (mode == MIRROR)
            p -= 2 * floor(p / 2);
        p *= image->size[axis];
    }
    return p < -1e9 ? -1e9 : p > 1e9 ? 1e9 : p;
}

static void sample_nearest(struct image *image,
                           const struct sc_texture_request *r, int dims,
                           int64_t layer, uint32_t result[4])
{
    int64_t at[3] = {0, 0, 0};
    for (int i = 0; i < dims; i++) {
        at[i] =
            r->integer ? r->at[i] : (int64_t)floor(position(image, i, r->x[i]));
        at[i] += r->offset[i];
    }
    sample_texel(image, at, dims, layer, result);
}

/* Lower neighbour and the weight of the upper one, in 1/256. */
static void neighbours(struct image *image, const struct sc_texture_request *r,
                       int dims, int64_t at[3], double weight[3])
{
    for (int i = 0; i < dims; i++) {
        double p = position(image, i, r->x[i]) - 0.5, low = floor(p);
        at[i] = (int64_t)low + r->offset[i];
        weight[i] = floor((p - low) * 256 + 0.5) / 256;
    }
}

static void sample_linear(struct image *image,
                          const struct sc_texture_request *r, int dims,
                          int64_t layer, uint32_t result[4])
{
    int64_t low[3] = {0, 0, 0};
    double weight[3] = {0, 0, 0}, sum[4] = {0, 0, 0, 0};
    neighbours(image, r, dims, low, weight);
    for (int corner = 0; corner < 1 << dims; corner++) {
        int64_t at[3] = {0, 0, 0};
        double share = 1;
        for (int i = 0; i < dims; i++) {
            bool upper = corner >> i & 1;
            at[i] = low[i] + upper;
            share *= upper ? weight[i] : 1 - weight[i];
        }
        if (share == 0)
            continue;
        uint32_t texel[4];
        sample_texel(image, at, dims, layer, texel);
        for (int c = 0; c < 4; c++)
            sum[c] += share * bits_float(texel[c]);
    }
    for (int c = 0; c < 4; c++)
        result[c] = float_bits((float)sum[c]);
}

/* tld4: one component of the four texels a linear filter would take, from the
 * lower left against the clock. */
static void gather(struct image *image, const struct sc_texture_request *r,
                   int64_t layer, uint32_t result[4])
{
    static const int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    int64_t low[3];
    double weight[3];
    neighbours(image, r, 2, low, weight);
    for (int i = 0; i < 4; i++) {
        int64_t at[3] = {low[0] + order[i][0], low[1] + order[i][1], 0};
        uint32_t texel[4];
        sample_texel(image, at, 2, layer, texel);
        result[i] = texel[r->gather - 1];
    }
}

/* ---- cubes, layers, levels ---- */

/* Face that a direction meets, and where on it: the table of the guide. */
static uint32_t cube_face(const float x[3], float on[2])
{
    float a[3] = {fabsf(x[0]), fabsf(x[1]), fabsf(x[2])};
    uint32_t axis = a[0] >= a[1] && a[0] >= a[2] ? 0 : a[1] >= a[2] ? 1 : 2;
    bool minus = x[axis] < 0;
    float s = axis == 0   ? (minus ? x[2] : -x[2])
              : axis == 1 ? x[0]
                          : (minus ? -x[0] : x[0]);
    float t = axis == 1 ? (minus ? -x[2] : x[2]) : -x[1];
    float m = a[axis] != 0 ? a[axis] : 1;
    on[0] = (s / m + 1) / 2;
    on[1] = (t / m + 1) / 2;
    return 2 * axis + minus;
}

static int64_t bounded_layer(int64_t layer, int64_t layers)
{
    return layer < 0 ? 0 : layer >= layers && layers ? layers - 1 : layer;
}

static double level_of(const struct sc_texture *t,
                       const struct sc_texture_request *r, int dims)
{
    const uint32_t size[3] = {t->width, t->height, t->depth};
    double lod = r->lod;
    if (r->lod_mode == SC_LOD_BASE || t->levels <= 1)
        return 0;
    if (r->lod_mode == SC_LOD_GRADIENT) {
        double dx = 0, dy = 0;
        for (int i = 0; i < dims; i++) {
            double scale = t->normalized ? size[i] : 1;
            dx += r->dx[i] * scale * r->dx[i] * scale;
            dy += r->dy[i] * scale * r->dy[i] * scale;
        }
        lod = log2(fmax(dx, dy)) / 2;
    }
    lod = fmin(fmax(lod + t->level_bias, t->level_min), t->level_max);
    return lod > 0 ? fmin(lod, t->levels - 1) : 0; /* NaN gives 0 */
}

static int dimensions(enum sc_texture_shape shape)
{
    return shape == SC_SHAPE_1D || shape == SC_SHAPE_A1D ? 1
           : shape == SC_SHAPE_3D                        ? 3
                                                         : 2;
}

/* Cubes become requests for a layer of a 2-D texture. */
static void flatten(const struct sc_texture *t, struct sc_texture_request *r,
                    int64_t *layer)
{
    bool cube = r->shape == SC_SHAPE_CUBE || r->shape == SC_SHAPE_ACUBE;
    bool layered = r->shape == SC_SHAPE_A1D || r->shape == SC_SHAPE_A2D;
    *layer = layered ? bounded_layer(r->layer, t->layers) : 0;
    if (!cube)
        return;
    float on[2];
    uint32_t face = cube_face(r->x, on);
    int64_t which =
        r->shape == SC_SHAPE_ACUBE ? bounded_layer(r->layer, t->layers / 6) : 0;
    *layer = 6 * which + face;
    for (int i = 0; i < 2; i++)
        r->x[i] =
            t->normalized ? on[i] : on[i] * (float)(i ? t->height : t->width);
}

static void sample(struct image *image, const struct sc_texture_request *r,
                   int64_t layer, uint32_t result[4])
{
    int dims = dimensions(r->shape);
    if (r->gather)
        gather(image, r, layer, result);
    else if (image->t->linear && !image->whole && !r->integer)
        sample_linear(image, r, dims, layer, result);
    else
        sample_nearest(image, r, dims, layer, result);
}

static bool sample_level(const struct sc_texture_window *window,
                         const struct sc_texture *t, uint32_t level,
                         const struct sc_texture_request *r, int64_t layer,
                         uint32_t result[4], uint64_t *bad)
{
    struct image image;
    if (!open_level(&image, window, t, level))
        return false;
    sample(&image, r, layer, result);
    *bad = image.bad ? image.bad : *bad;
    return !image.bad;
}

/* Between two levels, weights in 1/256. */
static bool sample_between(const struct sc_texture_window *window,
                           const struct sc_texture *t, double level,
                           const struct sc_texture_request *r, int64_t layer,
                           uint32_t result[4], uint64_t *bad)
{
    uint32_t low = (uint32_t)level, upper[4];
    double weight = floor((level - low) * 256 + 0.5) / 256;
    if (!sample_level(window, t, low, r, layer, result, bad))
        return false;
    struct image image;
    open_level(&image, window, t, low);
    if (weight == 0 || image.whole)
        return true;
    if (!sample_level(window, t, low + 1, r, layer, upper, bad))
        return false;
    for (int c = 0; c < 4; c++)
        result[c] = float_bits((float)((1 - weight) * bits_float(result[c]) +
                                       weight * bits_float(upper[c])));
    return true;
}

bool sc_texture_fetch(const struct sc_texture_window *window,
                      const struct sc_texture_request *request,
                      uint32_t result[4], uint64_t *bad)
{
    const struct sc_texture *t =
        describe(window, request->handle, SC_TEXTURE_MAGIC);
    struct sc_texture_request r = *request;
    *bad = r.handle;
    if (!t || !t->width || !t->height || !t->depth)
        return false;
    int64_t layer;
    flatten(t, &r, &layer);
    bool outside = t->kind == SC_TEXTURE_BUFFER && r.integer &&
                   (r.at[0] < 0 || (uint32_t)r.at[0] >= t->width);
    if (outside) {
        memset(result, 0, 4 * sizeof *result);
        return true;
    }
    double level = level_of(t, &r, dimensions(r.shape));
    if (t->blended)
        return sample_between(window, t, level, &r, layer, result, bad);
    return sample_level(window, t, (uint32_t)floor(level + 0.5), &r, layer,
                        result, bad);
}

/* ---- queries ---- */

static uint32_t answer(const struct sc_texture *t, enum sc_texture_query query,
                       uint32_t level)
{
    static const uint32_t modes[] = {0, 2, 1, 3}; /* as PTX numbers them */
    switch (query) {
    case SC_QUERY_WIDTH:
        return halved(t->width, level);
    case SC_QUERY_HEIGHT:
        return halved(t->height, level);
    case SC_QUERY_DEPTH:
        return t->kind == SC_TEXTURE_3D ? halved(t->depth, level) : t->depth;
    case SC_QUERY_DATA_TYPE:
        return t->format;
    case SC_QUERY_ORDER:
        return t->channels;
    case SC_QUERY_NORMALIZED:
        return t->normalized;
    case SC_QUERY_LAYERS:
        return t->layers;
    case SC_QUERY_LEVELS:
        return t->levels;
    case SC_QUERY_FILTER:
        return t->linear;
    case SC_QUERY_ADDRESS_0:
    case SC_QUERY_ADDRESS_1:
    case SC_QUERY_ADDRESS_2:
        return modes[t->address_mode[query - SC_QUERY_ADDRESS_0] & 3];
    case SC_QUERY_SAMPLES:
        return 1;
    default:
        return 0;
    }
}

bool sc_texture_ask(const struct sc_texture_window *window, uint64_t handle,
                    enum sc_texture_query query, uint32_t level,
                    uint32_t *result, uint64_t *bad)
{
    const struct sc_texture *t = describe(window, handle, SC_TEXTURE_MAGIC);
    if (!t)
        t = describe(window, handle, SC_SURFACE_MAGIC);
    *bad = handle;
    if (!t)
        return false;
    *result = answer(t, query, level);
    return true;
}

/* ---- surfaces ---- */

uint32_t sc_surface_texel(const struct sc_texture_window *window,
                          uint64_t handle, uint32_t *format, uint64_t *bad)
{
    const struct sc_texture *t = describe(window, handle, SC_SURFACE_MAGIC);
    *bad = handle;
    if (!t)
        return 0;
    *format = t->format;
    return texel_bytes(t);
}

/* Brings a place inside [0, most]; false: it is outside and stays there. */
static bool bound_place(int64_t *place, int64_t most, bool clamp)
{
    if (*place >= 0 && *place <= most)
        return true;
    *place = *place < 0 ? 0 : most;
    return clamp;
}

bool sc_surface_find(const struct sc_texture_window *window, uint64_t handle,
                     enum sc_texture_shape shape, const int32_t at[3],
                     int32_t layer, uint32_t bytes, enum sc_surface_bound bound,
                     char **memory, uint64_t *bad)
{
    const struct sc_texture *t = describe(window, handle, SC_SURFACE_MAGIC);
    *memory = NULL;
    *bad = handle;
    uint64_t row = t ? (uint64_t)t->width * texel_bytes(t) : 0;
    if (row < bytes)
        return false;
    int dims = dimensions(shape);
    bool layered = shape == SC_SHAPE_A1D || shape == SC_SHAPE_A2D;
    int64_t x = at[0], y = dims > 1 ? at[1] : 0;
    int64_t z = dims > 2 ? at[2] : layered ? layer : 0;
    int64_t deep = dims > 2 ? t->depth : layered ? t->layers : 1;
    bool clamp = bound == SC_BOUND_CLAMP, good;
    good = bound_place(&x, (int64_t)(row - bytes), clamp);
    good &= dims < 2 || bound_place(&y, (int64_t)t->height - 1, clamp);
    good &= bound_place(&z, deep - 1, clamp);
    uint64_t where =
        t->base + (uint64_t)x + (uint64_t)y * t->pitch + (uint64_t)z * t->slice;
    *bad = where;
    if (!good)
        return bound == SC_BOUND_ZERO;
    if (where % bytes || !is_inside(window, where, bytes))
        return false;
    *memory = (char *)(uintptr_t)where;
    return true;
}
