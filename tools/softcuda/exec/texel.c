/*
 * One texel; see exec/texel.h.
 *
 * Lock: none.
 */
#include "exec/texel.h"

#include <math.h>
#include <string.h>

enum { /* CUarray_format */
       U8 = 1,
       U16 = 2,
       U32 = 3,
       S8 = 8,
       S16 = 9,
       S32 = 10,
       HALF = 16,
       FLOAT = 32
};

bool sc_texel_inside(const struct sc_texture_window *window, uint64_t at,
                     uint64_t bytes)
{
    return bytes <= window->bytes && at - window->base <= window->bytes - bytes;
}

const struct sc_texture *
sc_texel_describe(const struct sc_texture_window *window, uint64_t handle,
                  uint32_t magic)
{
    if (handle % 16 ||
        !sc_texel_inside(window, handle, sizeof(struct sc_texture)))
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

uint32_t sc_texel_bytes(const struct sc_texture *t)
{
    bool good = t->channels == 1 || t->channels == 2 || t->channels == 4;
    return good ? channel_bytes(t->format) * t->channels : 0;
}

uint32_t sc_texel_halved(uint32_t size, uint32_t times)
{
    uint32_t small = times < 32 ? size >> times : 0;
    return small ? small : 1;
}

bool sc_image_open(struct sc_image *image,
                   const struct sc_texture_window *window,
                   const struct sc_texture *t, uint32_t level)
{
    *image = (struct sc_image){.window = window,
                               .t = t,
                               .base = t->base,
                               .pitch = t->pitch,
                               .slice = t->slice,
                               .texel = sc_texel_bytes(t)};
    bool real = t->format == FLOAT || t->format == HALF ||
                (t->read == SC_TEXTURE_READ_NORMALIZED && t->format != U32 &&
                 t->format != S32);
    image->whole = !real;
    uint32_t last = sizeof t->level_offset / sizeof *t->level_offset;
    if (level > last)
        level = last;
    image->size[0] = sc_texel_halved(t->width, level);
    image->size[1] = sc_texel_halved(t->height, level);
    image->size[2] =
        t->kind == SC_TEXTURE_3D ? sc_texel_halved(t->depth, level) : t->depth;
    if (level) {
        image->base = t->base + (uint64_t)t->level_offset[level - 1] * 256;
        image->pitch =
            ((uint64_t)image->size[0] * image->texel + 255) & ~(uint64_t)255;
        image->slice = image->pitch * image->size[1];
    }
    return image->texel != 0;
}

/* ---- one texel ---- */

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

static uint32_t channel(const struct sc_image *image, const unsigned char *from,
                        uint32_t c)
{
    const struct sc_texture *t = image->t;
    uint32_t u = 0;
    memcpy(&u, from, channel_bytes(t->format));
    int32_t s = t->format == S8    ? (int8_t)u
                : t->format == S16 ? (int16_t)u
                                   : (int32_t)u;
    if (t->format == HALF)
        return sc_f32_bits(half_float((uint16_t)u));
    if (t->format == FLOAT || image->whole)
        return (uint32_t)s;
    float v = 0;
    if (t->format == U8)
        v = (float)u / 255;
    else if (t->format == U16)
        v = (float)u / 65535;
    else
        v = fmaxf((float)s / (t->format == S8 ? 127 : 32767), -1);
    return sc_f32_bits(t->srgb && t->format == U8 && c < 3 ? to_linear(v) : v);
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
static void fill(const struct sc_image *image, bool border, uint32_t result[4])
{
    for (uint32_t c = 0; c < 4; c++) {
        float v = border ? image->t->border[c] : c == 3 ? 1.0f : 0.0f;
        result[c] = image->whole ? whole_bits(v) : sc_f32_bits(v);
    }
}

static void read_texel(struct sc_image *image, const int64_t at[3],
                       int64_t layer, uint32_t result[4])
{
    uint64_t where = image->base + (uint64_t)at[0] * image->texel +
                     (uint64_t)at[1] * image->pitch +
                     (uint64_t)(at[2] + layer) * image->slice;
    fill(image, false, result);
    if (!sc_texel_inside(image->window, where, image->texel)) {
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
    if (mode == SC_BORDER)
        return false;
    if (mode == SC_WRAP && t->normalized) {
        i %= size;
        i = i < 0 ? i + size : i;
    } else if (mode == SC_MIRROR && t->normalized) {
        i %= 2 * size;
        i = i < 0 ? i + 2 * size : i;
        i = i < size ? i : 2 * size - 1 - i;
    } else {
        i = i < 0 ? 0 : size - 1;
    }
    *index = i;
    return true;
}

void sc_image_sample(struct sc_image *image, const int64_t index[3], int dims,
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

int sc_texel_dims(enum sc_texture_shape shape)
{
    return shape == SC_SHAPE_1D || shape == SC_SHAPE_A1D ? 1
           : shape == SC_SHAPE_3D                        ? 3
                                                         : 2;
}
