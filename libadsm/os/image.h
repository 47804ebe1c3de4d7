/*
 * Symbol tables of loaded libraries, read by hand.
 *
 * The alternatives are closed to who stands before the C library: dlsym may be
 * hooked, on a library that was not opened by dlopen it finds nothing, and
 * dlopen calls malloc. Owns no state. No lock.
 */
#ifndef ADSM_OS_IMAGE_H
#define ADSM_OS_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/** What is needed of a library's dynamic section. */
struct adsm_image {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const ElfW(Versym) * versions; /* of each symbol; NULL: it has none */
    const ElfW(Verdef) * defined;  /* the library's versions            */
    uintptr_t base;
};

/** Return: false: it has no table of GNU's kind.
 *  Thread: any. Signal: any handler */
bool adsm_image_read(struct adsm_image *image, const struct link_map *map);

/** Where an entry of a library's dynamic section points to. Thread: any. Signal:
 *  any handler */
const void *adsm_image_at(const struct link_map *map, const ElfW(Dyn) * entry);

/**
 * A function of a library with versions.
 *
 * @version  NULL: the default one
 * Return: its address, by the library's own choice where it has several for
 *         this processor; NULL: it has none
 * Thread: any. Signal: any handler
 */
void *adsm_image_lookup(const struct adsm_image *image, const char *name,
                        const char *version);

/** The number under which a name stands in such a table. */
uint32_t adsm_image_hash(const char *name);

/** Does a library define a symbol, of whatever kind and version? @hash  the
 *  name's. Thread: any. Signal: any handler */
bool adsm_image_has(const struct adsm_image *image, const char *name,
                    uint32_t hash);

#endif
