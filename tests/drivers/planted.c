/*
 * The exports: which there are, where each leads. See planted.h.
 *
 * Filled by the constructor and only read afterwards; no lock. A missing
 * export is taken out of the symbol table that the loader looks names up in.
 */
#include "planted.h"
#include "entries.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SC_ENTRY(symbol, version, stream, name)                                \
    __attribute__((visibility("default"))) planted_function name;
#define SC_REFUSED SC_ENTRY
#include "driver/entries.def"
#undef SC_ENTRY

static const struct {
    const char *name;
    int since;
    planted_function *entry;
} exports[] = {
#define SC_ENTRY(symbol, version, stream, name) {#name, version, name},
#include "driver/entries.def"
#undef SC_ENTRY
#undef SC_REFUSED
};

static planted_function *real[ENTRIES];
static bool missing[ENTRIES];

bool planted_has(const char *word, unsigned long long *number)
{
    size_t length = strlen(word);
    const char *at = getenv("PLANTED");
    for (; at && *at; at += strcspn(at, ","), at += *at == ',') {
        if (strncmp(at, word, length) != 0 || !strchr(",=", at[length]))
            continue;
        if (number)
            *number =
                at[length] == '=' ? strtoull(at + length + 1, NULL, 0) : 0;
        return true;
    }
    return false;
}

unsigned long long plantedCount(int i, const char **name)
{
    *name = i < ENTRIES ? exports[i].name : NULL;
    return i < ENTRIES ? planted_counts[i] : 0;
}

const volatile long *plantedInside(void)
{
    return &planted_inside.depth;
}

planted_function *planted_real(const char *name)
{
    for (int i = 0; i < ENTRIES; i++)
        if (strcmp(exports[i].name, name) == 0)
            return real[i];
    return NULL;
}

void *planted_own(void *found)
{
    for (int i = 0; found && i < ENTRIES; i++)
        if ((void *)real[i] == found)
            return missing[i] ? NULL : (void *)exports[i].entry;
    return found;
}

/* The loader passes over symbols without a value. */
static void take_out(planted_function *entry)
{
    Dl_info about;
    ElfW(Sym) *symbol = NULL;
    if (!dladdr1((void *)entry, &about, (void **)&symbol, RTLD_DL_SYMENT) ||
        !symbol)
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)symbol / page * page;
    size_t bytes = (uintptr_t)(symbol + 1) - first;
    if (mprotect((void *)first, bytes, PROT_READ | PROT_WRITE) == 0)
        symbol->st_value = 0;
}

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("PLANTED_DRIVER");
    void *driver = dlopen(path ? path : PLANTED_DRIVER, RTLD_NOW | RTLD_LOCAL);
    if (!driver) {
        fprintf(stderr, "planted: %s\n", dlerror());
        _exit(127);
    }
    for (int i = 0; i < ENTRIES; i++) {
        const char *name = exports[i].name;
        planted_function *instead =
            planted_accident(name)
                ?: planted_instead(name) ?: planted_named(name)
                      ?: planted_newer(name);
        void *found = dlsym(driver, exports[i].name);
        memcpy(&real[i], &found, sizeof found);
        planted_targets[i] = instead ? instead : real[i];
        missing[i] =
            !found || planted_is_missing(exports[i].name, exports[i].since);
    }
    for (int i = 0; i < ENTRIES; i++)
        if (missing[i])
            take_out(exports[i].entry);
    planted_marks = planted_has("inside", NULL);
}
