/*
 * Owns: names and writing of kept files. Lock: none.
 */
#include "native/build_keep.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Of a name's characters; mangled ones are longer than file systems take. */
#define NAME_SHOWN 160

static uint32_t hash(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

void sc_build_keep_name(struct sc_build_keep *keep,
                        const struct sc_build_options *options,
                        const char *kernel, const uint32_t block[3])
{
    static const char fine[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char name[NAME_SHOWN + 16];
    keep->path[0] = '\0';
    if (!options->keep[0])
        return;
    if (strlen(kernel) <= NAME_SHOWN)
        snprintf(name, sizeof name, "%s", kernel);
    else
        snprintf(name, sizeof name, "%.*s_%08x", NAME_SHOWN, kernel,
                 hash(kernel));
    for (char *at = name; *(at += strspn(at, fine));)
        *at = '_';
    snprintf(keep->path, sizeof keep->path, "%s/%s.%ux%ux%u", options->keep,
             name, block[0], block[1], block[2]);
}

const char *sc_build_keep_path(const struct sc_build_keep *keep)
{
    return keep->path[0] ? keep->path : NULL;
}

static void write_file(const char *path, const char *ending, const char *text,
                       const char *tail)
{
    static atomic_bool said;
    char file[SC_BUILD_PATH + 8];
    snprintf(file, sizeof file, "%s%s", path, ending);
    FILE *out = fopen(file, "we");
    bool good = out && fputs(text, out) >= 0 && fputs(tail, out) >= 0;
    if (out)
        good = fclose(out) == 0 && good;
    if (!good && !atomic_exchange(&said, true))
        fprintf(stderr, "softcuda: SOFTCUDA_KEEP: cannot write %s: %s\n", file,
                strerror(errno));
}

void sc_build_keep_write(const struct sc_build_keep *keep, const char *text,
                         const char *why)
{
    if (!keep->path[0])
        return;
    char folder[SC_BUILD_PATH];
    snprintf(folder, sizeof folder, "%.*s",
             (int)(strrchr(keep->path, '/') - keep->path), keep->path);
    mkdir(folder, 0777);
    if (text)
        write_file(keep->path, ".c", text, "");
    if (why)
        write_file(keep->path, ".why", why, ".\n");
}
