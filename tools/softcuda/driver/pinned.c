/*
 * Owns: page-locked host memory, allocated (in the window, shared with the
 * device processes) or registered (the program's own).
 * Does not own: the block table (memory.c).  Lock: sc_memory_lock.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/large.h"
#include "driver/addresses.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory.h"
#include "driver/mirror.h"
#include "driver/view.h"

#define HOST_PAGE 4096ull

/* under sc_memory_lock, sorted by address */
static struct sc_registered *registered;
static size_t registered_count, registered_capacity;
static struct sc_ranges offsets; /* free parts of the host memory file */

static void for_started_devices(void (*visit)(struct sc_device *,
                                              const struct sc_block *),
                                const struct sc_block *block)
{
    for (int i = 0; i < sc_device_count(); i++)
        if (sc_device_get(i)->started)
            visit(sc_device_get(i), block);
}

static void show(struct sc_device *device, const struct sc_block *block)
{
    sc_memory_show(device, NULL, block->address, block->span, block->offset,
                   true);
}

static void hide(struct sc_device *device, const struct sc_block *block)
{
    sc_memory_hide(device, block->address, block->span);
}

static bool map_here(const struct sc_block *block)
{
    void *at = (void *)(uintptr_t)block->address;
    return mmap(at, block->span, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                sc_memory_host_file(), (off_t)block->offset) == at;
}

