/*
 * The C library's own entry points: see os/real.h.
 *
 * Owns the table. Names are looked up by hand (os/image.h).
 */
#include "os/real.h"

#include <stddef.h>

#include "base/text.h"

struct adsm_real adsm_real_table;
_Atomic bool adsm_real_ready;

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

/* Before glibc 2.34 it came in several libraries. */
static const char *const libraries[] = {"libc.so.6", "libdl.so.2",
                                        "libpthread.so.0", "librt.so.1",
                                        "liburing.so.2"};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

bool adsm_real_is_library(const char *path)
{
    for (size_t i = 0; i < LIBRARIES; i++)
        if (adsm_text_is(text_file_name(path), libraries[i]))
            return true;
    return false;
}

/* The first of them never goes, so its table is read once. */
static struct {
    struct adsm_image libc;
    _Atomic int state;
} real;
enum { UNREAD, READING, READ };

static bool library_read(struct adsm_image *image, size_t library)
{
    const struct link_map *map = library_find(libraries[library]);
    return map != NULL && adsm_image_read(image, map) &&
           image->versions != NULL && image->defined != NULL;
}

/* Of who comes while another thread reads it each has its own. */
static const struct adsm_image *libc_image(struct adsm_image *own)
{
    int unread = UNREAD;
    /* Acquire pairs with the release below. */
    if (atomic_load_explicit(&real.state, memory_order_acquire) == READ)
        return &real.libc;
    if (!library_read(own, 0))
        return NULL;
    if (atomic_compare_exchange_strong(&real.state, &unread, READING)) {
        real.libc = *own;
        atomic_store_explicit(&real.state, READ, memory_order_release);
    }
    return own;
}

void *adsm_real_lookup_libc(const char *name)
{
    struct adsm_image own;
    const struct adsm_image *image = libc_image(&own);
    return image != NULL ? adsm_image_lookup(image, name, NULL) : NULL;
}

void *adsm_real_lookup(const char *name, const char *version)
{
    struct adsm_image own;
    const struct adsm_image *image = libc_image(&own);
    void *found =
        image != NULL ? adsm_image_lookup(image, name, version) : NULL;
    for (size_t i = 1; i < LIBRARIES && found == NULL; i++)
        if (library_read(&own, i))
            found = adsm_image_lookup(&own, name, version);
    return found;
}

bool adsm_real_before(const void *dynamic, struct adsm_real_images *before)
{
    const struct link_map *map = _r_debug.r_map;
    while (map != NULL && map->l_ld != dynamic)
        map = map->l_next;
    before->count = 0;
    while (map != NULL && (map = map->l_next) != NULL) {
        if (adsm_text_is(text_file_name(map->l_name), libraries[0]))
            return true;
        if (before->count == ADSM_REAL_IMAGES ||
            !adsm_image_read(&before->images[before->count++], map))
            return false;
    }
    return false;
}

bool adsm_real_is_before(const struct adsm_real_images *before,
                         const char *name)
{
    uint32_t hash = before->count != 0 ? adsm_image_hash(name) : 0;
    for (size_t i = 0; i < before->count; i++)
        if (adsm_image_has(&before->images[i], name, hash))
            return true;
    return false;
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
