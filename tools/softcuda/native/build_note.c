/*
 * Owns: notes, which are one line each.  Does not own: how files of the cache
 * are sealed and trusted (build_cache.c).  Lock: none.
 */
#include "native/build_note.h"

#include "native/build_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LATE_S 86400

static const char *const words[] = {
    [SC_BUILD_NOTE_LESS] = "less", [SC_BUILD_NOTE_NEVER] = "never"};

/* The object's path with the ending of a note. */
static void name_note(const char *object, char path[SC_BUILD_PATH])
{
    snprintf(path, SC_BUILD_PATH, "%.*s" SC_BUILD_CACHE_NOTE,
             (int)(strlen(object) - strlen(SC_BUILD_CACHE_OBJECT)), object);
}

static int make_key(const struct sc_build_limits *limits, char *key,
                    size_t bytes)
{
    return snprintf(key, bytes, "limits %u s, %u ms, %llu bytes", limits->cpu_s,
                    limits->clock_ms, (unsigned long long)limits->memory_bytes);
}

/* A line is a word, until when it holds (0: for good), and why. */
static enum sc_build_note parse(const char *line, char *why, size_t why_bytes)
{
    char word[8];
    long long until;
    int at = 0;
    if (sscanf(line, "%7s until %lld: %n", word, &until, &at) != 2 || !at ||
        (until && until < (long long)time(NULL)))
        return SC_BUILD_NOTE_NONE;
    if (strcmp(word, words[SC_BUILD_NOTE_LESS]) == 0)
        return SC_BUILD_NOTE_LESS;
    snprintf(why, why_bytes, "%.*s in an earlier run",
             (int)strcspn(line + at, "\n"), line + at);
    return SC_BUILD_NOTE_NEVER;
}

enum sc_build_note sc_build_note_read(const char *object,
                                      const struct sc_build_limits *limits,
                                      char *why, size_t why_bytes)
{
    char path[SC_BUILD_PATH], key[128], line[256];
    name_note(object, path);
    int n = make_key(limits, key, sizeof key);
    if (!sc_build_cache_check(path, key, (size_t)n))
        return SC_BUILD_NOTE_NONE;
    FILE *file = fopen(path, "re");
    bool good = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    return good ? parse(line, why, why_bytes) : SC_BUILD_NOTE_NONE;
}

void sc_build_note_write(const char *object,
                         const struct sc_build_limits *limits,
                         enum sc_build_note note, enum sc_build_cc_end end,
                         const char *why)
{
    char path[SC_BUILD_PATH], file[SC_BUILD_PATH], key[128];
    int folder = (int)(strrchr(object, '/') - object);
    name_note(object, path);
    snprintf(file, sizeof file, "%.*s/" SC_BUILD_UNFINISHED "XXXXXX", folder,
             object);
    int n = make_key(limits, key, sizeof key);
    int fd = mkostemp(file, O_CLOEXEC);
    if (fd < 0)
        return;
    long long until =
        end == SC_BUILD_CC_LATE ? (long long)time(NULL) + LATE_S : 0;
    bool good = dprintf(fd, "%s until %lld: %s\n", words[note], until, why) > 0;
    close(fd);
    if (!good || !sc_build_cache_seal(file, key, (size_t)n) ||
        rename(file, path) != 0)
        unlink(file);
}
