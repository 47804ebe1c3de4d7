/*
 * Which libraries the file that is about to be run names to the loader.
 *
 * Looks only at the file; never runs or maps it.
 */
#ifndef ADSM_RUN_NEEDS_H
#define ADSM_RUN_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * The first needed library whose name starts with `prefix`.
 *
 * @path  the program; @name  receives the library's name; @bytes  room in `name`
 * Return: 0; -1 when there is none, or the file is no 64-bit ELF file
 */
int needs_library(const char *path, const char *prefix, char *name,
                  size_t bytes);

/** Whether the loader looks into folders that the program names before those of
 *  LD_LIBRARY_PATH: it has an RPATH, which linkers wrote before RUNPATH. */
bool needs_from_own_path(const char *path);

#endif
