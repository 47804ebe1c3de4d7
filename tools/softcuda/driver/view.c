/*
 * Owns: the mapping of a device's memory file, what of it has pages, and
 * whether host memory may be touched.
 * Does not own: the file (memory.c), the bytes that move (move.c).
 *
 * Not mapped where the address space is limited: that room is the program's.
 * System calls directly: wrappers may be hooked by a preloaded library.
 */
#include "driver/view.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/large.h"
#include "driver/device.h"
#include "driver/memory.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

#define PIECE_SHIFT 16 /* of a bit in `present` */

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/* Fault in all pages of a range, or say that one cannot be. */
static bool populate(uint64_t address, uint64_t bytes, int advice)
{
    uint64_t first = address & ~((uint64_t)getpagesize() - 1);
    return syscall(SYS_madvise, first, address + bytes - first, advice) == 0;
}

/* Linux 6.11 answers for one mapping what it took to read all of them. */
struct map_query {
    uint64_t size, flags, address;
    uint64_t start, end, is, page_size, offset, inode;
    uint32_t device[2], name_bytes, build_id_bytes;
    uint64_t name, build_id;
};
#define MAP_QUERY      _IOWR('f', 17, struct map_query)
#define MAP_IS_READ    1u
#define MAP_IS_WRITTEN 2u

static int open_maps(void)
{
    static _Atomic int file; /* + 2, so that 0 is not opened yet, 1 refused */
    int fd = atomic_load_explicit(&file, memory_order_relaxed) - 2;
    if (fd >= -1)
        return fd;
    fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps",
                      O_RDONLY | O_CLOEXEC);
    int none = 0;
    if (!atomic_compare_exchange_strong(&file, &none, fd + 2)) {
        close(fd);
        return none - 2;
    }
    return fd;
}

/* A file's last pages may lie behind its end; page-locked memory is ours, or
 * was there when it was registered. */
static bool is_whole(const struct map_query *map, uint64_t address,
                     uint64_t bytes, int advice)
{
    return map->inode == 0 || sc_pinned_covers(address, bytes) ||
           populate(address, bytes, advice);
}

/* By mappings, which costs nothing a page, or else page by page. */
static bool can_access(uint64_t address, uint64_t bytes, uint64_t want,
                       int advice)
{
    while (bytes > 0) {
        struct map_query map = {.size = sizeof map, .address = address};
        if (syscall(SYS_ioctl, open_maps(), MAP_QUERY, &map) != 0)
            return errno != ENOENT && populate(address, bytes, advice);
        uint64_t here = map.end - address < bytes ? map.end - address : bytes;
        if ((map.is & want) != want || !is_whole(&map, address, here, advice))
            return false;
        address += here;
        bytes -= here;
    }
    return true;
}

bool sc_view_can_read(uint64_t address, uint64_t bytes)
{
    return can_access(address, bytes, MAP_IS_READ, MADV_POPULATE_READ);
}

bool sc_view_can_write(uint64_t address, uint64_t bytes)
{
    return can_access(address, bytes, MAP_IS_READ | MAP_IS_WRITTEN,
                      MADV_POPULATE_WRITE);
}

/* Room that starts where a large page does. */
static uint64_t take_room(uint64_t bytes)
{
    long at = syscall(SYS_mmap, 0, bytes + SC_PAGE, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == -1)
        return 0;
    uint64_t start = (uint64_t)at, end = start + bytes + SC_PAGE;
    uint64_t base = (start + SC_PAGE - 1) & ~(SC_PAGE - 1);
    if (base > start)
        syscall(SYS_munmap, start, base - start);
    syscall(SYS_munmap, base + bytes, end - (base + bytes));
    return base;
}

/* Open a mapping whose pages are not there until they are used: a program that
 * locks all that it maps (MCL_FUTURE) would get pages for all the addresses. */
static bool unlock(uint64_t address, uint64_t bytes)
{
    return syscall(SYS_munlock, address, bytes) == 0 &&
           syscall(SYS_mprotect, address, bytes, PROT_READ | PROT_WRITE) == 0;
}