static void unmap_here(const struct sc_block *block)
{
    mmap((void *)(uintptr_t)block->address, block->span, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static bool place(struct sc_block *block)
{
    if (!offsets.list && !sc_ranges_init(&offsets, 0, SC_HOST_FILE_BYTES))
        return false;
    uint64_t align = block->span < SC_PAGE ? HOST_PAGE : SC_PAGE;
    block->offset = sc_ranges_take(&offsets, block->span, align);
    if (block->offset == SC_RANGES_NONE)
        return false;
    block->address = sc_addresses_take(block->span, align);
    if (block->address == SC_RANGES_NONE) {
        sc_ranges_give(&offsets, block->offset, block->span);
        return false;
    }
    return true;
}

static void displace(const struct sc_block *block)
{
    fallocate(sc_memory_host_file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              (off_t)block->offset, (off_t)block->span);
    sc_ranges_give(&offsets, block->offset, block->span);
    sc_addresses_give(block->address, block->span);
}

/* A device that shares the host's memory has so much less of it. */
static bool charge(struct sc_block *block)
{
    if (!sc_options.integrated)
        return true;
    block->charged = block->ctx->device;
    return sc_memory_charge(block->charged, block->span);
}

static void discharge(const struct sc_block *block)
{
    if (block->charged)
        block->charged->used_bytes -= block->span;
}

CUresult sc_pinned_alloc(CUcontext ctx, enum sc_block_kind kind, uint64_t bytes,
                         unsigned flags, uint64_t *address)
{
    struct sc_block block = {.bytes = bytes,
                             .span = (bytes + HOST_PAGE - 1) & ~(HOST_PAGE - 1),
                             .kind = kind,
                             .ctx = ctx,
                             .flags = flags};
    block.advice.preferred.type = CU_MEM_LOCATION_TYPE_INVALID;
    if (block.span < bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&sc_memory_lock);
    if (!charge(&block)) {
        pthread_mutex_unlock(&sc_memory_lock);
        return sc_memory_refuse(block.charged, block.span);
    }
    bool ok = place(&block);
    if (ok && (!map_here(&block) || !sc_memory_add(&block))) {
        unmap_here(&block);
        displace(&block);
        ok = false;
    }
    if (ok)
        for_started_devices(show, &block);
    else
        discharge(&block);
    pthread_mutex_unlock(&sc_memory_lock);
    /* it is all the memory there is: with large pages, as the other kind */
    if (ok && sc_options.integrated)
        sc_large_make(block.address, block.span);
    *address = block.address;
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sc_pinned_free(enum sc_block_kind kind, uint64_t address)
{
    struct sc_block block;
    if (!sc_memory_lookup(address, &block) || block.address != address ||
        block.kind != kind || block.leaving || block.program)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < sc_device_count(); i++)
        sc_device_drain(sc_device_get(i));
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_block *found = sc_memory_find(address);
    bool ok = found && found->id == block.id;
    if (ok) {
        sc_memory_remove(found);
        for_started_devices(hide, &block);
        unmap_here(&block);
        displace(&block);
        discharge(&block);
    }
    pthread_mutex_unlock(&sc_memory_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Index of the first registered range that ends behind `address`. */
static size_t find_registered(uint64_t address)
{
    size_t low = 0, high = registered_count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (registered[mid].address + registered[mid].bytes <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Pages from the one that holds `address` to the one that holds the end. */
static uint64_t first_page(uint64_t address)
{
    return address & ~(HOST_PAGE - 1);
}

static uint64_t page_span(uint64_t address, uint64_t bytes)
{
    uint64_t first = first_page(address);
    return (address + bytes - first + HOST_PAGE - 1) & ~(HOST_PAGE - 1);
}

static void unshow(struct sc_registered *range)
{
    struct sc_block *block = sc_memory_find(range->shown_address);
    sc_mirror_remove(range->address);
    if (block) {
        struct sc_block copy = *block;
        sc_memory_remove(block);
        for_started_devices(hide, &copy);
        unmap_here(&copy);
        displace(&copy);
    }
    range->shown_address = 0;
}

static CUresult show_range(CUcontext ctx, struct sc_registered *range)
{
    uint64_t first = first_page(range->address);
    struct sc_block block = {.bytes = page_span(range->address, range->bytes),
                             .kind = SC_BLOCK_HOST,
                             .ctx = ctx,
                             .flags = range->flags,
                             .program = first};
    block.span = block.bytes;
    if (!place(&block))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (map_here(&block) && sc_memory_add(&block)) {
        if (sc_mirror_add(range->address,
                          block.address + (range->address - first),
                          range->bytes)) {
            range->shown_address = block.address;
            for_started_devices(show, &block);
            return CUDA_SUCCESS;
        }
        sc_memory_remove(sc_memory_find(block.address));
    }
    unmap_here(&block);
    displace(&block);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sc_pinned_show(CUcontext ctx, uint64_t address, uint64_t *shown)
{
    struct sc_registered found;
    if (!sc_pinned_registered(address, &found) ||
        !sc_view_can_read(found.address, found.bytes))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_mirror_lock);
    pthread_mutex_lock(&sc_memory_lock);
    size_t i = find_registered(address);
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    if (i < registered_count && registered[i].address <= address) {
        struct sc_registered *range = &registered[i];
        result = range->shown_address ? CUDA_SUCCESS : show_range(ctx, range);
        *shown = range->shown_address + (address - first_page(range->address));
    }
    pthread_mutex_unlock(&sc_memory_lock);
    pthread_mutex_unlock(&sc_mirror_lock);
    return result;
}

CUresult sc_pinned_register(uint64_t address, uint64_t bytes, unsigned flags)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&sc_memory_lock);
    size_t i = find_registered(address);
    if (registered_count == registered_capacity) {
        size_t capacity = registered_capacity ? registered_capacity * 2 : 64;
        void *grown = realloc(registered, capacity * sizeof *registered);
        if (grown) {
            registered = grown;
            registered_capacity = capacity;
        }
    }
    struct sc_block *block = sc_memory_find(address);
    if ((i < registered_count && registered[i].address < address + bytes) ||
        (block && sc_memory_is_host(block->kind))) {
        result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    } else if (block) {
        result = CUDA_ERROR_INVALID_VALUE; /* device memory */
    } else if (registered_count == registered_capacity) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        memmove(registered + i + 1, registered + i,
                (registered_count - i) * sizeof *registered);
        registered[i] = (struct sc_registered){
            .address = address, .bytes = bytes, .flags = flags};
        registered_count++;
    }
    pthread_mutex_unlock(&sc_memory_lock);
    return result;
}

CUresult sc_pinned_unregister(uint64_t address)
{
    struct sc_registered range;
    if (!sc_pinned_registered(address, &range) || range.address != address)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    for (int i = 0; i < sc_device_count(); i++)
        sc_device_drain(sc_device_get(i));
    pthread_mutex_lock(&sc_mirror_lock);
    pthread_mutex_lock(&sc_memory_lock);
    size_t i = find_registered(address);
    if (i < registered_count && registered[i].address == address) {
        if (registered[i].shown_address)
            unshow(&registered[i]);
        registered_count--;
        memmove(registered + i, registered + i + 1,
                (registered_count - i) * sizeof *registered);
    }
    pthread_mutex_unlock(&sc_memory_lock);
    pthread_mutex_unlock(&sc_mirror_lock);
    return CUDA_SUCCESS;
}

bool sc_pinned_registered(uint64_t address, struct sc_registered *range)
{
    pthread_mutex_lock(&sc_memory_lock);
    size_t i = find_registered(address);
    bool ok = i < registered_count && registered[i].address <= address;
    if (ok)
        *range = registered[i];
    pthread_mutex_unlock(&sc_memory_lock);
    return ok;
}

bool sc_pinned_covers(uint64_t address, uint64_t bytes)
{
    struct sc_block block;
    struct sc_registered range;
    if (sc_memory_lookup(address, &block) && sc_memory_is_host(block.kind))
        return bytes <= block.bytes - (address - block.address);
    /* neighbouring registrations count together */
    while (bytes > 0 && sc_pinned_registered(address, &range)) {
        uint64_t here = range.bytes - (address - range.address);
        if (here >= bytes)
            return true;
        address += here;
        bytes -= here;
    }
    return bytes == 0;
}
