/*
 * Bugs planted in what is known of written pages: linked before the real
 * functions (--wrap), for tests/mm/model.c, which has to find each. With
 * PLANTED_FAILURES every few calls fail instead, and it has to find nothing: an
 * answer is lost after the kernel has forgotten what it told.
 */
#include "os/written.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const char *model_bug;

int __real_adsm_written_find(uintptr_t *from, uintptr_t end, bool again,
                             struct adsm_written_run *runs, int room);
int __wrap_adsm_written_find(uintptr_t *from, uintptr_t end, bool again,
                             struct adsm_written_run *runs, int room);
bool __real_adsm_written_note(uintptr_t addr, size_t bytes);
bool __wrap_adsm_written_note(uintptr_t addr, size_t bytes);
bool __real_adsm_written_watch(uintptr_t addr, size_t bytes);
bool __wrap_adsm_written_watch(uintptr_t addr, size_t bytes);

static bool is_bug(const char *name)
{
    return strcmp(model_bug, name) == 0;
}

/* One of so many calls, or none. */
static bool fails(unsigned of)
{
    static unsigned calls;
    return getenv("PLANTED_FAILURES") && ++calls % of == 0;
}

int __wrap_adsm_written_find(uintptr_t *from, uintptr_t end, bool again,
                             struct adsm_written_run *runs, int room)
{
    uintptr_t begin = *from;
    int n = __real_adsm_written_find(from, end, again, runs, room);
    if (n > 0 && again && is_bug("page-forgotten")) {
        *from = begin;
        n = __real_adsm_written_find(from, end, again, runs, room);
    }
    if (n > 0 && is_bug("page-lost")) {
        runs[n - 1].end -= (uint64_t)sysconf(_SC_PAGESIZE);
        n -= runs[n - 1].begin == runs[n - 1].end;
    }
    return fails(5) ? -1 : n;
}

bool __wrap_adsm_written_note(uintptr_t addr, size_t bytes)
{
    return is_bug("loan-unnoted") ||
           (!fails(4) && __real_adsm_written_note(addr, bytes));
}

bool __wrap_adsm_written_watch(uintptr_t addr, size_t bytes)
{
    return !fails(4) && __real_adsm_written_watch(addr, bytes);
}