static uint8_t *map_file(int file, uint64_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
        return NULL;
    uint64_t room = take_room(bytes);
    if (!room)
        return NULL;
    long at = syscall(SYS_mmap, room, bytes, PROT_NONE,
                      MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0);
    uint8_t *base = (uint8_t *)(uintptr_t)room;
    /* a forked child must not write to the parent's device, and a core file
     * is not helped by it; an old kernel does not know how to populate */
    if (at != -1 && unlock(room, bytes) &&
        syscall(SYS_madvise, base, bytes, MADV_DONTFORK) == 0 &&
        syscall(SYS_madvise, base, bytes, MADV_DONTDUMP) == 0 &&
        populate(room, 1, MADV_POPULATE_READ))
        return base;
    syscall(SYS_munmap, base, bytes);
    return NULL;
}

static uint8_t *open_view(struct sc_device *device)
{
    struct sc_view *view = &device->view;
    pthread_mutex_lock(&opening);
    uint8_t *base = atomic_load_explicit(&view->base, memory_order_relaxed);
    if (!base && !view->refused) {
        uint64_t bytes = device->heap_offset + device->heap_bytes;
        uint64_t words = (bytes >> PIECE_SHIFT) / 64 + 1;
        view->bytes = bytes;
        view->present = calloc(words, sizeof *view->present);
        if (view->present)
            base = map_file(sc_device_file(device), bytes);
        view->refused = !base;
        atomic_store_explicit(&view->base, base, memory_order_release);
    }
    pthread_mutex_unlock(&opening);
    return base;
}

static bool is_present(const struct sc_view *view, uint64_t piece)
{
    return atomic_load_explicit(&view->present[piece / 64],
                                memory_order_relaxed) >>
               piece % 64 &
           1;
}

/* Map the pages of pieces [first, end), none of which is present. */
static bool take_pieces(struct sc_view *view, uint64_t first, uint64_t end)
{
    uint64_t at = first << PIECE_SHIFT, bytes = (end - first) << PIECE_SHIFT;
    if (bytes > view->bytes - at)
        bytes = view->bytes - at;
    sc_large_make((uint64_t)(uintptr_t)view->base + at, bytes);
    /* reading maps more than one page at a time, and writable ones */
    if (!populate((uint64_t)(uintptr_t)view->base + at, bytes,
                  MADV_POPULATE_READ))
        return false;
    for (uint64_t piece = first; piece < end; piece++)
        atomic_fetch_or_explicit(&view->present[piece / 64], 1ull << piece % 64,
                                 memory_order_relaxed);
    return true;
}

uint8_t *sc_view_base(struct sc_device *device)
{
    struct sc_view *view = &device->view;
    uint8_t *base = atomic_load_explicit(&view->base, memory_order_acquire);
    return base || view->refused ? base : open_view(device);
}

uint8_t *sc_view_at(struct sc_device *device, uint64_t offset, uint64_t bytes)
{
    struct sc_view *view = &device->view;
    uint8_t *base = sc_view_base(device);
    if (!base)
        return NULL;
    uint64_t piece = offset >> PIECE_SHIFT;
    uint64_t end = ((offset + bytes - 1) >> PIECE_SHIFT) + 1;
    while (piece < end) {
        uint64_t first = piece;
        while (piece < end && !is_present(view, piece))
            piece++;
        if (piece > first && !take_pieces(view, first, piece))
            return NULL;
        while (piece < end && is_present(view, piece))
            piece++;
    }
    return base + offset;
}

void sc_view_forget(struct sc_device *device, uint64_t offset, uint64_t bytes)
{
    struct sc_view *view = &device->view;
    if (!atomic_load_explicit(&view->base, memory_order_acquire))
        return;
    uint64_t end = (offset + bytes) >> PIECE_SHIFT;
    for (uint64_t piece = offset >> PIECE_SHIFT; piece < end; piece++)
        atomic_fetch_and_explicit(&view->present[piece / 64],
                                  ~(1ull << piece % 64), memory_order_relaxed);
}
