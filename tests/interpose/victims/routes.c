/*
 * Every way to a driver function: linked, dlopen and dlsym, cuGetProcAddress
 * in both forms, per-thread default stream. Not linked with the driver unless
 * built with ROUTES_LINKED.
 *
 *   routes <route> explicit|touch
 *
 * Prints what the work gave; the same for every route and both ways.
 */
#include "victim.h"

#include <dlfcn.h>

static struct {
    CUresult (*init)(unsigned);
    CUresult (*device_get)(CUdevice *, int);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*alloc)(CUdeviceptr *, size_t);
    CUresult (*range)(CUdeviceptr *, size_t *, CUdeviceptr);
    CUresult (*release)(CUdeviceptr);
    CUresult (*set)(CUdeviceptr, unsigned, size_t);
    CUresult (*set_async)(CUdeviceptr, unsigned char, size_t, CUstream);
    CUresult (*down)(void *, CUdeviceptr, size_t);
    CUresult (*up)(CUdeviceptr, const void *, size_t);
    CUresult (*load)(CUmodule *, const void *);
    CUresult (*function)(CUfunction *, CUmodule, const char *);
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned,
                       unsigned, unsigned, unsigned, CUstream, void **,
                       void **);
    CUresult (*wait)(void);
} cu;

/* Member, name of the API, its form of today, version of that, and whether it
 * has a per-thread form. */
struct entry {
    void **to;
    const char *api, *name;
    int version;
    const char *per_thread;
};

static const struct entry entries[] = {
    {(void **)&cu.init, "cuInit", "cuInit", 2000, NULL},
    {(void **)&cu.device_get, "cuDeviceGet", "cuDeviceGet", 2000, NULL},
    {(void **)&cu.retain, "cuDevicePrimaryCtxRetain",
     "cuDevicePrimaryCtxRetain", 7000, NULL},
    {(void **)&cu.set_current, "cuCtxSetCurrent", "cuCtxSetCurrent", 4000,
     NULL},
    {(void **)&cu.alloc, "cuMemAlloc", "cuMemAlloc_v2", 3020, NULL},
    {(void **)&cu.range, "cuMemGetAddressRange", "cuMemGetAddressRange_v2",
     3020, NULL},
    {(void **)&cu.release, "cuMemFree", "cuMemFree_v2", 3020, NULL},
    {(void **)&cu.set, "cuMemsetD32", "cuMemsetD32_v2", 3020,
     "cuMemsetD32_v2_ptds"},
    {(void **)&cu.set_async, "cuMemsetD8Async", "cuMemsetD8Async", 3020,
     "cuMemsetD8Async_ptsz"},
    {(void **)&cu.down, "cuMemcpyDtoH", "cuMemcpyDtoH_v2", 3020,
     "cuMemcpyDtoH_v2_ptds"},
    {(void **)&cu.up, "cuMemcpyHtoD", "cuMemcpyHtoD_v2", 3020,
     "cuMemcpyHtoD_v2_ptds"},
    {(void **)&cu.load, "cuModuleLoadData", "cuModuleLoadData", 2000, NULL},
    {(void **)&cu.function, "cuModuleGetFunction", "cuModuleGetFunction", 2000,
     NULL},
    {(void **)&cu.launch, "cuLaunchKernel", "cuLaunchKernel", 4000,
     "cuLaunchKernel_ptsz"},
    {(void **)&cu.wait, "cuCtxSynchronize", "cuCtxSynchronize", 2000, NULL},
};

enum { ENTRIES = sizeof entries / sizeof *entries };

static void need(const struct entry *entry)
{
    if (!*entry->to) {
        printf("no %s\n", entry->name);
        exit(3);
    }
}

static void *open_driver(int flags)
{
    void *handle = dlopen("libcuda.so.1", flags);
    if (!handle) {
        printf("%s\n", dlerror());
        exit(3);
    }
    return handle;
}

static void by_dlsym(void *handle, bool per_thread)
{
    for (int i = 0; i < ENTRIES; i++) {
        const char *name = per_thread && entries[i].per_thread
                               ? entries[i].per_thread
                               : entries[i].name;
        *entries[i].to = dlsym(handle, name);
        need(&entries[i]);
    }
}

typedef CUresult lookup_v1(const char *, void **, int, cuuint64_t);
typedef CUresult lookup_v2(const char *, void **, int, cuuint64_t, int *);

static void by_procaddr_v1(lookup_v1 *lookup, cuuint64_t flags)
{
    for (int i = 0; i < ENTRIES; i++) {
        int version =
            flags & 2 && entries[i].per_thread ? 7000 : entries[i].version;
        lookup(entries[i].api, entries[i].to, version, flags);
        need(&entries[i]);
    }
}

static void by_procaddr_v2(lookup_v2 *lookup, cuuint64_t flags, int version)
{
    for (int i = 0; i < ENTRIES; i++) {
        int status;
        lookup(entries[i].api, entries[i].to, version, flags, &status);
        need(&entries[i]);
    }
}

