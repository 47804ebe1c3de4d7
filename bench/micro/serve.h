/*
 * Benches that know nothing of libadsm have shared memory as any CUDA program
 * has: they are preloaded and allocate.
 */
#ifndef BENCH_MICRO_SERVE_H
#define BENCH_MICRO_SERVE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** A function of the driver. Exits with 77 where there is none. */
static inline void *serve_driver(const char *name)
{
    static void *driver;
    if (!driver)
        driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *found = driver ? dlsym(driver, name) : NULL;
    if (!found)
        exit(77);
    return found;
}

/** `bytes` of device memory. Exits with 77 where there is no device. */
static inline void *serve(size_t bytes)
{
    int (*init)(unsigned) = serve_driver("cuInit");
    int (*retain)(void **, int) = serve_driver("cuDevicePrimaryCtxRetain");
    int (*set)(void *) = serve_driver("cuCtxSetCurrent");
    int (*alloc)(uint64_t *, size_t) = serve_driver("cuMemAlloc_v2");
    void *context;
    uint64_t memory;
    if (init(0) || retain(&context, 0) || set(context) || alloc(&memory, bytes))
        exit(77);
    return (void *)(uintptr_t)memory;
}

#endif
