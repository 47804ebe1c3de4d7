/*
 * An object is known by its text, whose first line is the command: the text
 * lies beside it, was put there after it, and is compared in full.
 */
#include "compiled.h"

#include <check.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return h;
}

static bool holds(const char *path, const char *text)
{
    size_t n = strlen(text), at = 0;
    char bytes[4096];
    FILE *f = fopen(path, "r");
    bool same = f != NULL;
    for (size_t got; same && (got = fread(bytes, 1, sizeof bytes, f));
         at += got)
        same = at + got <= n && memcmp(bytes, text + at, got) == 0;
    if (f)
        fclose(f);
    return same && at == n;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_msg(f != NULL, "cannot write %s", path);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
}

static void compile(const char *command, const char *from, const char *to)
{
    char *line;
    ck_assert_int_gt(asprintf(&line, "%s -o %s %s -lm", command, to, from), 0);
    ck_assert_msg(system(line) == 0, "failed: %s", line);
    free(line);
}

static void *load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(handle != NULL, "%s", dlerror());
    return handle;
}

/* Path without ending: of what is kept, else in the working directory. */
static bool choose_place(char *base, size_t bytes, const char *text,
                         const char *name)
{
    const char *cache = getenv("NATIVE_TEST_CACHE");
    if (!cache || !*cache) {
        snprintf(base, bytes, "./%s", name);
        return false;
    }
    snprintf(base, bytes, "%s/suites", cache);
    mkdir(base, 0700);
    snprintf(base, bytes, "%s/suites/%016" PRIx64, cache, hash(text));
    return true;
}

/* The object first: with its text it counts. */
static void *compile_into(const char *base, const char *command,
                          const char *text, bool cached)
{
    char source[2][PATH_MAX], object[2][PATH_MAX];
    snprintf(source[0], PATH_MAX, "%s-%d.c", base, (int)getpid());
    snprintf(object[0], PATH_MAX, "%s-%d.so", base, (int)getpid());
    snprintf(source[1], PATH_MAX, "%s.c", base);
    snprintf(object[1], PATH_MAX, "%s.so", base);
    write_text(source[0], text);
    compile(command, source[0], object[0]);
    void *handle = load(object[0]);
    if (!cached || rename(object[0], object[1]) != 0 ||
        rename(source[0], source[1]) != 0) {
        unlink(object[0]);
        unlink(source[0]);
    }
    return handle;
}

void *compiled_load(const char *command, const char *text, const char *name,
                    bool keep)
{
    char base[PATH_MAX / 2], path[PATH_MAX], *all;
    ck_assert_int_gt(
        asprintf(&all, "/* %s %s */\n%s", __VERSION__, command, text), 0);
    bool cached = choose_place(base, sizeof base, all, name);
    snprintf(path, sizeof path, "./%s.c", name);
    if (keep)
        write_text(path, all);
    snprintf(path, sizeof path, "%s.c", base);
    bool found = cached && holds(path, all);
    snprintf(path, sizeof path, "%s.so", base);
    void *handle =
        found ? load(path) : compile_into(base, command, all, cached);
    free(all);
    return handle;
}
