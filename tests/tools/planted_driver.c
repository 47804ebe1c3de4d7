/*
 * Preloaded into gpu-probe: one entry point of the driver does not do what it
 * should. PLANTED is what it does instead, and its name: "crash", "hang",
 * "forget" (succeed and do nothing), "touch" (also write into host memory), or
 * "take" (of cuMemAddressReserve: memory of somebody else lies in what is
 * reserved).
 *
 * The driver's functions are found by dlsym alone, which is taken over here.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((visibility("default"))) void *dlsym(void *handle,
                                                   const char *name);

typedef void *find_function(void *, const char *);
typedef int reserve_function(uint64_t *, size_t, size_t, uint64_t,
                             unsigned long long);

static void *real;

static int crash(void)
{
    return raise(SIGSEGV);
}

static _Noreturn void hang(void)
{
    for (;;)
        pause();
}

static int forget(void)
{
    return 0;
}

/* As the copies to the host do. */
static int touch(void *to)
{
    *(volatile char *)to = 1;
    return 0;
}

static int take(uint64_t *at, size_t bytes, size_t align, uint64_t hint,
                unsigned long long flags)
{
    int result = ((reserve_function *)real)(at, bytes, align, hint, flags);
    if (result == 0)
        (void)mmap((void *)(uintptr_t)*at, 4096, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return result;
}

static const struct {
    const char *name;
    void *function;
} actions[] = {{"crash ", (void *)crash},
               {"hang ", (void *)hang},
               {"forget ", (void *)forget},
               {"touch ", (void *)touch},
               {"take ", (void *)take}};

static find_function *real_find(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17",
                                           "GLIBC_2.2.5"};
    void *found = NULL;
    for (int i = 0; i < 3 && !found; i++)
        found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return (find_function *)found;
}

void *dlsym(void *handle, const char *name)
{
    const char *planted = getenv("PLANTED");
    void *found = real_find()(handle, name);
    if (strcmp(name, "cuGetProcAddress_v2") == 0)
        return NULL;
    for (size_t i = 0; planted && i < sizeof actions / sizeof *actions; i++) {
        size_t n = strlen(actions[i].name);
        if (strncmp(planted, actions[i].name, n) != 0 ||
            strcmp(planted + n, name) != 0)
            continue;
        real = found;
        return actions[i].function;
    }
    return found;
}
