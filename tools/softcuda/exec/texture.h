/*
 * Textures and surfaces: what a fetch computes, apart from who asks.
 *
 * Reads descriptors (base/texture.h) and texels from device memory; checks
 * both against the window. A hole in the window faults, which the caller's
 * fault handler sees. Lock: none.
 */
#ifndef SOFTCUDA_EXEC_TEXTURE_H
#define SOFTCUDA_EXEC_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

/** Coordinates as the instruction gives them. */
enum sc_texture_shape {
    SC_SHAPE_1D,
    SC_SHAPE_2D,
    SC_SHAPE_3D,
    SC_SHAPE_A1D,
    SC_SHAPE_A2D,
    SC_SHAPE_CUBE,
    SC_SHAPE_ACUBE,
};

enum sc_texture_lod { SC_LOD_BASE, SC_LOD_LEVEL, SC_LOD_GRADIENT };

/** The device's addresses: what a descriptor may point to. */
struct sc_texture_window {
    uint64_t base, bytes;
};

/** One lane's request. */
struct sc_texture_request {
    uint64_t handle;
    enum sc_texture_shape shape;
    enum sc_texture_lod lod_mode;
    bool integer;   /* coordinates in `at`, not in `x` */
    uint8_t gather; /* 0 = no, else 1 + component to gather */
    float x[3];     /* coordinates without the layer */
    int32_t at[3];
    int32_t layer;
    float lod;
    float dx[3], dy[3];
    int32_t offset[3]; /* in texels */
};

/** What a texture or surface says about itself. */
enum sc_texture_query {
    SC_QUERY_WIDTH,
    SC_QUERY_HEIGHT,
    SC_QUERY_DEPTH,
    SC_QUERY_DATA_TYPE,
    SC_QUERY_ORDER,
    SC_QUERY_NORMALIZED,
    SC_QUERY_LAYERS,
    SC_QUERY_LEVELS,
    SC_QUERY_SAMPLES,
    SC_QUERY_FILTER,
    SC_QUERY_ADDRESS_0,
    SC_QUERY_ADDRESS_1,
    SC_QUERY_ADDRESS_2,
    SC_QUERY_MEMORY_LAYOUT,
};

enum sc_surface_bound { SC_BOUND_TRAP, SC_BOUND_CLAMP, SC_BOUND_ZERO };

/**
 * Fetch four components: bits of f32 where the texture gives numbers with a
 * fraction, else integers, sign-extended.
 *
 * @bad receives the address that cannot be read
 * Return: false when the handle or what it describes is not readable memory
 * Thread: any
 * Signal: never
 */
bool sc_texture_fetch(const struct sc_texture_window *window,
                      const struct sc_texture_request *request,
                      uint32_t result[4], uint64_t *bad);

/** Answer a query about `handle`, of level `level`. As sc_texture_fetch. */
bool sc_texture_ask(const struct sc_texture_window *window, uint64_t handle,
                    enum sc_texture_query query, uint32_t level,
                    uint32_t *result, uint64_t *bad);

/**
 * Find a surface's bytes.
 *
 * @at     x in bytes, then y, z; a layer in `layer`
 * @bytes  of the access, a power of two
 * @memory receives the host address, NULL = outside, to be read as 0
 * Return: false = the access must fault at *bad
 */
bool sc_surface_find(const struct sc_texture_window *window, uint64_t handle,
                     enum sc_texture_shape shape, const int32_t at[3],
                     int32_t layer, uint32_t bytes, enum sc_surface_bound bound,
                     char **memory, uint64_t *bad);

#endif
