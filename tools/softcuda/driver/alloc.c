/*
 * Owns: cuMemAlloc and cuMemFree: slabs for small sizes, pages for large.
 * Does not own: the block table (memory.c).  Lock: sc_memory_lock.
 */
#include <stdlib.h>

#include "driver/addresses.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory.h"
#include "driver/pool.h"

/* Larger requests would leave half of a shared page unused. */
#define SMALL_LIMIT (1ull << 20)

/* Has it a mapping of its own on the host? On the H200, 64 MiB have, 2 MiB have
 * not; of what is between, nothing is known. */
static bool is_apart(uint64_t span)
{
    return span > SC_PAGE;
}

static uint64_t place(CUmemoryPool pool, uint64_t span)
{
    if (pool)
        return sc_pool_place(pool, span);
    return is_apart(span) ? sc_addresses_map(span, SC_PAGE, 0)
                          : sc_addresses_take(span, SC_PAGE);
}

static void displace(CUmemoryPool pool, uint64_t address, uint64_t span)
{
    if (pool)
        sc_pool_displace(pool, address, span);
    else if (is_apart(span))
        sc_addresses_unmap(address, span);
    else
        sc_addresses_give(address, span);
}

static struct sc_slab *slab_new(struct sc_device *device, CUcontext ctx,
                                CUmemoryPool pool)
{
    struct sc_slab *slab = calloc(1, sizeof *slab);
    if (!slab || !sc_ranges_init(&slab->free, 0, SC_PAGE))
        goto fail;
    slab->offset = sc_memory_take(device, SC_PAGE);
    if (slab->offset == SC_RANGES_NONE)
        goto fail;
    slab->address = place(pool, SC_PAGE);
    if (slab->address == SC_RANGES_NONE) {
        sc_memory_give(device, slab->offset, SC_PAGE);
        goto fail;
    }
    slab->pool = pool;
    slab->ctx = ctx;
    slab->next = device->slabs;
    device->slabs = slab;
    sc_memory_show_all(device, slab->address, SC_PAGE, slab->offset);
    return slab;
fail:
    if (slab)
        sc_ranges_fini(&slab->free);
    free(slab);
    return NULL;
}

static void slab_free(struct sc_device *device, struct sc_slab *slab)
{
    for (struct sc_slab **p = &device->slabs; *p; p = &(*p)->next)
        if (*p == slab) {
            *p = slab->next;
            break;
        }
    sc_memory_hide_all(device, slab->address, SC_PAGE);
    sc_memory_give(device, slab->offset, SC_PAGE);
    displace(slab->pool, slab->address, SC_PAGE);
    sc_ranges_fini(&slab->free);
    free(slab);
}

static bool alloc_small(struct sc_device *device, struct sc_block *block)
{
    block->span = (block->bytes + SC_SMALLEST - 1) & ~(SC_SMALLEST - 1ull);
    CUcontext owner = block->pool ? NULL : block->ctx;
    struct sc_slab *slab = device->slabs;
    uint64_t at = SC_RANGES_NONE;
    for (; slab; slab = slab->next) {
        if (slab->pool == block->pool && slab->ctx == owner)
            at = sc_ranges_take(&slab->free, block->span, SC_SMALLEST);
        if (at != SC_RANGES_NONE)
            break;
    }
    if (!slab) {
        slab = slab_new(device, owner, block->pool);
        if (!slab)
            return false;
        at = sc_ranges_take(&slab->free, block->span, SC_SMALLEST);
    }
    slab->live++;
    block->slab = slab;
    block->address = slab->address + at;
    block->offset = slab->offset + at;
    return true;
}

static bool alloc_large(struct sc_device *device, struct sc_block *block)
{
    block->span = (block->bytes + SC_PAGE - 1) & ~(SC_PAGE - 1);
    if (block->span < block->bytes)
        return false;
    block->offset = sc_memory_take(device, block->span);
    if (block->offset == SC_RANGES_NONE)
        return false;
    block->address = place(block->pool, block->span);
    if (block->address == SC_RANGES_NONE) {
        sc_memory_give(device, block->offset, block->span);
        return false;
    }
    sc_memory_show_all(device, block->address, block->span, block->offset);
    return true;
}

