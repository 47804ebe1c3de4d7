/*
 * Textures for tests: descriptors in device memory, fetches by kernels, and
 * what a fetch must give, computed from the guide's formulas.
 *
 * Owns nothing; memory is the window's (device.h). Lock: none.
 */
#ifndef TESTS_SOFTCUDA_PTX_TEXTURE_CASE_H
#define TESTS_SOFTCUDA_PTX_TEXTURE_CASE_H

#include "base/texture.h"
#include "device.h"

/* CUarray_format and CUaddress_mode, whose values descriptors hold. */
enum {
    FORMAT_U8 = 1,
    FORMAT_U16 = 2,
    FORMAT_U32 = 3,
    FORMAT_S8 = 8,
    FORMAT_S16 = 9,
    FORMAT_S32 = 10,
    FORMAT_HALF = 16,
    FORMAT_FLOAT = 32
};
enum { MODE_WRAP, MODE_CLAMP, MODE_MIRROR, MODE_BORDER, MODES };

/** One fetch: coordinates, then the layer; the words of the kernel's input. */
struct point {
    float x[3];
    int32_t at[3];
    int32_t layer;
    float lod;
};

/** A descriptor in device memory with room for its texels, which begin as
 *  small numbers that differ. */
struct sc_texture *texture_new(enum sc_texture_kind kind, int format,
                               int channels, const uint32_t size[3],
                               uint32_t layers);

uint64_t texture_handle(const struct sc_texture *t);

/** Bytes of one texel; address of one. */
uint32_t texture_texel_bytes(const struct sc_texture *t);
void *texture_texel(const struct sc_texture *t, uint32_t x, uint32_t y,
                    uint32_t z);

/**
 * Run `body`, one thread a point, and copy four words per thread.
 *
 * The body finds the handle in %h, the point's words in %p0-%p7 and %f0-%f7,
 * and leaves its result in %r0-%r3 (b32). `names` = declarations before the
 * kernel.
 */
enum sc_exec_status texture_run(const char *names, const char *body,
                                uint64_t handle, const struct point *points,
                                uint32_t count, uint32_t (*out)[4]);

/** What a fetch at `p` gives for `dims` dimensions; numbers, even if the
 *  texture's results are integers. */
void texture_expect(const struct sc_texture *t, int dims, bool integer,
                    const struct point *p, double out[4]);

#endif
