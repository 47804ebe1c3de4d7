/*
 * One texel of a texture or surface: descriptors, levels, element types and
 * what lies beside the texels.
 *
 * Descriptors come from device memory and are checked before use. Lock: none.
 */
#ifndef SOFTCUDA_EXEC_TEXEL_H
#define SOFTCUDA_EXEC_TEXEL_H

#include "base/texture.h"
#include "exec/half.h"
#include "exec/texture.h"

/** Values of CUaddress_mode. */
enum { SC_WRAP, SC_CLAMP, SC_MIRROR, SC_BORDER };

/** One level of a texture, ready to be read. */
struct sc_image {
    const struct sc_texture_window *window;
    const struct sc_texture *t;
    uint64_t base, pitch, slice;
    uint32_t size[3]; /* texels */
    uint32_t texel;   /* bytes */
    bool whole;       /* results are integers */
    uint64_t bad;     /* first address that was refused, 0 = none */
};

/** Whether `bytes` bytes from `at` on lie in the window. */
bool sc_texel_inside(const struct sc_texture_window *window, uint64_t at,
                     uint64_t bytes);

/** The descriptor a handle means; NULL = none of that kind. */
const struct sc_texture *
sc_texel_describe(const struct sc_texture_window *window, uint64_t handle,
                  uint32_t magic);

/** Bytes of one texel; 0 = the descriptor is damaged. */
uint32_t sc_texel_bytes(const struct sc_texture *t);

/** Size of an axis at a level. */
uint32_t sc_texel_halved(uint32_t size, uint32_t level);

/** Number of coordinates, the layer apart. */
int sc_texel_dims(enum sc_texture_shape shape);

/** Get a level ready. Return: false = the descriptor is damaged. */
bool sc_image_open(struct sc_image *image,
                   const struct sc_texture_window *window,
                   const struct sc_texture *t, uint32_t level);

/** Texel at indexes that the address modes bring inside; `bad` of the image
 *  tells when it cannot be read. */
void sc_image_sample(struct sc_image *image, const int64_t index[3], int dims,
                     int64_t layer, uint32_t result[4]);

#endif
