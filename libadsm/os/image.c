/*
 * Symbol tables of loaded libraries: see os/image.h.
 *
 * No C library function here: each may be a hooked one.
 */
#include "os/image.h"

#include <elf.h>
#include <stddef.h>
#include <sys/auxv.h>
#if defined(__aarch64__)
#include <sys/ifunc.h>
#endif

#include "base/text.h"

#define VERSION_HIDDEN 0x8000 /* not the default version of its name */

const void *adsm_image_at(const struct link_map *map, const ElfW(Dyn) * entry)
{
    /* Relocated by the dynamic loader, except where that section is read-only:
     * then still relative to the load address. */
    uintptr_t at = entry->d_un.d_ptr;
    return (const void *)(at < map->l_addr ? at + map->l_addr : at);
}

bool adsm_image_read(struct adsm_image *image, const struct link_map *map)
{
    *image = (struct adsm_image){.base = map->l_addr};
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        const void *at = adsm_image_at(map, d);
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
           image->gnu_hash != NULL;
}

static const char *image_version_name(const struct adsm_image *image,
                                      unsigned index)
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
static bool image_matches(const struct adsm_image *image, uint32_t i,
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

uint32_t adsm_image_hash(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* The filter of the GNU hash section: two bits of one word for every name. */
static bool image_may_have(const struct adsm_image *image, uint32_t hash)
{
    enum { WORD_BITS = 8 * sizeof(ElfW(Addr)) };
    uint32_t words = image->gnu_hash[2], shift = image->gnu_hash[3];
    const ElfW(Addr) *filter = (const void *)(image->gnu_hash + 4);
    ElfW(Addr) word = filter[hash / WORD_BITS & (words - 1)];
    return word >> (hash % WORD_BITS) & word >> ((hash >> shift) % WORD_BITS) &
           1;
}

/* The GNU hash section: filter, bucket heads, then a hash for every symbol; the
 * last one of a bucket has its lowest bit set. Return: the symbol with that
 * hash at or behind `*at`, which then is the next one, or 0. */
struct image_walk {
    const uint32_t *chain;
    uint32_t first, i; /* 0: at the end */
};

static struct image_walk walk_begin(const struct adsm_image *image,
                                    uint32_t hash)
{
    uint32_t buckets = image->gnu_hash[0], first = image->gnu_hash[1];
    uint32_t words = image->gnu_hash[2];
    const uint32_t *bucket =
        image->gnu_hash + 4 + words * (sizeof(ElfW(Addr)) / 4);
    struct image_walk walk = {bucket + buckets, first, 0};
    if (buckets != 0 && image_may_have(image, hash))
        walk.i = bucket[hash % buckets];
    if (walk.i < first)
        walk.i = 0;
    return walk;
}

static uint32_t walk_next(struct image_walk *walk, uint32_t hash)
{
    while (walk->i != 0) {
        uint32_t i = walk->i, other = walk->chain[i - walk->first];
        walk->i = other & 1 ? 0 : i + 1;
        if ((other | 1) == (hash | 1))
            return i;
    }
    return 0;
}

void *adsm_image_lookup(const struct adsm_image *image, const char *name,
                        const char *version)
{
    uint32_t hash = adsm_image_hash(name), i;
    struct image_walk walk = walk_begin(image, hash);
    while ((i = walk_next(&walk, hash)) != 0) {
        const ElfW(Sym) *symbol = &image->symbols[i];
        uintptr_t at = image->base + symbol->st_value;
        if (image_matches(image, i, name, version))
            return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC
                       ? image_select(at)
                       : (void *)at;
    }
    return NULL;
}

bool adsm_image_has(const struct adsm_image *image, const char *name,
                    uint32_t hash)
{
    struct image_walk walk = walk_begin(image, hash);
    uint32_t i;
    while ((i = walk_next(&walk, hash)) != 0)
        if (image->symbols[i].st_shndx != SHN_UNDEF &&
            adsm_text_is(image->strings + image->symbols[i].st_name, name))
            return true;
    return false;
}
