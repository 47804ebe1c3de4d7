/*
 * Owns: finding NVIDIA's libnvrtc behind this front, which lies before it on
 * the search path and has its name.
 * Does not own: what is called in it (front.c).
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "nvrtc/nvrtc.h"

#define NAME "libnvrtc.so." SC_NVRTC_VERSION

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *real;

static bool is_own(const char *path)
{
    Dl_info info;
    struct stat own, other;
    return dladdr((void *)(size_t)sc_nvrtc_real, &info) &&
           stat(info.dli_fname, &own) == 0 && stat(path, &other) == 0 &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static bool is_front(void *library)
{
    return dlsym(library, "sc_nvrtc_is_a_front") != NULL;
}

/* The library of that path, unless it is this one or another front. */
static void *open_path(const char *path)
{
    if (is_own(path))
        return NULL;
    /* its own calls must not come here */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library && is_front(library)) {
        dlclose(library);
        return NULL;
    }
    return library;
}

static void *open_in(const char *folder)
{
    char path[4096];
    if (!folder || !*folder ||
        snprintf(path, sizeof path, "%s/" NAME, folder) >= (int)sizeof path)
        return NULL;
    return open_path(path);
}

/* Where the loader looks for the program's libraries, in its order. */
static void *open_searched(void)
{
    Dl_serinfo size;
    void *program = dlopen(NULL, RTLD_LAZY), *library = NULL;
    if (!program || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0)
        return NULL;
    Dl_serinfo *list = malloc(size.dls_size);
    if (list && dlinfo(program, RTLD_DI_SERINFOSIZE, list) == 0 &&
        dlinfo(program, RTLD_DI_SERINFO, list) == 0)
        for (unsigned i = 0; i < list->dls_cnt && !library; i++)
            library = open_in(list->dls_serpath[i].dls_name);
    free(list);
    return library;
}

static void *open_toolkit(void)
{
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    char path[4096];
    void *library = NULL;
    for (int i = 0; i < 2 && !library; i++) {
        const char *folder = getenv(variables[i]);
        if (folder && *folder &&
            snprintf(path, sizeof path, "%s/lib64", folder) < (int)sizeof path)
            library = open_in(path);
    }
    return library ? library : open_in("/usr/local/cuda/lib64");
}

static void find(void)
{
    real = open_searched();
    if (!real)
        real = open_toolkit();
    if (!real)
        real = open_path("libnvrtc.so"); /* by the loader's cache */
    if (!real)
        fprintf(stderr, "softcuda: no " NAME " of NVIDIA's behind softcuda's: "
                        "put its folder on LD_LIBRARY_PATH, behind this one\n");
}

void *sc_nvrtc_real(const char *name)
{
    pthread_once(&once, find);
    return real ? dlsym(real, name) : NULL;
}
