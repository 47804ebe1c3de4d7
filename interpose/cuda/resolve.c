/*
 * Finding the driver's functions, and answering cuGetProcAddress.
 *
 * A program may be linked with the driver, dlopen it, or ask one of its
 * functions for the others; whichever way, there is one driver in the process
 * and hook_real holds its functions. Slots are filled with one and the same
 * value by whoever comes first, so no lock is needed.
 */
#include "interpose/cuda/resolve.h"
#include "base/text.h"
#include "os/real.h"

#include <dlfcn.h>

/* A handle of the driver when it is in the process, never loading it. */
static void *driver_handle(void)
{
    static void *_Atomic known;
    void *handle = atomic_load_explicit(&known, memory_order_acquire);
    if (!handle) {
        handle = adsm_real()->dlopen("libcuda.so.1",
                                     RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
        atomic_store_explicit(&known, handle, memory_order_release);
    }
    return handle;
}

void cuda_resolve(void)
{
    void *handle = driver_handle();
    void *(*find)(void *, const char *) = adsm_real()->dlsym;
    size_t count;
    const struct adsm_hook *hooks = adsm_hooks_list(&count);
    for (size_t i = 0; i < count; i++) {
        const struct hook_link *link = hook_at(i);
        if (link->cuda && !*link->real)
            *link->real = cuda_before(
                link->real, find(handle ? handle : RTLD_NEXT, hooks[i].name));
    }
    /* A failed look-up is ours, not the program's to see. */
    adsm_real()->dlerror();
}

void cuda_resolve_adopt(const struct hook_link *link, void *found)
{
    if (!*link->real && found != link->wrapper)
        *link->real = cuda_before(link->real, found);
}

bool cuda_resolve_has(void **slot)
{
    if (!*slot)
        cuda_resolve();
    return *slot != NULL;
}

/* The driver's newer form of a function that this library knows must not be
 * taken for the one it knows: compare exported names where there are any. */
static bool is_other_export(const struct hook_link *link, const void *found)
{
    Dl_info about;
    return adsm_real()->dladdr(found, &about) && about.dli_saddr == found &&
           about.dli_sname && !adsm_text_is(about.dli_sname, hook_name(link));
}

void *cuda_resolve_wrap(const char *api, int version, uint64_t flags,
                        void *found)
{
    if (!found)
        return NULL;
    const struct hook_link *link = hook_find_real(cuda_standing(found));
    if (link)
        return link->wrapper;
    link = hook_meant(api, version, flags);
    if (!link || is_other_export(link, found))
        return found;
    cuda_resolve_adopt(link, found);
    return link->wrapper;
}

CUresult cuGetProcAddress(const char *api, void **found, int version,
                          uint64_t flags)
{
    CUresult result = CUDA_CALL(cuGetProcAddress, (api, found, version, flags));
    if (result == CUDA_SUCCESS && !hook_depth && api && found)
        *found = cuda_resolve_wrap(api, version, flags, *found);
    return result;
}

CUresult cuGetProcAddress_v2(const char *api, void **found, int version,
                             uint64_t flags, int *status)
{
    CUresult result =
        CUDA_CALL(cuGetProcAddress_v2, (api, found, version, flags, status));
    if (result == CUDA_SUCCESS && !hook_depth && api && found)
        *found = cuda_resolve_wrap(api, version, flags, *found);
    return result;
}
