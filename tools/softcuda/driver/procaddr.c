/*
 * Owns: cuGetProcAddress: entry points by symbol, version and stream kind.
 * Does not own: the entry points; they are declared here without parameters,
 * so this file must not see cuda.h.
 */
#include "driver/procaddr.h"

#include <stddef.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_FOUND = 500 };
enum { FOUND = 0, NO_SYMBOL = 1, TOO_NEW = 2 };
enum { LEGACY_STREAM = 1, PER_THREAD_STREAM = 2 };

#define SC_ENTRY(symbol, version, stream, name)   void name(void);
#define SC_REFUSED(symbol, version, stream, name) void name(void);
#include "driver/entries.def"
#undef SC_ENTRY
#undef SC_REFUSED

struct entry {
    const char *symbol;
    int version, stream;
    void (*function)(void);
};

static const struct entry entries[] = {
#define SC_ENTRY(symbol, version, stream, name)                                \
    {#symbol, version, stream, name},
#define SC_REFUSED SC_ENTRY
#include "driver/entries.def"
#undef SC_ENTRY
#undef SC_REFUSED
};

/* First entry of a symbol; the list is sorted. */
static size_t first_of(const char *symbol)
{
    size_t low = 0, high = sizeof entries / sizeof *entries;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (strcmp(entries[mid].symbol, symbol) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The newest form that is no newer than asked for; a per-thread form if the
 * caller wants one and the symbol has one. */
static int look_up(const char *symbol, int version, int stream,
                   const struct entry **best)
{
    size_t n = sizeof entries / sizeof *entries;
    int status = NO_SYMBOL;
    *best = NULL;
    for (size_t i = first_of(symbol);
         i < n && strcmp(entries[i].symbol, symbol) == 0; i++) {
        const struct entry *e = &entries[i];
        if (status == NO_SYMBOL)
            status = TOO_NEW;
        if (e->version > version || (e->stream && !stream))
            continue;
        /* sorted by stream, then version: a later match is a better one */
        *best = e;
        status = FOUND;
    }
    return status;
}

int sc_procaddr_get(const char *symbol, void **pfn, int version, uint64_t flags,
                    int *status)
{
    const struct entry *best;
    if (pfn)
        *pfn = NULL;
    if (status)
        *status = NO_SYMBOL;
    if (!symbol || !pfn || (flags & ~(uint64_t)3) || flags == 3)
        return INVALID_VALUE;
    int found = look_up(symbol, version, flags & PER_THREAD_STREAM, &best);
    if (status)
        *status = found;
    if (!best)
        return NOT_FOUND;
    memcpy(pfn, &best->function, sizeof *pfn);
    return SUCCESS;
}
