/*
 * Owns: the window, the sorted table of blocks, the files' free space, and
 * what device processes are told to map.
 * Does not own: policies of allocation (alloc.c, pinned.c, vmm.c).
 * Lock: sc_memory_lock, rank 2.
 */
#include "driver/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/addresses.h"
#include "driver/device.h"
#include "driver/view.h"

#define WINDOW_BYTES (1ull << 40)
/* Left to the program when the address space is limited (ulimit -v). */
#define HEADROOM (256ull << 20)

pthread_mutex_t sc_memory_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t window_base, window_bytes;
static struct sc_file host_file;

/* under sc_memory_lock, sorted by address */
static struct sc_block **blocks;
static size_t block_count, block_capacity;
static uint64_t last_id;

static uint64_t heap_size(void)
{
    return (sc_options.memory_bytes / 4 + SC_PAGE - 1) & ~(SC_PAGE - 1);
}

static bool reserve(uint64_t bytes)
{
    void *room = mmap(NULL, bytes + HEADROOM, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return false;
    uint64_t start = (uint64_t)(uintptr_t)room;
    uint64_t end = start + bytes + HEADROOM;
    window_base = (start + SC_PAGE - 1) & ~(SC_PAGE - 1);
    window_bytes = bytes;
    uint64_t window_end = window_base + bytes;
    if (window_base > start)
        munmap(room, window_base - start);
    munmap((void *)(uintptr_t)window_end, end - window_end);
    return true;
}

CUresult sc_memory_init(void)
{
    uint64_t per_device = sc_options.memory_bytes + heap_size();
    uint64_t need = SC_PAGE + (uint64_t)sc_options.devices * per_device;
    uint64_t bytes = WINDOW_BYTES;
    while (bytes / 2 >= need && !reserve(bytes))
        bytes /= 2;
    if (!window_base && !reserve(need)) {
        sc_say("no %llu MiB of address space for %d devices of %llu MiB "
               "(ulimit -%s?); lower SOFTCUDA_MEMORY or SOFTCUDA_DEVICES",
               (unsigned long long)(need >> 20), sc_options.devices,
               (unsigned long long)(sc_options.memory_bytes >> 20),
               errno == EAGAIN ? "l, after mlockall" : "v");
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    host_file = sc_file_note(
        sc_file_make("softcuda-host", SC_HOST_FILE_BYTES + SC_SCRATCH_BYTES));
    if (!host_file.open) {
        sc_say("no file for page-locked memory: %s", sc_file_why());
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    uint64_t heaps = SC_PAGE + (uint64_t)sc_options.devices * heap_size();
    return sc_addresses_init(window_base + heaps, window_bytes - heaps)
               ? CUDA_SUCCESS
               : CUDA_ERROR_OUT_OF_MEMORY;
}

uint64_t sc_memory_window_base(void)
{
    return window_base;
}

uint64_t sc_memory_window_bytes(void)
{
    return window_bytes;
}

int sc_memory_host_file(void)
{
    static _Atomic bool said;
    int number = sc_file_number(&host_file);
    if (number < 0 && !atomic_exchange(&said, true))
        sc_say("the program has closed descriptor %d, which was the driver's "
               "page-locked memory: there is none from now on",
               host_file.number);
    return number;
}

bool sc_memory_in_window(uint64_t address)
{
    return address - window_base < window_bytes &&
           !sc_addresses_are_host(address);
}

CUresult sc_memory_device_init(struct sc_device *device)
{
    /* Offsets are not memory: plenty of them keeps large allocations from
     * failing for fragmentation, as page tables do on hardware. */
    uint64_t space = sc_options.memory_bytes * 16;
    int fd = sc_file_make("softcuda-memory", space + heap_size());
    if (fd < 0) {
        sc_say("device %d: no file for its memory: %s", device->ordinal,
               sc_file_why());
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!sc_ranges_init(&device->offsets, 0, space)) {
        close(fd);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    device->memory_file = sc_file_note(fd);
    device->heap_offset = space;
    device->heap_bytes = heap_size();
    /* a page is left out: kernels may read shortly before their variables */
    device->heap_base =
        window_base + SC_PAGE + (uint64_t)device->ordinal * heap_size();
    device->adopted = 1u << device->ordinal;
    return CUDA_SUCCESS;
}

/* Index of the first block that starts behind `address`. */
static size_t above(uint64_t address)
{
    size_t low = 0, high = block_count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (blocks[mid]->address <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct sc_block *sc_memory_find(uint64_t address)
{
    size_t i = above(address);
    if (i == 0 || address - blocks[i - 1]->address >= blocks[i - 1]->bytes)
        return NULL;
    return blocks[i - 1];
}

struct sc_block *sc_memory_next(uint64_t address)
{
    size_t i = above(address);
    if (i > 0 && blocks[i - 1]->address == address)
        return blocks[i - 1];
    return i < block_count ? blocks[i] : NULL;
}

struct sc_block *sc_memory_add(const struct sc_block *block)
{
    if (block_count == block_capacity) {
        size_t capacity = block_capacity ? block_capacity * 2 : 64;
        struct sc_block **grown = realloc(blocks, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        blocks = grown;
        block_capacity = capacity;
    }
    struct sc_block *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *block;
    copy->id = ++last_id;
    size_t i = above(block->address);
    memmove(blocks + i + 1, blocks + i, (block_count - i) * sizeof *blocks);
    blocks[i] = copy;
    block_count++;
    return copy;
}

void sc_memory_remove(struct sc_block *block)
{
    size_t i = above(block->address) - 1;
    block_count--;
    memmove(blocks + i, blocks + i + 1, (block_count - i) * sizeof *blocks);
    free(block);
}

bool sc_memory_lookup(uint64_t address, struct sc_block *block)
{
    pthread_mutex_lock(&sc_memory_lock);
    struct sc_block *found = sc_memory_find(address);
    if (found)
        *block = *found;
    pthread_mutex_unlock(&sc_memory_lock);
    return found != NULL;
}

bool sc_memory_covers(uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    if (end < address)
        return false;
    pthread_mutex_lock(&sc_memory_lock);
    bool ok = true;
    while (ok && address < end) {
        struct sc_block *b = sc_memory_find(address);
        ok = b && (b->kind != SC_BLOCK_MAPPED || b->readable);
        if (ok)
            address = b->address + b->bytes;
    }
    pthread_mutex_unlock(&sc_memory_lock);
    return ok;
}

bool sc_memory_place(uint64_t address, struct sc_place *place)
{
    struct sc_block block;
    if (!sc_memory_lookup(address, &block))
        return false;
    uint64_t into = address - block.address;
    place->device = block.device;
    place->offset = block.offset + into;
    place->bytes = block.bytes - into;
    place->import = block.import;
    return true;
}

bool sc_memory_charge(struct sc_device *device, uint64_t bytes)
{
    if (bytes > sc_options.memory_bytes - device->used_bytes)
        return false;
    device->used_bytes += bytes;
    sc_memory_allowed(device);
    return true;
}

uint64_t sc_memory_take(struct sc_device *device, uint64_t bytes)
{
    if (!sc_memory_charge(device, bytes))
        return SC_RANGES_NONE;
    uint64_t offset = sc_ranges_take(&device->offsets, bytes, SC_PAGE);
    if (offset == SC_RANGES_NONE)
        device->used_bytes -= bytes;
    return offset;
}

void sc_memory_give(struct sc_device *device, uint64_t offset, uint64_t bytes)
{
    fallocate(sc_device_file(device),
              FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
              (off_t)bytes);
    sc_view_forget(device, offset, bytes);
    sc_ranges_give(&device->offsets, offset, bytes);
    device->used_bytes -= bytes;
}

static void post_adopt(struct sc_device *viewer, struct sc_device *owner)
{
    int file = sc_device_file(owner);
    struct sc_op *op = file < 0 ? NULL : sc_op_new(SC_OP_COMPUTE, viewer, NULL);
    struct sc_command_adopt *c =
        op ? sc_op_command(op, SC_COMMAND_ADOPT, sizeof *c) : NULL;
    if (!c)
        return;
    c->file = (uint32_t)owner->ordinal;
    op->compute.file = file;
    sc_op_submit(op, NULL);
}

void sc_memory_show(struct sc_device *viewer, struct sc_device *owner,
                    uint64_t address, uint64_t bytes, uint64_t offset,
                    bool writable)
{
    if (owner && !(viewer->adopted & 1u << owner->ordinal)) {
        post_adopt(viewer, owner);
        viewer->adopted |= 1u << owner->ordinal;
    }
    sc_memory_show_file(viewer, owner ? (uint32_t)owner->ordinal : SC_FILE_HOST,
                        address, bytes, offset, writable);
}

void sc_memory_show_file(struct sc_device *viewer, uint32_t file,
                         uint64_t address, uint64_t bytes, uint64_t offset,
                         bool writable)
{
    struct sc_op *op = sc_op_new(SC_OP_COMPUTE, viewer, NULL);
    struct sc_command_map *c =
        op ? sc_op_command(op, SC_COMMAND_MAP, sizeof *c) : NULL;
    if (!c)
        return;
    c->address = address;
    c->bytes = bytes;
    c->offset = offset;
    c->file = file;
    c->writable = writable;
    sc_op_submit(op, NULL);
}

void sc_memory_hide(struct sc_device *viewer, uint64_t address, uint64_t bytes)
{
    struct sc_op *op = sc_op_new(SC_OP_COMPUTE, viewer, NULL);
    struct sc_command_unmap *c =
        op ? sc_op_command(op, SC_COMMAND_UNMAP, sizeof *c) : NULL;
    if (!c)
        return;
    c->address = address;
    c->bytes = bytes;
    sc_op_submit(op, NULL);
}

static bool sees(struct sc_device *viewer, struct sc_device *owner)
{
    return viewer == owner || (owner->seen_by & 1u << viewer->ordinal);
}

void sc_memory_show_all(struct sc_device *owner, uint64_t address,
                        uint64_t bytes, uint64_t offset)
{
    for (int i = 0; i < sc_device_count(); i++) {
        struct sc_device *viewer = sc_device_get(i);
        if (sees(viewer, owner))
            sc_memory_show(viewer, owner, address, bytes, offset, true);
    }
}

void sc_memory_hide_all(struct sc_device *owner, uint64_t address,
                        uint64_t bytes)
{
    for (int i = 0; i < sc_device_count(); i++)
        if (sees(sc_device_get(i), owner))
            sc_memory_hide(sc_device_get(i), address, bytes);
}

void sc_memory_peer(struct sc_device *viewer, struct sc_device *owner,
                    bool enable)
{
    pthread_mutex_lock(&sc_memory_lock);
    for (size_t i = 0; i < block_count; i++) {
        struct sc_block *b = blocks[i];
        if (b->device != owner || b->kind != SC_BLOCK_ALLOC || b->slab)
            continue;
        if (enable)
            sc_memory_show(viewer, owner, b->address, b->span, b->offset, true);
        else
            sc_memory_hide(viewer, b->address, b->span);
    }
    for (struct sc_slab *s = owner->slabs; s; s = s->next) {
        if (enable)
            sc_memory_show(viewer, owner, s->address, SC_PAGE, s->offset, true);
        else
            sc_memory_hide(viewer, s->address, SC_PAGE);
    }
    if (enable)
        owner->seen_by |= 1u << viewer->ordinal;
    else
        owner->seen_by &= ~(1u << viewer->ordinal);
    pthread_mutex_unlock(&sc_memory_lock);
}

void sc_memory_device_joined(struct sc_device *device)
{
    pthread_mutex_lock(&sc_memory_lock);
    for (size_t i = 0; i < block_count; i++)
        if (sc_memory_is_host(blocks[i]->kind))
            sc_memory_show(device, NULL, blocks[i]->address, blocks[i]->span,
                           blocks[i]->offset, true);
    pthread_mutex_unlock(&sc_memory_lock);
}
