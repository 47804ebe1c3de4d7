/*
 * Where the libraries are, seen from the running adsm-run: in the build tree
 * or installed.
 */
#ifndef ADSM_RUN_FIND_H
#define ADSM_RUN_FIND_H

#include <stddef.h>

/**
 * Path of a library that is preloaded.
 *
 * @name   "libadsm-preload.so"; @path  receives it; @bytes  room in `path`
 * Return: 0; -1 when it is in none of the places looked in
 */
int find_preload(const char *name, char *path, size_t bytes);

/** Path of the commands for gdb; as find_preload. */
int find_gdb_commands(char *path, size_t bytes);

/** Folder of what Python programs may import; as find_preload. */
int find_python(char *path, size_t bytes);

/** Folder of the software device's libcuda.so.1; as find_preload. */
int find_softcuda(char *path, size_t bytes);

#endif