#ifdef ROUTES_LINKED
#undef cuMemAlloc
#undef cuMemFree
static void by_link(void)
{
    cu.init = cuInit;
    cu.device_get = cuDeviceGet;
    cu.retain = cuDevicePrimaryCtxRetain;
    cu.set_current = cuCtxSetCurrent;
    cu.alloc = cuMemAlloc_v2;
    cu.range = cuMemGetAddressRange;
    cu.release = cuMemFree_v2;
    cu.set = cuMemsetD32;
    cu.set_async = cuMemsetD8Async;
    cu.down = cuMemcpyDtoH;
    cu.up = cuMemcpyHtoD;
    cu.load = cuModuleLoadData;
    cu.function = cuModuleGetFunction;
    cu.launch = cuLaunchKernel;
    cu.wait = cuCtxSynchronize;
}
#endif

/* The order in which NVIDIA's runtime library, linked statically, looks. */
static void like_cudart(void)
{
    void *handle = open_driver(RTLD_NOW);
    lookup_v2 *first = (lookup_v2 *)dlsym(handle, "cuGetProcAddress_v2");
    lookup_v2 *lookup;
    lookup_v1 *old;
    int status;
    if (!first)
        exit(3);
    first("", (void **)&old, 0, 0, &status);
    first("cuGetProcAddress", (void **)&old, 11030, 0, &status);
    first("cuGetProcAddress", (void **)&lookup, 12000, 0, &status);
    if (!old || !lookup)
        exit(3);
    by_procaddr_v1(old, 0);
    by_procaddr_v2(lookup, 0, 12000);
}

static void find(const char *route)
{
    if (strcmp(route, "dlsym") == 0)
        by_dlsym(open_driver(RTLD_NOW | RTLD_LOCAL), false);
    else if (strcmp(route, "global") == 0)
        by_dlsym((open_driver(RTLD_NOW | RTLD_GLOBAL), RTLD_DEFAULT), false);
    else if (strcmp(route, "deepbind") == 0)
        by_dlsym(open_driver(RTLD_NOW | RTLD_DEEPBIND), false);
    else if (strcmp(route, "dlsym-ptds") == 0)
        by_dlsym(open_driver(RTLD_LAZY), true);
    else if (strcmp(route, "procaddr") == 0)
        by_procaddr_v1(
            (lookup_v1 *)dlsym(open_driver(RTLD_NOW), "cuGetProcAddress"), 0);
    else if (strcmp(route, "procaddr-legacy") == 0)
        by_procaddr_v1(
            (lookup_v1 *)dlsym(open_driver(RTLD_NOW), "cuGetProcAddress"), 1);
    else if (strcmp(route, "procaddr-ptds") == 0)
        by_procaddr_v1(
            (lookup_v1 *)dlsym(open_driver(RTLD_NOW), "cuGetProcAddress"), 2);
    else if (strcmp(route, "procaddr2") == 0)
        by_procaddr_v2(
            (lookup_v2 *)dlsym(open_driver(RTLD_NOW), "cuGetProcAddress_v2"), 0,
            12000);
    else if (strcmp(route, "procaddr2-ptds") == 0)
        by_procaddr_v2(
            (lookup_v2 *)dlsym(open_driver(RTLD_NOW), "cuGetProcAddress_v2"), 2,
            12000);
    else if (strcmp(route, "cudart") == 0)
        like_cudart();
#ifdef ROUTES_LINKED
    else if (strcmp(route, "linked") == 0)
        by_link();
#endif
    else
        exit(2);
}

enum { WORDS = 50001 };

static uint32_t get(CUdeviceptr words, size_t i, bool touch)
{
    uint32_t value;
    if (touch)
        return ((volatile uint32_t *)words)[i];
    CHECK(cu.down(&value, words + i * 4, 4));
    return value;
}

static void put(CUdeviceptr words, size_t i, uint32_t value, bool touch)
{
    if (touch)
        ((volatile uint32_t *)words)[i] = value;
    else
        CHECK(cu.up(words + i * 4, &value, 4));
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction step;
    CUdeviceptr words, base;
    size_t bytes;
    unsigned n = WORDS, k = 5;
    if (argc < 3)
        return 2;
    bool touch = strcmp(argv[2], "touch") == 0;
    find(argv[1]);
    CHECK(cu.init(0));
    CHECK(cu.device_get(&device, 0));
    CHECK(cu.retain(&context, device));
    CHECK(cu.set_current(context));
    CHECK(cu.load(&module, victim_ptx));
    CHECK(cu.function(&step, module, "step"));
    CHECK(cu.alloc(&words, WORDS * 4));
    CHECK(cu.range(&base, &bytes, words + 77));
    printf("%d %zu\n", base == words, bytes);
    CHECK(cu.set(words, 4, WORDS));
    printf("%u\n", get(words, 50000, touch));
    put(words, 1000, 1, touch);
    void *params[] = {&words, &n, &k};
    CHECK(
        cu.launch(step, (n + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    printf("%u %u\n", get(words, 1000, touch), get(words, 1001, touch));
    CHECK(cu.set_async(words + 1, 255, 6, NULL));
    printf("%08x %08x\n", get(words, 0, touch), get(words, 1, touch));
    CHECK(cu.wait());
    CHECK(cu.release(words));
    printf("%d\n", cu.release(words + 4) != CUDA_SUCCESS);
    return 0;
}
