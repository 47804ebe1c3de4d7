/*
 * The C library's own entry points: see os/real.h.
 *
 * Owns the table and the reading of one ELF symbol table. Only dlsym and
 * dlvsym are found that way; they then find the rest, since they also choose
 * among the processor variants of functions such as memcpy.
 */
#include "os/real.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct adsm_real adsm_real_table;
_Atomic bool adsm_real_ready;

static _Atomic(struct link_map *) real_libc;

/* What is needed of a library's dynamic section. */
struct image {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    uintptr_t base;
};

/* No C library function here: each may be a hooked one. */
static bool text_is(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static const char *text_file_name(const char *path)
{
    const char *name = path;
    for (; *path != '\0'; path++) {
        if (*path == '/')
            name = path + 1;
    }
    return name;
}

static struct link_map *real_find_library(const char *file_name)
{
    struct link_map *map = _r_debug.r_map;
    while (map != NULL && !text_is(text_file_name(map->l_name), file_name))
        map = map->l_next;
    return map;
}

/* The dynamic loader has relocated these pointers already; on a few systems
 * it leaves them relative to the load address. */
static const void *image_pointer(const struct link_map *map, uintptr_t value)
{
    return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static bool image_read(struct image *image, const struct link_map *map)
{
    *image = (struct image){.base = map->l_addr};
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        const void *at = image_pointer(map, d->d_un.d_ptr);
        if (d->d_tag == DT_SYMTAB)
            image->symbols = at;
        else if (d->d_tag == DT_STRTAB)
            image->strings = at;
        else if (d->d_tag == DT_GNU_HASH)
            image->gnu_hash = at;
    }
    return image->symbols != NULL && image->strings != NULL &&
           image->gnu_hash != NULL;
}

static uint32_t image_hash(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* A defined function by name; the GNU hash section ends each chain of symbols
 * with a hash whose lowest bit is set. */
static void *image_lookup(const struct image *image, const char *name)
{
    uint32_t buckets = image->gnu_hash[0], first = image->gnu_hash[1];
    uint32_t bloom_words = image->gnu_hash[2];
    const uint32_t *bucket =
        image->gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = bucket + buckets;
    uint32_t hash = image_hash(name);
    uint32_t i = buckets != 0 ? bucket[hash % buckets] : 0;
    for (; i >= first && i != 0; i++) {
        const ElfW(Sym) *symbol = &image->symbols[i];
        uint32_t other = chain[i - first];
        if ((other | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            text_is(image->strings + symbol->st_name, name))
            return (void *)(image->base + symbol->st_value);
        if (other & 1)
            break;
    }
    return NULL;
}

/* Before glibc 2.34 dlsym lived in a library of its own. */
static void *real_find_loader(const char *name)
{
    static const char *const libraries[] = {"libc.so.6", "libdl.so.2"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        struct link_map *map = real_find_library(libraries[i]);
        struct image image;
        void *found = map != NULL && image_read(&image, map)
                          ? image_lookup(&image, name)
                          : NULL;
        if (found != NULL)
            return found;
    }
    return NULL;
}

typedef void *(*real_dlsym_fn)(void *, const char *);
typedef void *(*real_dlvsym_fn)(void *, const char *, const char *);

/* In a program linked statically or to another C library there is nothing to
 * be behind: the plain names are the real ones. */
static void real_fill_plain(void)
{
#define X(ret, name, params) adsm_real_table.name = name;
#include "os/real.def"
#undef X
}

const struct adsm_real *adsm_real_resolve(void)
{
    struct link_map *libc = real_find_library("libc.so.6");
    real_dlsym_fn find = (real_dlsym_fn)real_find_loader("dlsym");
    if (libc == NULL || find == NULL) {
        real_fill_plain();
    } else {
        /* A link map is what dlopen returns for a library. */
#define X(ret, name, params)                                                   \
    adsm_real_table.name = (__typeof__(adsm_real_table.name))find(libc, #name);
#include "os/real.def"
#undef X
        adsm_real_table.dlsym = find;
        adsm_real_table.dlvsym = (real_dlvsym_fn)real_find_loader("dlvsym");
        atomic_store_explicit(&real_libc, libc, memory_order_relaxed);
    }
    /* Release pairs with the acquire in adsm_real. */
    atomic_store_explicit(&adsm_real_ready, true, memory_order_release);
    return &adsm_real_table;
}

void *adsm_real_lookup(const char *name, const char *version)
{
    const struct adsm_real *real = adsm_real();
    void *libc = atomic_load_explicit(&real_libc, memory_order_relaxed);
    if (libc == NULL)
        return version != NULL ? dlvsym(RTLD_DEFAULT, name, version)
                               : dlsym(RTLD_DEFAULT, name);
    return version != NULL ? real->dlvsym(libc, name, version)
                           : real->dlsym(libc, name);
}

/* Ahead of other constructors, so that no hooked call pays for it. */
__attribute__((constructor(101))) static void real_start(void)
{
    adsm_real();
}
