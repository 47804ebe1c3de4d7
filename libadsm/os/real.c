/*
 * The C library's own entry points: see os/real.h.
 *
 * Owns the table and the reading of ELF symbol tables. Names are looked up by
 * hand because the alternatives are closed: dlsym may be hooked, on a library
 * that was not opened by dlopen it finds nothing, and dlopen calls malloc.
 */
#include "os/real.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#if defined(__aarch64__)
#include <sys/ifunc.h>
#endif

#include "base/text.h"

struct adsm_real adsm_real_table;
_Atomic bool adsm_real_ready;

/* What is needed of a library's dynamic section. */
struct image {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const ElfW(Versym) * versions; /* of each symbol */
    const ElfW(Verdef) * defined;  /* the library's versions */
    uintptr_t base;
};

#define VERSION_HIDDEN 0x8000 /* not the default version of its name */

/* No C library function from here on: each may be a hooked one. */

static const char *text_file_name(const char *path)
{
    const char *name = path;
    for (; *path != '\0'; path++) {
        if (*path == '/')
            name = path + 1;
    }
    return name;
}

static const struct link_map *library_find(const char *file_name)
{
    const struct link_map *map = _r_debug.r_map;
    while (map != NULL && !adsm_text_is(text_file_name(map->l_name), file_name))
        map = map->l_next;
    return map;
}

static bool image_read(struct image *image, const struct link_map *map)
{
    *image = (struct image){.base = map->l_addr};
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        /* Relocated by the dynamic loader, except where that section is
         * read-only: then still relative to the load address. */
        uintptr_t value = d->d_un.d_ptr;
        const void *at =
            (const void *)(value < map->l_addr ? value + map->l_addr : value);
        if (d->d_tag == DT_SYMTAB)
            image->symbols = at;
        else if (d->d_tag == DT_STRTAB)
            image->strings = at;
        else if (d->d_tag == DT_GNU_HASH)
            image->gnu_hash = at;
        else if (d->d_tag == DT_VERSYM)
            image->versions = at;
        else if (d->d_tag == DT_VERDEF)
            image->defined = at;
    }
    return image->symbols != NULL && image->strings != NULL &&
           image->gnu_hash != NULL && image->versions != NULL &&
           image->defined != NULL;
}

static const char *image_version_name(const struct image *image, unsigned index)
{
    const ElfW(Verdef) *def = image->defined;
    while (def->vd_ndx != index && def->vd_next != 0)
        def = (const void *)((const char *)def + def->vd_next);
    if (def->vd_ndx != index)
        return "";
    const ElfW(Verdaux) *aux = (const void *)((const char *)def + def->vd_aux);
    return image->strings + aux->vda_name;
}

/* Is symbol `i` the function wanted? Without a version: the default one. */
static bool image_matches(const struct image *image, uint32_t i,
                          const char *name, const char *version)
{
    const ElfW(Sym) *symbol = &image->symbols[i];
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    unsigned index = image->versions[i];
    if (symbol->st_shndx == SHN_UNDEF ||
        (type != STT_FUNC && type != STT_GNU_IFUNC) ||
        !adsm_text_is(image->strings + symbol->st_name, name))
        return false;
    if (version == NULL)
        return !(index & VERSION_HIDDEN);
    return adsm_text_is(image_version_name(image, index & ~VERSION_HIDDEN),
                        version);
}

/* The processor's variant of a function, from the library's own selector. */
static void *image_select(uintptr_t selector)
{
#if defined(__aarch64__)
    __ifunc_arg_t arg = {sizeof arg, getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    return ((void *(*)(uint64_t, const __ifunc_arg_t *))selector)(
        arg._hwcap | _IFUNC_ARG_HWCAP, &arg);
#else
    return ((void *(*)(void))selector)();
#endif
}

static uint32_t image_hash(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* The GNU hash section: bucket heads, then a hash for every symbol; the last
 * one of a bucket has its lowest bit set. */
static void *image_lookup(const struct image *image, const char *name,
                          const char *version)
{
    uint32_t buckets = image->gnu_hash[0], first = image->gnu_hash[1];
    uint32_t bloom_words = image->gnu_hash[2];
    const uint32_t *bucket =
        image->gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = bucket + buckets;
    uint32_t hash = image_hash(name);
    uint32_t i = buckets != 0 ? bucket[hash % buckets] : 0;
    for (; i >= first && i != 0; i++) {
        uint32_t other = chain[i - first];
        if ((other | 1) == (hash | 1) &&
            image_matches(image, i, name, version)) {
            const ElfW(Sym) *symbol = &image->symbols[i];
            uintptr_t at = image->base + symbol->st_value;
            return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC
                       ? image_select(at)
                       : (void *)at;
        }
        if (other & 1)
            break;
    }
    return NULL;
}

void *adsm_real_lookup(const char *name, const char *version)
{
    /* Before glibc 2.34 it came in several libraries. */
    static const char *const libraries[] = {"libc.so.6", "libdl.so.2",
                                            "libpthread.so.0", "librt.so.1",
                                            "liburing.so.2"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const struct link_map *map = library_find(libraries[i]);
        struct image image;
        void *found = map != NULL && image_read(&image, map)
                          ? image_lookup(&image, name, version)
                          : NULL;
        if (found != NULL)
            return found;
    }
    return NULL;
}

const struct adsm_real *adsm_real_resolve(void)
{
#define X(ret, name, params)                                                   \
    adsm_real_table.name =                                                     \
        (__typeof__(adsm_real_table.name))adsm_real_lookup(#name, NULL);
#include "os/real.def"
#undef X
    /* Release pairs with the acquire in adsm_real. */
    atomic_store_explicit(&adsm_real_ready, true, memory_order_release);
    return &adsm_real_table;
}

/* Ahead of other constructors, so that no hooked call pays for it. */
__attribute__((constructor(101))) static void real_start(void)
{
    adsm_real();
}
