/*
 * Owns: the mappings of the window and the heap of module variables.
 * Does not own: which address means what (the driver decides).
 * No lock: only the serving thread calls in after start.
 */
#include "device/space.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/ranges.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Variables are mapped by this much, so a wild access next to one faults. */
#define HEAP_PAGE 4096u

struct heap_block {
    uint64_t address, bytes;
    struct heap_block *next;
};

static int files[SC_FILES];
static uint32_t heap_file;
static uint64_t heap_base, heap_offset, heap_used;
static struct sc_ranges heap_free;
static struct heap_block *heap_blocks;

bool sc_space_reserve(uint64_t base, uint64_t bytes)
{
    void *want = (void *)(uintptr_t)base;
    void *got =
        mmap(want, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
             -1, 0);
    if (got == MAP_FAILED)
        return false;
    if (got == want)
        return true;
    /* a kernel older than the flag took the address as a hint */
    munmap(got, bytes);
    return false;
}

bool sc_space_init(const struct sc_shared *shared, uint32_t own_file)
{
    heap_file = own_file;
    heap_base = shared->heap_base;
    heap_offset = shared->heap_offset;
    return sc_ranges_init(&heap_free, heap_base, shared->heap_bytes);
}

void sc_space_adopt(uint32_t file, int fd)
{
    if (file >= SC_FILES) {
        close(fd);
        return;
    }
    if (files[file] > 0)
        close(files[file]);
    files[file] = fd;
}

bool sc_space_map(uint64_t address, uint64_t bytes, uint32_t file,
                  uint64_t offset, bool writable)
{
    if (file >= SC_FILES || files[file] <= 0)
        return false;
    void *got = mmap((void *)(uintptr_t)address, bytes,
                     PROT_READ | (writable ? PROT_WRITE : 0),
                     MAP_SHARED | MAP_FIXED, files[file], (off_t)offset);
    return got != MAP_FAILED;
}

void sc_space_unmap(uint64_t address, uint64_t bytes)
{
    mmap((void *)(uintptr_t)address, bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

uint64_t sc_space_heap_alloc(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    uint64_t size = ((uint64_t)bytes + HEAP_PAGE - 1) & ~(HEAP_PAGE - 1ull);
    struct heap_block *block = malloc(sizeof *block);
    if (!block || size < bytes)
        goto fail;
    if (size == 0)
        size = HEAP_PAGE;
    uint64_t at =
        sc_ranges_take(&heap_free, size, align > HEAP_PAGE ? align : HEAP_PAGE);
    if (at == SC_RANGES_NONE)
        goto fail;
    if (!sc_space_map(at, size, heap_file, heap_offset + (at - heap_base),
                      true)) {
        sc_ranges_give(&heap_free, at, size);
        goto fail;
    }
    /* the pages may hold what an unloaded module left */
    memset((void *)(uintptr_t)at, 0, size);
    *block = (struct heap_block){at, size, heap_blocks};
    heap_blocks = block;
    heap_used += size;
    return at;
fail:
    free(block);
    return 0;
}

void sc_space_heap_free(void *ctx, uint64_t address)
{
    (void)ctx;
    for (struct heap_block **p = &heap_blocks; *p; p = &(*p)->next) {
        struct heap_block *block = *p;
        if (block->address != address)
            continue;
        *p = block->next;
        sc_space_unmap(block->address, block->bytes);
        sc_ranges_give(&heap_free, block->address, block->bytes);
        heap_used -= block->bytes;
        free(block);
        return;
    }
}

uint64_t sc_space_heap_bytes(void)
{
    return heap_used;
}
