/*
 * Textures for tests; see texture_case.h.
 *
 * Lock: none.
 */
#include "texture_case.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static uint32_t channel_bytes(int format)
{
    return format == FORMAT_U8 || format == FORMAT_S8 ? 1
           : format == FORMAT_U16 || format == FORMAT_S16 ||
                   format == FORMAT_HALF
               ? 2
               : 4;
}

uint32_t texture_texel_bytes(const struct sc_texture *t)
{
    return channel_bytes(t->format) * t->channels;
}

void *texture_texel(const struct sc_texture *t, uint32_t x, uint32_t y,
                    uint32_t z)
{
    return (void *)(uintptr_t)(t->base + (uint64_t)x * texture_texel_bytes(t) +
                               y * t->pitch + z * t->slice);
}

static void fill_channel(int format, unsigned char *to, uint32_t n)
{
    uint32_t value = n * 2654435761u >> 7;
    float real = (float)(value % 1000) - 200;
    /* halves with exponents from -7 to 8 and any sign and mantissa */
    uint16_t half = (uint16_t)((value & 0x83ff) | (8 + value % 16) << 10);
    if (format == FORMAT_FLOAT)
        memcpy(to, &real, 4);
    else if (format == FORMAT_HALF)
        memcpy(to, &half, 2);
    else
        memcpy(to, &value, channel_bytes(format));
}

struct sc_texture *texture_new(enum sc_texture_kind kind, int format,
                               int channels, const uint32_t size[3],
                               uint32_t layers)
{
    struct sc_texture *t = device_alloc(SC_TEXTURE_ALIGN);
    *t = (struct sc_texture){.magic = SC_TEXTURE_MAGIC,
                             .kind = (uint8_t)kind,
                             .format = (uint8_t)format,
                             .channels = (uint8_t)channels,
                             .levels = 1,
                             .width = size[0],
                             .height = size[1],
                             .depth = size[2],
                             .layers = layers};
    uint32_t rows = size[2] * layers;
    t->pitch = ((uint64_t)size[0] * texture_texel_bytes(t) + 31) & ~31u;
    t->slice = t->pitch * size[1] + 64;
    t->base = (uint64_t)(uintptr_t)device_alloc(t->slice * rows + 64);
    for (int i = 0; i < 3; i++)
        t->address_mode[i] = MODE_CLAMP;
    uint32_t n = 0;
    for (uint32_t z = 0; z < rows; z++)
        for (uint32_t y = 0; y < size[1]; y++)
            for (uint32_t x = 0; x < size[0]; x++)
                for (int c = 0; c < channels; c++)
                    fill_channel(format,
                                 (unsigned char *)texture_texel(t, x, y, z) +
                                     (uint32_t)c * channel_bytes(format),
                                 ++n);
    return t;
}

uint64_t texture_handle(const struct sc_texture *t)
{
    return (uint64_t)(uintptr_t)t;
}

enum sc_exec_status texture_run(const char *names, const char *body,
                                uint64_t handle, const struct point *points,
                                uint32_t count, uint32_t (*out)[4])
{
    static char ptx[8192];
    snprintf(ptx, sizeof ptx,
             PTX_HEAD
             "%s\n.entry k(.param .u64 handle, .param .u64 pi, .param .u64 po)"
             "\n{\n.reg .b64 %%h, %%l<8>;\n.reg .b32 %%p<8>, %%r<16>;\n"
             ".reg .f32 %%f<8>;\n.reg .b16 %%s<8>;\n.reg .pred %%q<4>;\n"
             "ld.param.u64 %%h,[handle];\nld.param.u64 %%l0,[pi];\n"
             "ld.param.u64 %%l1,[po];\nmov.u32 %%r8,%%tid.x;\n"
             "mul.wide.u32 %%l2,%%r8,32;\nadd.s64 %%l0,%%l0,%%l2;\n"
             "mul.wide.u32 %%l2,%%r8,16;\nadd.s64 %%l1,%%l1,%%l2;\n"
             "ld.global.v4.b32 {%%p0,%%p1,%%p2,%%p3},[%%l0];\n"
             "ld.global.v4.b32 {%%p4,%%p5,%%p6,%%p7},[%%l0+16];\n"
             "mov.b32 %%f0,%%p0;\nmov.b32 %%f1,%%p1;\nmov.b32 %%f2,%%p2;\n"
             "mov.b32 %%f7,%%p7;\n"
             "mov.b32 %%r0,7;\nmov.b32 %%r1,7;\nmov.b32 %%r2,7;\n"
             "mov.b32 %%r3,7;\n%s\n"
             "st.global.v4.b32 [%%l1],{%%r0,%%r1,%%r2,%%r3};\nret;\n}\n",
             names, body);
    static void *input, *output; /* of the process: each case has its own */
    if (!input) {
        input = device_alloc(1024 * sizeof *points);
        output = device_alloc(1024 * sizeof *out);
    }
    ck_assert_uint_le(count, 1024);
    memcpy(input, points, count * sizeof *points);
    uint64_t params[] = {handle, (uint64_t)(uintptr_t)input,
                         (uint64_t)(uintptr_t)output};
    struct sc_exec_fault fault;
    struct sc_module *module = device_load(ptx);
    enum sc_exec_status status =
        device_launch(module, 1, count, params, sizeof params, &fault);
    sc_module_unload(module);
    memcpy(out, output, count * sizeof *out);
    return status;
}

