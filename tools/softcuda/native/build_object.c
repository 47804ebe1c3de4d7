/*
 * Owns: the way from text to code. Does not own: when (build.c), the files
 * (build_cache.c), the compiler's processes (build_cc.c).
 * Lock: `lock`, a leaf, over what was found out about compiler and cache.
 */
#include "native/build_object.h"

#include "native/build_cache.h"
#include "native/build_cc.h"
#include "native/build_note.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** What this process knows; all but two fixed once `known`. */
static struct {
    _Atomic bool lost_cache;
    bool said_failure;
    bool known, has_cc, has_cache;
    struct sc_build_cc cc;
    char why[160];
} state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned last_file;

static void find_cache(const struct sc_build_options *options)
{
    char why[128];
    if (!options->cache[0])
        return;
    state.has_cache = sc_build_cache_open(options->cache, why, sizeof why);
    if (!state.has_cache)
        fprintf(stderr,
                "softcuda: compiled kernels are not kept in %s: %s; set "
                "SOFTCUDA_CACHE to another folder\n",
                options->cache, why);
}

/* Find compiler and cache, once. Return: whether there is a compiler. */
static bool prepare(const struct sc_build_options *options, char *why,
                    size_t why_bytes)
{
    pthread_mutex_lock(&lock);
    if (!state.known) {
        state.known = true;
        state.has_cc =
            sc_build_cc_find(&state.cc, options, state.why, sizeof state.why);
        if (state.has_cc)
            find_cache(options);
        else
            fprintf(stderr,
                    "softcuda: %s, so kernels run in the interpreter; install "
                    "one or set SOFTCUDA_CC\n",
                    state.why);
    }
    if (!state.has_cc)
        snprintf(why, why_bytes, "%s", state.why);
    bool good = state.has_cc;
    pthread_mutex_unlock(&lock);
    return good;
}

static void say_failure(const char *why)
{
    pthread_mutex_lock(&lock);
    bool first = !state.said_failure && !sc_build_cc_is_stopped();
    state.said_failure |= first;
    pthread_mutex_unlock(&lock);
    if (first)
        fprintf(stderr,
                "softcuda: %s; the interpreter runs such kernels "
                "(SOFTCUDA_KEEP keeps what was compiled)\n",
                why);
}

static bool load(struct sc_build_object *object, const char *path, char *why,
                 size_t why_bytes)
{
    object->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object->handle) {
        const char *reason = dlerror();
        snprintf(why, why_bytes, "the compiled kernel does not load: %.100s",
                 reason ? reason : "?");
        return false;
    }
    object->run = (sc_native_run *)dlsym(object->handle, "sc_native_run");
    if (object->run)
        return true;
    snprintf(why, why_bytes, "the compiled kernel has no entry point");
    sc_build_object_drop(object);
    return false;
}

/* A folder to compile into when there is no cache; removed after the load. */
static bool make_folder(char *path, size_t bytes)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(path, bytes, "%s/softcuda-XXXXXX",
             temporary && temporary[0] == '/' ? temporary : "/tmp");
    return mkdtemp(path) != NULL;
}

/* @cached where the object goes in the cache; NULL: nothing is remembered */
static bool compile(const char *file, const char *cached, const char *text,
                    const char *keep, char *why, size_t why_bytes)
{
    char log[SC_BUILD_PATH];
    const struct sc_build_limits *limits = &state.cc.limits;
    enum sc_build_note note =
        cached ? sc_build_note_read(cached, limits, why, why_bytes)
               : SC_BUILD_NOTE_NONE;
    if (note == SC_BUILD_NOTE_NONE && sc_build_cc_has_least(text))
        note = SC_BUILD_NOTE_LESS;
    if (keep)
        snprintf(log, sizeof log, "%s.log", keep);
    while (note != SC_BUILD_NOTE_NEVER) {
        enum sc_build_cc_end end =
            sc_build_cc_run(&state.cc, note == SC_BUILD_NOTE_LESS, text, file,
                            why, why_bytes, keep ? log : NULL);
        if (end == SC_BUILD_CC_DONE)
            return true;
        unlink(file);
        if (end == SC_BUILD_CC_FAILED)
            break;
        note++;
        if (cached)
            sc_build_note_write(cached, limits, note, end, why);
    }
    return false;
}

