/*
 * Memory of one module load: allocate forward, free everything at once.
 *
 * Owns the chunks; what a failed load allocated goes with them. Does not
 * return memory piecewise. Lock: none, one thread per arena.
 */
#ifndef SOFTCUDA_PTX_ARENA_H
#define SOFTCUDA_PTX_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_arena_chunk;

struct sc_arena {
    struct sc_arena_chunk *chunks;
    size_t used_bytes, limit_bytes;
};

/** Start empty; no more than `limit_bytes` will ever be handed out. */
void sc_arena_init(struct sc_arena *arena, size_t limit_bytes);

/** Free every allocation; the arena is empty again. */
void sc_arena_fini(struct sc_arena *arena);

/**
 * Zeroed memory, aligned for any type, that lives as long as the arena.
 *
 * Return: NULL when the limit is reached or the host has none left
 * Thread: the owner
 * Signal: never
 */
void *sc_arena_alloc(struct sc_arena *arena, size_t bytes)
    __attribute__((warn_unused_result));

#endif
