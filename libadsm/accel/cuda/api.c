/*
 * The driver's entry points; see api.h.
 *
 * The library is never closed: the driver has threads and handlers of its own,
 * and function pointers live in programs.
 */
#include "accel/cuda/api.h"

#include "accel/error.h"
#include "base/text.h"
#include "os/real.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>

static struct {
    void *library;
    struct adsm_cuda_api table;
    _Atomic bool loaded;
} driver;

enum { OPTIONAL, NEEDED };

/* One row per member: where to store it, what to ask for. */
static const struct {
    size_t member;
    const char *symbol;
    int need;
} rows[] = {
#define X(name, symbol, need, params)                                          \
    {offsetof(struct adsm_cuda_api, name), symbol, need},
#include "accel/cuda/api.def"
#undef X
};

/* Names of the same functions in drivers before the version given. */
static const struct {
    const char *symbol;
    const char *older;
} renamed[] = {
    {"cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease"}, /* 11.0 */
};

static void *find(const char *symbol)
{
    void *found = adsm_real()->dlsym(driver.library, symbol);
    for (size_t i = 0; !found && i < sizeof renamed / sizeof *renamed; i++)
        if (adsm_text_is(renamed[i].symbol, symbol))
            found = adsm_real()->dlsym(driver.library, renamed[i].older);
    return found;
}

static int fill(struct adsm_cuda_api *api)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *found = find(rows[i].symbol);
        if (!found && rows[i].need == NEEDED)
            return adsm_accel_fail(ADSM_E_NO_DEVICE, "libcuda.so.1 has no ",
                                   rows[i].symbol, ": it is too old to be used",
                                   NULL);
        *(void **)((char *)api + rows[i].member) = found;
    }
    return ADSM_OK;
}

int adsm_cuda_api_load(void)
{
    if (adsm_cuda_api())
        return ADSM_OK;
    if (!driver.library)
        driver.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver.library) {
        const char *why = dlerror();
        return adsm_accel_fail(
            ADSM_E_NO_DEVICE, "no CUDA driver: ", why ? why : "libcuda.so.1",
            "; install one or name its folder in LD_LIBRARY_PATH", NULL);
    }
    int status = fill(&driver.table);
    if (status == ADSM_OK)
        /* Release: whoever sees the flag sees the table. */
        atomic_store_explicit(&driver.loaded, true, memory_order_release);
    return status;
}

const struct adsm_cuda_api *adsm_cuda_api(void)
{
    return atomic_load_explicit(&driver.loaded, memory_order_acquire)
               ? &driver.table
               : NULL;
}

void *adsm_cuda_api_symbol(const char *symbol)
{
    return adsm_cuda_api() ? adsm_real()->dlsym(driver.library, symbol) : NULL;
}
