/*
 * Compiled kernels on disk.
 *
 * A file is the shared object, then the key it was made for, then a trailer
 * with checksums: loaders of objects look at the front only. Files appear by
 * rename, are never changed, and are taken only when they belong to this user,
 * nobody else may write them, and every byte is as it was written.
 *
 * Lock: none; any number of threads and processes may use one folder.
 */
#ifndef SOFTCUDA_NATIVE_BUILD_CACHE_H
#define SOFTCUDA_NATIVE_BUILD_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Make the folder if needed and see whether it can be trusted.
 *
 * @why receives one sentence when it cannot be used
 * Return: false: not a folder, of another user, or writable by others
 * Thread: any
 * Signal: never
 */
bool sc_build_cache_open(const char *folder, char *why, size_t why_bytes);

/**
 * Path of the file for a key, whether it exists or not.
 *
 * @key all that decides the object, with the whole text; @path of `bytes`
 * Thread: any
 * Signal: never
 */
void sc_build_cache_path(const char *folder, const char *key, size_t key_bytes,
                         char *path, size_t bytes);

/**
 * Check the file at `path` against its key and note that it was used.
 * A damaged one is removed.
 *
 * Return: whether it may be loaded
 * Thread: any
 * Signal: never
 */
bool sc_build_cache_check(const char *path, const char *key, size_t key_bytes);

/**
 * Append key and trailer to a finished object.
 *
 * Return: false: the disk is full, or worse; the object itself is intact
 * Thread: any
 * Signal: never
 */
bool sc_build_cache_seal(const char *object, const char *key, size_t key_bytes);

/**
 * Remove what was not used for longest until the folder holds at most
 * `limit` bytes, and what killed compilers left.
 *
 * Thread: any
 * Signal: never
 */
void sc_build_cache_trim(const char *folder, uint64_t limit);

/** Prefix of unfinished files in the folder, endings of finished ones. */
#define SC_BUILD_UNFINISHED   ".build-"
#define SC_BUILD_CACHE_OBJECT ".so"
#define SC_BUILD_CACHE_NOTE   ".no"

#endif
