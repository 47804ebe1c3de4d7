/*
 * The driver's functions for a program that is not linked with it: each is looked
 * up by its name when the program starts, by the route in its first argument:
 *
 *   dlsym      of libcuda.so.1, which is opened
 *   procaddr   by cuGetProcAddress, as the CUDA runtime does
 *
 * entries.S of the planted driver has the functions, one for each name.
 */
#include "../drivers/entries.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#undef cuGetProcAddress

static const struct {
    const char *symbol, *name;
    int since, stream;
} names[] = {
#define SC_ENTRY(symbol, version, stream, name)                                \
    {#symbol, #name, version, stream},
#define SC_REFUSED SC_ENTRY
#include "driver/entries.def"
#undef SC_ENTRY
#undef SC_REFUSED
};

typedef CUresult ask(const char *symbol, void **found, int version,
                     cuuint64_t flags, CUdriverProcAddressQueryResult *status);

static void *by_address(ask *get, int i)
{
    void *found = NULL;
    return get(names[i].symbol, &found, names[i].since,
               (cuuint64_t)names[i].stream, NULL) == CUDA_SUCCESS
               ? found
               : NULL;
}

/* Before main, with what main gets (glibc). */
__attribute__((constructor)) static void start(int argc, char **argv)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(77);
    }
    bool asks = argc > 1 && strcmp(argv[1], "procaddr") == 0;
    void *found = dlsym(driver, "cuGetProcAddress_v2");
    ask *get;
    memcpy(&get, &found, sizeof get);
    for (int i = 0; i < ENTRIES; i++) {
        found = asks ? by_address(get, i) : dlsym(driver, names[i].name);
        memcpy(&planted_targets[i], &found, sizeof found);
    }
}
