/*
 * Copies of instructions that make system calls: `syscall`, and a jump to where
 * the program goes on, which is data beside it.
 *
 * A copy is found by that address. Its slot is claimed in one step, and who
 * finds it claimed stores the same address there, so nobody waits for anybody.
 */
#include "interpose/calls/trap.h"
#include "base/system.h"

#if defined(__x86_64__)

#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 4096, SLOT_BYTES = 16, PROBES = 64, TRIES = 1024 };
enum { BYTES = SLOTS * SLOT_BYTES };

static _Atomic uintptr_t sites[SLOTS];
static uint8_t *writable; /* the same pages twice */
static uintptr_t executable;

/* The nearest free addresses above or below. */
static uintptr_t map_near(int file, uintptr_t begin, uintptr_t end)
{
    begin &= ~(uintptr_t)(BYTES - 1);
    end = (end + BYTES - 1) & ~(uintptr_t)(BYTES - 1);
    for (uintptr_t i = 0; i < 2 * TRIES; i++) {
        uintptr_t at =
            i % 2 ? begin - (i / 2 + 1) * BYTES : end + i / 2 * BYTES;
        void *map = adsm_system_mmap((void *)at, BYTES, PROT_READ | PROT_EXEC,
                                     MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
        if (map == (void *)at)
            return at;
        if (map != MAP_FAILED) /* a kernel that takes it for a hint */
            adsm_system_munmap(map, BYTES);
    }
    return 0;
}

static void write_slots(void)
{
    static const uint8_t code[8] = {0x0f, 0x05, 0xff, 0x25, 0, 0, 0, 0};
    for (size_t i = 0; i < SLOTS; i++)
        for (size_t k = 0; k < sizeof code; k++)
            writable[i * SLOT_BYTES + k] = code[k];
}

bool trap_make_copies(uintptr_t *text, size_t *bytes)
{
    uintptr_t begin = *text, end = *text + *bytes;
    int file = memfd_create("adsm-calls", MFD_CLOEXEC);
    if (file < 0)
        return false;
    if (ftruncate(file, BYTES) == 0) {
        void *map = adsm_system_mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                                     MAP_SHARED, file, 0);
        if (map != MAP_FAILED) {
            writable = map;
            write_slots();
            executable = map_near(file, begin, end);
        }
    }
    close(file);
    if (!executable)
        return false;
    if (executable < begin)
        begin = executable;
    if (executable + BYTES > end)
        end = executable + BYTES;
    *text = begin;
    *bytes = end - begin;
    return true;
}

uintptr_t trap_copy_of(uintptr_t site)
{
    size_t slot = (site ^ site >> 12) % SLOTS;
    for (int i = 0; i < PROBES; i++, slot = (slot + 1) % SLOTS) {
        uintptr_t there = 0;
        if (!atomic_compare_exchange_strong(&sites[slot], &there, site) &&
            there != site)
            continue;
        atomic_store(
            (_Atomic uintptr_t *)(void *)(writable + slot * SLOT_BYTES + 8),
            site);
        return executable + slot * SLOT_BYTES;
    }
    return 0;
}

#endif
