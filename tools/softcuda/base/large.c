/*
 * Owns: how large pages are asked for.
 * Does not own: the mappings.
 *
 * No lock. System calls directly: wrappers may be hooked by a preloaded library.
 */
#include "base/large.h"

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

static bool has_pages(uint64_t address)
{
    unsigned char there[SC_LARGE >> 12];
    uint64_t pages = SC_LARGE / (uint64_t)getpagesize();
    if (syscall(SYS_mincore, address, SC_LARGE, there) != 0)
        return true;
    for (uint64_t i = 0; i < pages; i++)
        if (there[i] & 1)
            return true;
    return false;
}

/* Has it none yet, and is there one for a part now? It needs a page to begin
 * with. Where somebody wrote before, making it large would copy what they wrote. */
static bool is_begun(uint64_t at, uint64_t from, uint64_t to)
{
    return to - from >= SC_LARGE / 8 && !has_pages(at) &&
           syscall(SYS_madvise, at, 1, MADV_POPULATE_READ) == 0;
}

/* One is cleared at once, the device maps it at once, and it goes back at once.
 * All that lie one behind the other are asked for together: before it begins the
 * kernel waits for every processor. */
void sc_large_make(uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes, at = address & ~(SC_LARGE - 1);
    while (at < end) {
        uint64_t run = 0;
        for (; at + run < end; run += SC_LARGE) {
            uint64_t from = at + run > address ? at + run : address;
            uint64_t to = at + run + SC_LARGE < end ? at + run + SC_LARGE : end;
            if (!is_begun(at + run, from, to))
                break;
        }
        if (run && syscall(SYS_madvise, at, run, MADV_COLLAPSE) != 0)
            return;
        at += run + SC_LARGE;
    }
}
