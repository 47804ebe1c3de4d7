/*
 * Helpers of the native build suites: a folder of its own for each case, C
 * text that does something visible, compilers that misbehave.
 */
#ifndef TESTS_SOFTCUDA_NATIVE_BUILD_TEST_H
#define TESTS_SOFTCUDA_NATIVE_BUILD_TEST_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/suite.h"

static char room[PATH_MAX / 4];

static inline int remove_one(const char *path, const struct stat *st, int type,
                             struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static inline void leave_room(void)
{
    nftw(room, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/** A new folder, gone when the case ends; the cache lies in it. */
static inline void enter_room(void)
{
    char path[PATH_MAX];
    const char *tmp = getenv("TMPDIR");
    snprintf(room, sizeof room, "%.900s/softcuda-test-XXXXXX",
             tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(room));
    atexit(leave_room);
    snprintf(path, sizeof path, "%s/cache", room);
    setenv("SOFTCUDA_CACHE", path, 1);
    unsetenv("SOFTCUDA_CACHE_MAX");
    unsetenv("SOFTCUDA_CC");
    unsetenv("SOFTCUDA_KEEP");
    unsetenv("SOFTCUDA_ISA");
    unsetenv("SOFTCUDA_NATIVE");
}

/** For cases that look at what generated code does, not at how it is compiled:
 *  NATIVE_TEST_CACHE names a cache that builds may share. */
static inline void use_shared_cache(void)
{
    const char *shared = getenv("NATIVE_TEST_CACHE");
    if (shared && *shared)
        setenv("SOFTCUDA_CACHE", shared, 1);
}

/** Path of a file in the room; the text is overwritten by the next call but
 *  one. */
static inline const char *in_room(const char *name)
{
    static char paths[2][PATH_MAX];
    static int turn;
    char *path = paths[turn ^= 1];
    snprintf(path, PATH_MAX, "%s/%s", room, name);
    return path;
}

/** Make a shell script the compiler. */
static inline void use_script(const char *body)
{
    const char *path = in_room("cc.sh");
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "#!/bin/sh\n%s\n", body);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(chmod(path, 0755), 0);
    setenv("SOFTCUDA_CC", path, 1);
}

/** Files in the cache whose names end so; `name` receives the last one. */
static inline int count_files(const char *ending, char *name)
{
    int n = 0;
    DIR *dir = opendir(in_room("cache"));
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t length = strlen(e->d_name), tail = strlen(ending);
        if (e->d_name[0] == '.' && (!e->d_name[1] || e->d_name[1] == '.'))
            continue;
        if (length < tail || strcmp(e->d_name + length - tail, ending) != 0)
            continue;
        n++;
        if (name)
            snprintf(name, PATH_MAX, "%s/%s", in_room("cache"), e->d_name);
    }
    if (dir)
        closedir(dir);
    return n;
}

static inline double now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

#endif