/* ---- the reference ---- */

static double half_value(uint16_t h)
{
    double size = (h >> 10 & 31) ? ldexp((h & 1023) | 1024, (h >> 10 & 31) - 25)
                                 : ldexp(h & 1023, -24);
    return h & 0x8000 ? -size : size;
}

static double channel_value(const struct sc_texture *t, const void *texel,
                            int c)
{
    if (c >= t->channels)
        return c == 3;
    const char *from = (const char *)texel + c * (int)channel_bytes(t->format);
    union {
        uint8_t u8;
        int8_t s8;
        uint16_t u16;
        int16_t s16;
        uint32_t u32;
        int32_t s32;
        float f32;
    } v;
    memcpy(&v, from, channel_bytes(t->format));
    bool part = t->read == SC_TEXTURE_READ_NORMALIZED;
    switch (t->format) {
    case FORMAT_U8:
        return part ? v.u8 / 255.0 : v.u8;
    case FORMAT_S8:
        return part ? fmax(v.s8 / 127.0, -1) : v.s8;
    case FORMAT_U16:
        return part ? v.u16 / 65535.0 : v.u16;
    case FORMAT_S16:
        return part ? fmax(v.s16 / 32767.0, -1) : v.s16;
    case FORMAT_U32:
        return v.u32;
    case FORMAT_S32:
        return v.s32;
    case FORMAT_HALF:
        return half_value(v.u16);
    default:
        return v.f32;
    }
}

/* Index of the texel that stands for `i`; -1 = the border. */
static int64_t folded(const struct sc_texture *t, int axis, int64_t i,
                      int64_t n)
{
    int mode = t->address_mode[axis];
    if (mode == MODE_BORDER)
        return i < 0 || i >= n ? -1 : i;
    if (mode == MODE_CLAMP || !t->normalized)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    int64_t period = mode == MODE_WRAP ? n : 2 * n;
    i = (i % period + period) % period;
    return i < n ? i : 2 * n - 1 - i;
}

static void add_texel(const struct sc_texture *t, int dims,
                      const int64_t index[3], int64_t layer, double share,
                      double out[4])
{
    const uint32_t size[3] = {t->width, t->height, t->depth};
    int64_t at[3] = {0, 0, 0};
    bool border = false;
    for (int i = 0; i < dims; i++) {
        at[i] = folded(t, i, index[i], size[i]);
        border |= at[i] < 0;
    }
    if (dims < 3)
        at[2] = layer < 0 ? 0 : layer >= t->layers ? t->layers - 1 : layer;
    for (int c = 0; c < 4; c++)
        out[c] +=
            share * (border ? (double)t->border[c]
                            : channel_value(t,
                                            texture_texel(t, (uint32_t)at[0],
                                                          (uint32_t)at[1],
                                                          (uint32_t)at[2]),
                                            c));
}

void texture_expect(const struct sc_texture *t, int dims, bool integer,
                    const struct point *p, double out[4])
{
    const uint32_t size[3] = {t->width, t->height, t->depth};
    bool linear = t->linear && !integer;
    int64_t low[3] = {0, 0, 0}, one[3];
    double up[3] = {0, 0, 0};
    for (int i = 0; i < dims; i++) {
        double x = (double)p->x[i] * (t->normalized ? size[i] : 1);
        x -= linear ? 0.5 : 0;
        low[i] = integer ? p->at[i] : (int64_t)floor(x);
        up[i] = linear ? floor((x - floor(x)) * 256 + 0.5) / 256 : 0;
    }
    for (int c = 0; c < 4; c++)
        out[c] = 0;
    for (int corner = 0; corner < 8; corner++) {
        double share = 1;
        for (int i = 0; i < 3; i++) {
            one[i] = low[i] + (corner >> i & 1);
            share *= corner >> i & 1 ? up[i] : 1 - up[i];
        }
        if (share != 0)
            add_texel(t, dims, one, p->layer, share, out);
    }
}
