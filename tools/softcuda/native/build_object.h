/*
 * C text becomes callable code: cache, compiler, loader.
 *
 * Lock: one inside, for the compiler's search and messages said once.
 */
#ifndef SOFTCUDA_NATIVE_BUILD_OBJECT_H
#define SOFTCUDA_NATIVE_BUILD_OBJECT_H

#include "native/build_options.h"

/** Loaded code. */
struct sc_build_object {
    void *handle;
    sc_native_run *run;
    bool from_cache;
};

/**
 * Make code of C text: take it from the cache, else compile it.
 *
 * What is wrong with the compiler or with the cache is said on stderr, each
 * once in this process; without a cache the object lives in a folder for
 * temporary files until it is loaded.
 *
 * @options of this process; @text generated C, ends in NUL
 * @keep    NULL, or the path without ending under which the compiler's
 *          messages are kept when it fails
 * @why     receives one sentence on failure
 * Return: whether `object` is ready to be called
 * Thread: any, several at a time
 * Signal: never
 */
bool sc_build_object_get(struct sc_build_object *object,
                         const struct sc_build_options *options,
                         const char *text, const char *keep, char *why,
                         size_t why_bytes);

/**
 * As sc_build_object_get, but only for the cache: nothing is loaded.
 *
 * Return: whether the object is in the cache
 * Thread: any
 * Signal: never
 */
bool sc_build_object_store(const struct sc_build_options *options,
                           const char *text);

/** In a child of fork: threads that held locks are not there, and what they
 *  had begun is their process's.  Thread: the only one. */
void sc_build_object_forked(void);

/** Unload; nobody may run it. Thread: any. */
void sc_build_object_drop(struct sc_build_object *object);

/** Forget which compiler was found and what was said: the options changed.
 *  Thread: no other may be in this module. */
void sc_build_object_reset(void);

#endif
