/*
 * Owns: free addresses of the window.
 * Does not own: the window as a whole (memory.c), page-locked memory, which is
 * mapped in the place of a placeholder (pinned.c).
 *
 * System calls directly: wrappers may be hooked by a preloaded library.
 */
#include "driver/addresses.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ranges.h"
#include "driver/driver.h"
#include "driver/memory.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* How often a range that is not all to be had is halved to get the rest. */
#define HALVINGS 6

static struct sc_ranges mapped;   /* a placeholder, or the program's pages */
static struct sc_ranges unmapped; /* nothing, or what the program got there */
static _Atomic bool any_unmapped; /* or there was some */

static bool put_placeholder(uint64_t base, uint64_t bytes, int how)
{
    long at =
        syscall(SYS_mmap, base, bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | how, -1, 0L);
    if (at != -1 && at != (long)base) /* Linux before 4.17 */
        syscall(SYS_munmap, at, bytes);
    return at == (long)base;
}

/* Map again what of a range nobody else has mapped. */
static void reclaim(uint64_t base, uint64_t bytes, int halvings)
{
    if (put_placeholder(base, bytes, MAP_FIXED_NOREPLACE)) {
        if (sc_ranges_take_at(&unmapped, base, bytes))
            sc_ranges_give(&mapped, base, bytes);
        return;
    }
    uint64_t half = bytes / 2 & ~(SC_PAGE - 1);
    if (half > 0 && halvings > 0) {
        reclaim(base, half, halvings - 1);
        reclaim(base + half, bytes - half, halvings - 1);
    }
}

/* From the end: what is taken out changes nothing before it. */
static void reclaim_all(void)
{
    for (size_t i = unmapped.count; i-- > 0;)
        reclaim(unmapped.list[i].base, unmapped.list[i].bytes, HALVINGS);
}

bool sc_addresses_init(uint64_t base, uint64_t bytes)
{
    return sc_ranges_init(&mapped, base, bytes) &&
           sc_ranges_init(&unmapped, 0, 0);
}

uint64_t sc_addresses_take(uint64_t bytes, uint64_t align)
{
    uint64_t base = sc_ranges_take(&mapped, bytes, align);
    if (base != SC_RANGES_NONE)
        return base;
    reclaim_all();
    return sc_ranges_take(&mapped, bytes, align);
}

void sc_addresses_give(uint64_t base, uint64_t bytes)
{
    sc_ranges_give(&mapped, base, bytes);
}

/* Where the system refuses a placeholder, what was there stays. */
uint64_t sc_addresses_map(uint64_t bytes, uint64_t align, uint64_t hint)
{
    uint64_t base = hint;
    reclaim_all();
    if (!hint || hint % align || !sc_ranges_take_at(&mapped, hint, bytes))
        base = sc_ranges_take(&mapped, bytes, align);
    if (base != SC_RANGES_NONE)
        put_placeholder(base, bytes, MAP_FIXED);
    return base;
}

void sc_addresses_unmap(uint64_t base, uint64_t bytes)
{
    any_unmapped = true; /* before another thread can map anything there */
    sc_ranges_give(&unmapped, base, bytes);
    syscall(SYS_munmap, base, bytes);
}

bool sc_addresses_are_host(uint64_t address)
{
    bool found = false;
    if (!atomic_load_explicit(&any_unmapped, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&sc_memory_lock);
    for (size_t i = 0; i < unmapped.count && !found; i++)
        found = address - unmapped.list[i].base < unmapped.list[i].bytes;
    pthread_mutex_unlock(&sc_memory_lock);
    return found;
}
