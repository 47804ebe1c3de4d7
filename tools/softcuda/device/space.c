/*
 * Owns: the mappings of the window and the heap of module variables.
 * Does not own: which address means what (the driver decides).
 * Lock: one inside for stores that fault, during which nothing is mapped or
 * unmapped; otherwise only the serving thread calls in after start.
 *
 * What a kernel is the first to write would come in small pages, a fault for
 * each. So device memory of more than 2 MiB, and the 2 MiB behind, where its rest
 * may lie, is mapped to be read, and the first store opens 2 MiB of it; where it
 * goes on from others that were, as much again.
 */
#include "device/space.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/large.h"
#include "base/ranges.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Variables are mapped by this much, so a wild access next to one faults. */
#define HEAP_PAGE 4096u

enum { AT_ONCE = 8 }; /* large pages that one store opens */

struct heap_block {
    uint64_t address, bytes;
    struct heap_block *next;
};

static int files[SC_FILES];
static uint32_t heap_file;
static uint64_t heap_base, heap_offset, heap_used;
static struct sc_ranges heap_free;
static struct heap_block *heap_blocks;

/* By 2 MiB of the window. */
enum {
    LATE = 1,  /* the first store opens it  */
    OPEN = 2,  /* ... and has done that     */
    FIRST = 4, /* a mapping begins here     */
};
static _Atomic uint8_t *late;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static uint64_t window_base, window_bytes;

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
    window_base = shared->window_base;
    window_bytes = shared->window_bytes;
    late = calloc(window_bytes / SC_LARGE + 1, sizeof *late);
    return late && sc_ranges_init(&heap_free, heap_base, shared->heap_bytes);
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

static uint64_t large_of(uint64_t address)
{
    return (address - window_base) / SC_LARGE;
}

static void set_late(uint64_t address, uint64_t bytes, uint8_t how)
{
    for (uint64_t i = large_of(address); i < large_of(address + bytes); i++) {
        late[i] = how;
        how &= ~FIRST;
    }
}

/* Not one page alone, since small allocations share those, but where it goes on
 * behind a large mapping. */
static bool is_large(uint64_t address, uint64_t bytes, uint64_t offset)
{
    bool behind = address > window_base && late[large_of(address) - 1] & LATE;
    return (bytes > SC_LARGE || (bytes == SC_LARGE && behind)) &&
           (address | bytes | offset) % SC_LARGE == 0;
}

bool sc_space_map(uint64_t address, uint64_t bytes, uint32_t file,
                  uint64_t offset, bool writable)
{
    if (file >= SC_FILES || files[file] <= 0)
        return false;
    bool opens =
        writable && file < SC_FILE_HOST && is_large(address, bytes, offset);
    void *got = mmap((void *)(uintptr_t)address, bytes,
                     PROT_READ | (writable && !opens ? PROT_WRITE : 0),
                     MAP_SHARED | MAP_FIXED, files[file], (off_t)offset);
    bool ok = got != MAP_FAILED;
    set_late(address, bytes, ok && opens ? LATE | FIRST : 0);
    return ok;
}

/* How many are opened together with the i-th. */
static uint64_t reach(uint64_t i)
{
    uint64_t n = 0, most = 1;
    while (most < AT_ONCE && !(late[i - most + 1] & FIRST) &&
           late[i - most] & OPEN)
        most++;
    do
        n++;
    while (n < most && late[i + n] == LATE);
    return n;
}

/* The system may have no mapping left for a part: as far as the mapping goes. */
static bool open_late(uint64_t i, uint64_t n)
{
    uint64_t at = window_base + i * SC_LARGE;
    sc_large_make(at, n * SC_LARGE);
    while (mprotect((void *)(uintptr_t)at, n * SC_LARGE,
                    PROT_READ | PROT_WRITE) != 0)
        if (late[i + n] != LATE)
            return false;
        else
            n++;
    while (n > 0)
        late[i + --n] |= OPEN;
    return true;
}

bool sc_space_open(uint64_t address)
{
    uint64_t i = large_of(address);
    if (address - window_base >= window_bytes || !late[i])
        return false;
    int saved = errno;
    pthread_mutex_lock(&opening);
    bool ok = late[i] & OPEN || open_late(i, reach(i));
    pthread_mutex_unlock(&opening);
    errno = saved;
    return ok;
}

void sc_space_unmap(uint64_t address, uint64_t bytes)
{
    set_late(address, bytes, 0);
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
