/*
 * Owns: the entry point that NVIDIA's own runtime asks for tables of NVIDIA's
 * driver, and what is said of who brings it.  No lock.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "driver/driver.h"

#define MOST_LIBRARIES 8

/* Once for each of them. */
static bool is_first(void *base)
{
    static void *_Atomic said[MOST_LIBRARIES];
    for (int i = 0; i < MOST_LIBRARIES; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&said[i], &none, base))
            return true;
        if (none == base)
            return false;
    }
    return false;
}

static bool is_program(const Dl_info *info)
{
    Dl_info program;
    return dladdr((void *)(uintptr_t)getauxval(AT_ENTRY), &program) &&
           program.dli_fbase == info->dli_fbase;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void say_who(const void *caller)
{
    Dl_info info;
    if (!dladdr(caller, &info) || !info.dli_fname)
        info = (Dl_info){.dli_fname = "some code"};
    /* NVIDIA's compiler asks too, and goes on without an answer */
    if (strstr(info.dli_fname, "libnvrtc") || !is_first(info.dli_fbase))
        return;
    if (is_program(&info))
        sc_say("this program brings NVIDIA's CUDA runtime, which runs on "
               "NVIDIA's driver only; link it with 'nvcc -cudart shared', and "
               "it finds softcuda's");
    else
        sc_say("%s brings NVIDIA's CUDA runtime, which runs on NVIDIA's driver "
               "only, so its calls fail here; NVIDIA's libraries (cuBLAS, "
               "cuFFT, cuRAND and others) all do, and have no form that does "
               "not; one of your own, link with 'nvcc -cudart shared'",
               base_name(info.dli_fname));
}

SC_API cuGetExportTable(const void **ppExportTable,
                        const CUuuid *pExportTableId)
{
    (void)pExportTableId;
    say_who(__builtin_return_address(0));
    if (ppExportTable)
        *ppExportTable = NULL;
    return CUDA_ERROR_NOT_FOUND;
}
