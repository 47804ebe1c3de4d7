/*
 * Arena of one module load; see ptx/arena.h.
 *
 * Owns the chunk list. Lock: none.
 */
#include "ptx/arena.h"

#include <sys/mman.h>

struct sc_arena_chunk {
    struct sc_arena_chunk *next;
    size_t used_bytes, size_bytes;
    _Alignas(16) char data[];
};

#define CHUNK_BYTES (((size_t)256 << 10) - sizeof(struct sc_arena_chunk))

void sc_arena_init(struct sc_arena *arena, size_t limit_bytes)
{
    arena->chunks = NULL;
    arena->used_bytes = 0;
    arena->limit_bytes = limit_bytes;
}

void sc_arena_fini(struct sc_arena *arena)
{
    struct sc_arena_chunk *chunk = arena->chunks;
    while (chunk) {
        struct sc_arena_chunk *next = chunk->next;
        munmap(chunk, sizeof *chunk + chunk->size_bytes);
        chunk = next;
    }
    arena->chunks = NULL;
    arena->used_bytes = 0;
}

/* From the system, whose pages are empty and come when they are used: the heap
 * would clear tables of which a small program uses little. */
static struct sc_arena_chunk *add_chunk(struct sc_arena *arena, size_t bytes)
{
    size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    struct sc_arena_chunk *chunk =
        mmap(NULL, sizeof *chunk + size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED)
        return NULL;
    chunk->size_bytes = size;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *sc_arena_alloc(struct sc_arena *arena, size_t bytes)
{
    if (bytes > arena->limit_bytes - arena->used_bytes)
        return NULL;
    size_t rounded = (bytes + 15) & ~(size_t)15;
    struct sc_arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size_bytes - chunk->used_bytes < rounded) {
        chunk = add_chunk(arena, rounded);
        if (!chunk)
            return NULL;
    }
    void *memory = chunk->data + chunk->used_bytes;
    chunk->used_bytes += rounded;
    arena->used_bytes += bytes;
    return memory;
}
