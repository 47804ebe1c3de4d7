/*
 * What a texture gives; see exec/texture.h.
 *
 * Filtering follows the CUDA programming guide: texel i covers [i, i + 1),
 * weights have 8 bits of fraction. Lock: none.
 */
#include "exec/texel.h"

#include <math.h>
#include <string.h>

/* ---- filtering ---- */

/* Position in texels; keeps far away places away from integer overflow. What
 * an axis repeats is taken away by whole periods, the rest is done to the index
 * of a texel. */
static double position(const struct sc_image *image, int axis, float x)
{
    const struct sc_texture *t = image->t;
    double p = x;
    if (p != p)
        p = 0;
    if (t->normalized) {
        int mode = t->address_mode[axis];
        if (mode == SC_WRAP)
            p -= floor(p);
        else if (mode == SC_MIRROR)
            p -= 2 * floor(p / 2);
        p *= image->size[axis];
    }
    return p < -1e9 ? -1e9 : p > 1e9 ? 1e9 : p;
}

static void sample_nearest(struct sc_image *image,
                           const struct sc_texture_request *r, int dims,
                           int64_t layer, uint32_t result[4])
{
    int64_t at[3] = {0, 0, 0};
    for (int i = 0; i < dims; i++) {
        at[i] =
            r->integer ? r->at[i] : (int64_t)floor(position(image, i, r->x[i]));
        at[i] += r->offset[i];
    }
    sc_image_sample(image, at, dims, layer, result);
}

/* Lower neighbour and the weight of the upper one, in 1/256. */
static void neighbours(struct sc_image *image,
                       const struct sc_texture_request *r, int dims,
                       int64_t at[3], double weight[3])
{
    for (int i = 0; i < dims; i++) {
        double p = position(image, i, r->x[i]) - 0.5, low = floor(p);
        at[i] = (int64_t)low + r->offset[i];
        weight[i] = floor((p - low) * 256 + 0.5) / 256;
    }
}

static void sample_linear(struct sc_image *image,
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
        sc_image_sample(image, at, dims, layer, texel);
        for (int c = 0; c < 4; c++)
            sum[c] += share * sc_bits_f32(texel[c]);
    }
    for (int c = 0; c < 4; c++)
        result[c] = sc_f32_bits((float)sum[c]);
}

/* tld4: one component of the four texels a linear filter would take, from the
 * lower left against the clock. */
static void gather(struct sc_image *image, const struct sc_texture_request *r,
                   int64_t layer, uint32_t result[4])
{
    static const int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    int64_t low[3];
    double weight[3];
    neighbours(image, r, 2, low, weight);
    for (int i = 0; i < 4; i++) {
        int64_t at[3] = {low[0] + order[i][0], low[1] + order[i][1], 0};
        uint32_t texel[4];
        sc_image_sample(image, at, 2, layer, texel);
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

static void sample(struct sc_image *image, const struct sc_texture_request *r,
                   int64_t layer, uint32_t result[4])
{
    int dims = sc_texel_dims(r->shape);
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
    struct sc_image image;
    if (!sc_image_open(&image, window, t, level))
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
    struct sc_image image;
    sc_image_open(&image, window, t, low);
    if (weight == 0 || image.whole)
        return true;
    if (!sample_level(window, t, low + 1, r, layer, upper, bad))
        return false;
    for (int c = 0; c < 4; c++)
        result[c] = sc_f32_bits((float)((1 - weight) * sc_bits_f32(result[c]) +
                                        weight * sc_bits_f32(upper[c])));
    return true;
}

bool sc_texture_fetch(const struct sc_texture_window *window,
                      const struct sc_texture_request *request,
                      uint32_t result[4], uint64_t *bad)
{
    const struct sc_texture *t =
        sc_texel_describe(window, request->handle, SC_TEXTURE_MAGIC);
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
    double level = level_of(t, &r, sc_texel_dims(r.shape));
    if (t->blended)
        return sample_between(window, t, level, &r, layer, result, bad);
    return sample_level(window, t, (uint32_t)floor(level + 0.5), &r, layer,
                        result, bad);
}
