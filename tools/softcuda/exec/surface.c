/*
 * What textures and surfaces say about themselves, and where a surface's
 * bytes are; see exec/texture.h.
 *
 * Lock: none.
 */
#include "exec/texel.h"

/* ---- queries ---- */

static uint32_t answer(const struct sc_texture *t, enum sc_texture_query query,
                       uint32_t level)
{
    static const uint32_t modes[] = {0, 2, 1, 3}; /* as PTX numbers them */
    switch (query) {
    case SC_QUERY_WIDTH:
        return sc_texel_halved(t->width, level);
    case SC_QUERY_HEIGHT:
        return sc_texel_halved(t->height, level);
    case SC_QUERY_DEPTH:
        return t->kind == SC_TEXTURE_3D ? sc_texel_halved(t->depth, level)
                                        : t->depth;
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
    const struct sc_texture *t =
        sc_texel_describe(window, handle, SC_TEXTURE_MAGIC);
    if (!t)
        t = sc_texel_describe(window, handle, SC_SURFACE_MAGIC);
    *bad = handle;
    if (!t)
        return false;
    *result = answer(t, query, level);
    return true;
}

/* ---- surfaces ---- */

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
    const struct sc_texture *t =
        sc_texel_describe(window, handle, SC_SURFACE_MAGIC);
    *memory = NULL;
    *bad = handle;
    uint64_t row = t ? (uint64_t)t->width * sc_texel_bytes(t) : 0;
    if (row < bytes)
        return false;
    int dims = sc_texel_dims(shape);
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
    if (where % bytes || !sc_texel_inside(window, where, bytes))
        return false;
    *memory = (char *)(uintptr_t)where;
    return true;
}
