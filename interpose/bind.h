/*
 * Binding a loaded library to the hooks after the loader has bound it past them.
 *
 * Owns the walk over its relocations. Does not load anything, and knows nothing
 * of why the loader did so (deep.c). Lock: one for the changes themselves, of rank
 * SIGNAL, with nothing called under it.
 */
#ifndef INTERPOSE_BIND_H
#define INTERPOSE_BIND_H

#include <link.h>
#include <stddef.h>

/** A library in memory: what the loader knows of it, and its segments. */
struct bind_library {
    const struct link_map *map;
    const ElfW(Phdr) * part;
    size_t parts;
};

/**
 * Have each place of `library` that holds a function behind a hook, or will when
 * it is first called through, hold the hook. What it has bound to functions of
 * that name in other libraries stays.
 *
 * @library  cannot be unloaded meanwhile
 * @root     handle by which its names are looked for: what was opened
 * Thread: any. Signal: never
 */
void bind_library(const struct bind_library *library, void *root);

#endif
