/*
 * Where the libraries are, seen from the running adsm-run: in the build tree
 * or installed.
 */
#ifndef ADSM_RUN_FIND_H
#define ADSM_RUN_FIND_H

#include <stddef.h>

/**
 * Folder of one of libadsm's libraries, without "..".
 *
 * @name  "libadsm-preload.so"; @folder  receives it; @bytes  room in `folder`
 * Return: 0; -1 when it is in none of the places looked in
 */
int find_library(const char *name, char *folder, size_t bytes);

/** Path of the commands for gdb; as find_library. */
int find_gdb_commands(char *path, size_t bytes);

/** Folder of what Python programs may import; as find_library. */
int find_python(char *path, size_t bytes);

/** Folder of the software device's libcuda.so.1; as find_library. */
int find_softcuda(char *path, size_t bytes);

#endif