/* Return the memory of a block that is (or never got) out of the table. */
static void release(struct sc_block block)
{
    struct sc_device *device = block.device;
    if (block.slab) {
        sc_ranges_give(&block.slab->free, block.address - block.slab->address,
                       block.span);
        if (--block.slab->live == 0)
            slab_free(device, block.slab);
        return;
    }
    sc_memory_hide_all(device, block.address, block.span);
    sc_memory_give(device, block.offset, block.span);
    displace(block.pool, block.address, block.span);
}

CUresult sc_alloc_in_pool(CUcontext ctx, struct sc_device *device,
                          CUmemoryPool pool, uint64_t bytes, uint64_t *address)
{
    struct sc_block block = {.bytes = bytes,
                             .kind = SC_BLOCK_ALLOC,
                             .device = device,
                             .ctx = ctx,
                             .pool = pool};
    pthread_mutex_lock(&sc_memory_lock);
    bool ok = bytes <= SMALL_LIMIT ? alloc_small(device, &block)
                                   : alloc_large(device, &block);
    if (ok &&
        ((pool && !sc_pool_charge(pool, bytes)) || !sc_memory_add(&block))) {
        release(block);
        ok = false;
    }
    pthread_mutex_unlock(&sc_memory_lock);
    *address = block.address;
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void sc_alloc_conceal(uint64_t address)
{
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_block *block = sc_memory_find(address);
    if (block)
        block->opaque = true;
    pthread_mutex_unlock(&sc_memory_lock);
}

CUresult sc_alloc_on(CUcontext ctx, struct sc_device *device, uint64_t bytes,
                     uint64_t *address)
{
    CUresult result = sc_alloc_in_pool(ctx, device, NULL, bytes, address);
    return result == CUDA_ERROR_OUT_OF_MEMORY ? sc_memory_refuse(device, bytes)
                                              : result;
}

CUresult sc_alloc(CUcontext ctx, uint64_t bytes, uint64_t *address)
{
    return sc_alloc_on(ctx, ctx->device, bytes, address);
}

static void free_locked(struct sc_block *block)
{
    struct sc_block copy = *block;
    sc_memory_remove(block);
    release(copy);
    if (copy.pool)
        sc_pool_discharge(copy.pool, copy.bytes);
}

void sc_alloc_release(uint64_t address, uint64_t id)
{
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_block *found = sc_memory_find(address);
    if (found && found->id == id)
        free_locked(found);
    pthread_mutex_unlock(&sc_memory_lock);
}

CUresult sc_alloc_free(uint64_t address)
{
    struct sc_block block;
    if (!sc_memory_lookup(address, &block) || block.address != address)
        return CUDA_ERROR_INVALID_VALUE;
    if (block.kind == SC_BLOCK_MANAGED)
        return sc_pinned_free(SC_BLOCK_MANAGED, address);
    if (block.kind != SC_BLOCK_ALLOC || block.leaving)
        return CUDA_ERROR_INVALID_VALUE;
    /* Copies resolve addresses while they run, and kernels may use them. */
    sc_device_drain(block.device);
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_block *found = sc_memory_find(address);
    bool ok = found && found->id == block.id;
    if (ok)
        free_locked(found);
    pthread_mutex_unlock(&sc_memory_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void sc_alloc_free_context(CUcontext ctx)
{
    pthread_mutex_lock(&sc_memory_lock);
    uint64_t from = 0;
    struct sc_block *block;
    while ((block = sc_memory_next(from))) {
        from = block->address + 1;
        if (block->ctx == ctx && block->kind == SC_BLOCK_ALLOC)
            free_locked(block);
    }
    pthread_mutex_unlock(&sc_memory_lock);
}
