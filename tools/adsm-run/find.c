/*
 * Looks for our libraries beside the running program. See find.h.
 */
#include "find.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From <prefix>/bin to the folders of libraries and data; set by the build. */
#ifndef ADSM_LIBDIR_FROM_BIN
#define ADSM_LIBDIR_FROM_BIN  "../lib"
#define ADSM_DATADIR_FROM_BIN "../share"
#endif

/* Relative to the folder of adsm-run: build tree first, then installed. */
static const char *const library_places[] = {
    "../interpose", "../libadsm", ".", ADSM_LIBDIR_FROM_BIN, "../lib",
};
static const char *const gdb_places[] = {
    ".",
    ADSM_DATADIR_FROM_BIN "/adsm",
    "../share/adsm",
};
static const char *const python_places[] = {
    "python",
    ADSM_DATADIR_FROM_BIN "/adsm/python",
    "../share/adsm/python",
};
static const char *const softcuda_places[] = {
    "softcuda",
    ADSM_LIBDIR_FROM_BIN "/softcuda",
    "../lib/softcuda",
};

static int own_folder(char *path, size_t bytes)
{
    ssize_t got = readlink("/proc/self/exe", path, bytes - 1);
    if (got <= 0)
        return -1;
    path[got] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return -1;
    *slash = '\0';
    return 0;
}

/* Folder, without "..", in which one of `places` has the file `name`. */
static int find_folder(const char *const *places, size_t count,
                       const char *name, char *folder, size_t bytes)
{
    char here[PATH_MAX], try[PATH_MAX * 2], real[PATH_MAX];
    if (own_folder(here, sizeof here) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        snprintf(try, sizeof try, "%s/%s", here, places[i]);
        if (!realpath(try, real))
            continue;
        snprintf(try, sizeof try, "%s/%s", real, name);
        if (access(try, R_OK) != 0)
            continue;
        return (size_t)snprintf(folder, bytes, "%s", real) < bytes ? 0 : -1;
    }
    return -1;
}

static int find_file(const char *const *places, size_t count, const char *name,
                     char *path, size_t bytes)
{
    char folder[PATH_MAX];
    if (find_folder(places, count, name, folder, sizeof folder) != 0)
        return -1;
    int length = snprintf(path, bytes, "%s/%s", folder, name);
    return length >= 0 && (size_t)length < bytes ? 0 : -1;
}

int find_library(const char *name, char *folder, size_t bytes)
{
    return find_folder(library_places,
                       sizeof library_places / sizeof *library_places, name,
                       folder, bytes);
}

int find_gdb_commands(char *path, size_t bytes)
{
    return find_file(gdb_places, sizeof gdb_places / sizeof *gdb_places,
                     "adsm-gdb.py", path, bytes);
}

int find_python(char *path, size_t bytes)
{
    return find_folder(python_places,
                       sizeof python_places / sizeof *python_places, "adsm.py",
                       path, bytes);
}

int find_softcuda(char *path, size_t bytes)
{
    return find_folder(softcuda_places,
                       sizeof softcuda_places / sizeof *softcuda_places,
                       "libcuda.so.1", path, bytes);
}
