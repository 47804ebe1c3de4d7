/*
 * Device malloc: blocks of one region of device memory.
 *
 * What is known about blocks lies in host memory, so that a kernel that
 * writes past its block cannot hurt this process. Sizes count granules; the
 * first and last granule of a block say how large it is. Free blocks hang in
 * lists by size class.
 *
 * Lock: `heaps_lock` for the list of heaps, then heap->lock.
 */
#include "exec/system.h"

#include <pthread.h>
#include <stdlib.h>

#define GRANULE 32u
#define CLASSES 32u
#define NONE    UINT32_MAX
#define FREE    (1u << 31)

struct sc_heap {
    struct sc_space space;
    uint64_t base;
    uint32_t granules, holders;
    uint32_t *size; /* of the block that begins or ends here; FREE bit */
    uint32_t *next, *before; /* of a free block, by first granule */
    uint32_t lists[CLASSES];
    pthread_mutex_t lock;
    struct sc_heap *other;
};

static struct sc_heap *heaps;
static pthread_mutex_t heaps_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t class_of(uint32_t size)
{
    return 31 - (uint32_t)__builtin_clz(size);
}

static void mark(struct sc_heap *heap, uint32_t at, uint32_t size,
                 uint32_t flag)
{
    heap->size[at] = heap->size[at + size - 1] = size | flag;
}

static void list_add(struct sc_heap *heap, uint32_t at, uint32_t size)
{
    uint32_t *list = &heap->lists[class_of(size)];
    mark(heap, at, size, FREE);
    heap->next[at] = *list;
    heap->before[at] = NONE;
    if (*list != NONE)
        heap->before[*list] = at;
    *list = at;
}

static void list_remove(struct sc_heap *heap, uint32_t at)
{
    uint32_t size = heap->size[at] & ~FREE;
    uint32_t next = heap->next[at], before = heap->before[at];
    if (before != NONE)
        heap->next[before] = next;
    else
        heap->lists[class_of(size)] = next;
    if (next != NONE)
        heap->before[next] = before;
}

static void destroy(struct sc_heap *heap)
{
    if (heap->base)
        heap->space.free(heap->space.ctx, heap->base);
    free(heap->size);
    free(heap->next);
    free(heap->before);
    pthread_mutex_destroy(&heap->lock);
    free(heap);
}

static struct sc_heap *create(const struct sc_space *space)
{
    struct sc_heap *heap = calloc(1, sizeof *heap);
    if (!heap)
        return NULL;
    heap->space = *space;
    pthread_mutex_init(&heap->lock, NULL);
    uint64_t bytes = sc_exec_limit(SC_LIMIT_HEAP);
    /* a small device gets a small heap */
    for (; bytes >= 64u << 10; bytes /= 2)
        if ((heap->base = space->alloc(space->ctx, bytes, 256)))
            break;
    if (!heap->base && bytes)
        heap->base = space->alloc(space->ctx, bytes, 256);
    heap->granules = (uint32_t)(bytes / GRANULE);
    heap->size = calloc(heap->granules, sizeof *heap->size);
    heap->next = calloc(heap->granules, sizeof *heap->next);
    heap->before = calloc(heap->granules, sizeof *heap->before);
    if (!heap->base || !heap->granules || !heap->size || !heap->next ||
        !heap->before) {
        destroy(heap);
        return NULL;
    }
    for (uint32_t i = 0; i < CLASSES; i++)
        heap->lists[i] = NONE;
    list_add(heap, 0, heap->granules);
    return heap;
}

struct sc_heap *sc_heap_hold(const struct sc_space *space)
{
    pthread_mutex_lock(&heaps_lock);
    struct sc_heap *heap = heaps;
    while (heap && (heap->space.window_base != space->window_base ||
                    heap->space.ctx != space->ctx))
        heap = heap->other;
    if (!heap && (heap = create(space))) {
        heap->other = heaps;
        heaps = heap;
    }
    if (heap)
        heap->holders++;
    pthread_mutex_unlock(&heaps_lock);
    return heap;
}

void sc_heap_release(struct sc_heap *heap)
{
    if (!heap)
        return;
    pthread_mutex_lock(&heaps_lock);
    if (--heap->holders == 0) {
        struct sc_heap **at = &heaps;
        while (*at != heap)
            at = &(*at)->other;
        *at = heap->other;
        destroy(heap);
    }
    pthread_mutex_unlock(&heaps_lock);
}

bool sc_heap_in_use(void)
{
    pthread_mutex_lock(&heaps_lock);
    bool used = heaps != NULL;
    pthread_mutex_unlock(&heaps_lock);
    return used;
}

/* First block of at least `size` granules: the own class is searched, any of
 * a larger class fits. */
static uint32_t find(const struct sc_heap *heap, uint32_t size)
{
    for (uint32_t c = class_of(size); c < CLASSES; c++)
        for (uint32_t at = heap->lists[c]; at != NONE; at = heap->next[at])
            if ((heap->size[at] & ~FREE) >= size)
                return at;
    return NONE;
}

uint64_t sc_heap_alloc(struct sc_heap *heap, uint64_t bytes)
{
    if (!heap || !bytes || bytes > (uint64_t)heap->granules * GRANULE)
        return 0;
    uint32_t size = (uint32_t)((bytes + GRANULE - 1) / GRANULE);
    pthread_mutex_lock(&heap->lock);
    uint32_t at = find(heap, size);
    if (at != NONE) {
        uint32_t have = heap->size[at] & ~FREE;
        list_remove(heap, at);
        if (have > size)
            list_add(heap, at + size, have - size);
        mark(heap, at, size, 0);
        heap->next[at] = at; /* begins here, which a size alone cannot say */
    }
    pthread_mutex_unlock(&heap->lock);
    return at == NONE ? 0 : heap->base + (uint64_t)at * GRANULE;
}

static void give_back(struct sc_heap *heap, uint32_t at)
{
    uint32_t size = heap->size[at], end = at + size;
    heap->next[at] = NONE;
    if (end < heap->granules && heap->size[end] & FREE) {
        size += heap->size[end] & ~FREE;
        list_remove(heap, end);
    }
    if (at && heap->size[at - 1] & FREE) {
        uint32_t before = heap->size[at - 1] & ~FREE;
        at -= before;
        size += before;
        list_remove(heap, at);
    }
    list_add(heap, at, size);
}

bool sc_heap_free(struct sc_heap *heap, uint64_t address)
{
    if (!heap || address < heap->base || (address - heap->base) % GRANULE)
        return false;
    uint64_t at = (address - heap->base) / GRANULE;
    if (at >= heap->granules)
        return false;
    pthread_mutex_lock(&heap->lock);
    uint32_t size = heap->size[at];
    bool live = size && !(size & FREE) && heap->next[at] == at;
    if (live)
        give_back(heap, (uint32_t)at);
    pthread_mutex_unlock(&heap->lock);
    return live;
}