static bool build_uncached(struct sc_build_object *object, const char *text,
                           const char *keep, char *why, size_t why_bytes)
{
    char folder[SC_BUILD_FOLDER], file[SC_BUILD_PATH];
    if (!make_folder(folder, sizeof folder)) {
        snprintf(why, why_bytes, "there is no room for temporary files");
        say_failure(why);
        return false;
    }
    /* loaders know objects by name: none twice in a process */
    snprintf(file, sizeof file, "%s/%u.so", folder,
             atomic_fetch_add(&last_file, 1));
    bool good = compile(file, NULL, text, keep, why, why_bytes) &&
                load(object, file, why, why_bytes);
    if (!good)
        say_failure(why);
    unlink(file);
    rmdir(folder);
    return good;
}

/* Whether an object would fit into the folder; it may have gone meanwhile. */
static bool has_room(const char *folder)
{
    char file[SC_BUILD_PATH];
    snprintf(file, sizeof file, "%s/" SC_BUILD_UNFINISHED "%d-%u", folder,
             (int)getpid(), atomic_fetch_add(&last_file, 1));
    int fd = open(file, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    bool good = fd >= 0 && posix_fallocate(fd, 0, 1 << 20) == 0;
    if (fd >= 0)
        close(fd);
    unlink(file);
    return good;
}

static void give_up_cache(const char *folder)
{
    pthread_mutex_lock(&lock);
    bool first = !state.lost_cache;
    state.lost_cache = true;
    pthread_mutex_unlock(&lock);
    if (first)
        fprintf(stderr,
                "softcuda: no room for compiled kernels in %s; they are not "
                "kept\n",
                folder);
}

/* @object NULL: it is not loaded, and is made for the cache or not at all */
static bool build_cached(struct sc_build_object *object,
                         const struct sc_build_options *options,
                         const char *key, const char *text, const char *keep,
                         const char *path, char *why, size_t why_bytes)
{
    char file[SC_BUILD_PATH];
    size_t key_bytes = strlen(key);
    snprintf(file, sizeof file, "%s/" SC_BUILD_UNFINISHED "%d-%u.so",
             options->cache, (int)getpid(), atomic_fetch_add(&last_file, 1));
    if (!compile(file, path, text, keep, why, why_bytes)) {
        if (!has_room(options->cache)) {
            give_up_cache(options->cache);
            return object && build_uncached(object, text, keep, why, why_bytes);
        }
        say_failure(why);
        return false;
    }
    bool sealed = sc_build_cache_seal(file, key, key_bytes);
    bool good = !object || load(object, file, why, why_bytes);
    if (!good)
        say_failure(why);
    if (!good || !sealed || rename(file, path) != 0) {
        unlink(file);
        good &= object != NULL;
    }
    sc_build_cache_trim(options->cache, options->cache_max);
    return good;
}

static char *make_key(const char *text)
{
    char *key;
    int n = asprintf(&key, "softcuda %d %s\n%s", SC_NATIVE_ABI,
                     state.cc.identity, text);
    return n < 0 ? NULL : key;
}

bool sc_build_object_get(struct sc_build_object *object,
                         const struct sc_build_options *options,
                         const char *text, const char *keep, char *why,
                         size_t why_bytes)
{
    char path[SC_BUILD_PATH];
    *object = (struct sc_build_object){0};
    if (!prepare(options, why, why_bytes))
        return false;
    if (!state.has_cache || state.lost_cache)
        return build_uncached(object, text, keep, why, why_bytes);
    char *key = make_key(text);
    if (!key) {
        snprintf(why, why_bytes, "out of host memory");
        return false;
    }
    size_t bytes = strlen(key);
    sc_build_cache_path(options->cache, key, bytes, path, sizeof path);
    object->from_cache = sc_build_cache_check(path, key, bytes) &&
                         load(object, path, why, why_bytes);
    bool good = object->from_cache || build_cached(object, options, key, text,
                                                   keep, path, why, why_bytes);
    free(key);
    return good;
}

bool sc_build_object_store(const struct sc_build_options *options,
                           const char *text)
{
    char path[SC_BUILD_PATH], why[160];
    if (!prepare(options, why, sizeof why) || !state.has_cache)
        return false;
    char *key = make_key(text);
    if (!key)
        return false;
    size_t bytes = strlen(key);
    sc_build_cache_path(options->cache, key, bytes, path, sizeof path);
    bool good =
        sc_build_cache_check(path, key, bytes) ||
        build_cached(NULL, options, key, text, NULL, path, why, sizeof why);
    free(key);
    return good;
}

void sc_build_object_drop(struct sc_build_object *object)
{
    if (object->handle)
        dlclose(object->handle);
    *object = (struct sc_build_object){0};
}

void sc_build_object_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(&state, 0, sizeof state);
}

void sc_build_object_reset(void)
{
    pthread_mutex_lock(&lock);
    memset(&state, 0, sizeof state);
    pthread_mutex_unlock(&lock);
}
