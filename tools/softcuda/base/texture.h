/*
 * Texture and surface descriptors, as they lie in device memory.
 *
 * A texture or surface handle is the device address of one descriptor; the
 * driver allocates and uploads it, kernels read it. Texels lie row after row:
 * (x, y, z or layer) at base + x * texel bytes + y * pitch + z * slice.
 */
#ifndef SOFTCUDA_BASE_TEXTURE_H
#define SOFTCUDA_BASE_TEXTURE_H

#include <stdint.h>

#define SC_TEXTURE_MAGIC 0x74786d61u
#define SC_SURFACE_MAGIC 0x73726d61u
#define SC_TEXTURE_ALIGN 128u

enum sc_texture_kind {
    SC_TEXTURE_BUFFER, /* linear memory, integer coordinate only */
    SC_TEXTURE_1D,
    SC_TEXTURE_2D,
    SC_TEXTURE_3D,
    SC_TEXTURE_1D_LAYERED,
    SC_TEXTURE_2D_LAYERED,
    SC_TEXTURE_CUBE, /* six layers per cube: +x -x +y -y +z -z */
    SC_TEXTURE_CUBE_LAYERED,
};

/** Values of CUarray_format, and how a texel becomes a result. */
enum sc_texture_read {
    SC_TEXTURE_READ_ELEMENT,    /* as it is; half becomes f32 */
    SC_TEXTURE_READ_NORMALIZED, /* 8/16-bit integers become [0,1] or [-1,1] */
};

/** Values of CUaddress_mode: wrap, clamp, mirror, border. */
struct sc_texture {
    uint32_t magic;
    uint8_t kind, format, channels, read;
    uint8_t address_mode[3], linear;           /* linear: filter, not nearest */
    uint8_t normalized, srgb, levels, blended; /* blended: filter levels too */
    uint64_t base;                             /* of level 0 */
    uint32_t width, height, depth, layers;     /* texels; 1 where meaningless */
    uint64_t pitch, slice;                     /* bytes */
    float border[4];
    /* level n > 0 of a mipmap lies at base + level_offset[n - 1], each side
     * halved, rows packed to 256 bytes; levels beyond 1 */
    float level_bias, level_min, level_max;
    uint32_t level_offset[7]; /* in units of 256 bytes */
};

_Static_assert(sizeof(struct sc_texture) <= SC_TEXTURE_ALIGN, "one line");

#endif
