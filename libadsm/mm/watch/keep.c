/* Marks of the bytes that stay with the CPU; see keep.h. */
#include "mm/watch/keep.h"

#include "base/pool.h"
#include "mm/object/index.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_SHIFT = 12,
    PAGE_BYTES = 1 << PAGE_SHIFT,
    UNIT_BYTES = ADSM_KEEP_UNIT,
    WORD_UNITS = 64,
    PAGE_WORDS = PAGE_BYTES / UNIT_BYTES / WORD_UNITS
};

/* A page's marks. */
struct adsm_kept {
    _Atomic uint64_t word[PAGE_WORDS];
};

static struct adsm_pool pool =
    ADSM_POOL_INIT(sizeof(struct adsm_kept), _Alignof(struct adsm_kept));

static size_t page_count(const struct adsm_object *object)
{
    return (object->bytes + PAGE_BYTES - 1) >> PAGE_SHIFT;
}

/* Marks of the page around `offset`; NULL: there are none. Acquire: pairs with
 * the stores that make them known. */
static struct adsm_kept *marks_at(const struct adsm_object *object,
                                  size_t offset)
{
    adsm_kept_page *pages =
        atomic_load_explicit(&object->kept, memory_order_acquire);
    return pages ? atomic_load_explicit(&pages[offset >> PAGE_SHIFT],
                                        memory_order_acquire)
                 : NULL;
}

static bool is_marked(const struct adsm_object *object, size_t offset)
{
    const struct adsm_kept *marks = marks_at(object, offset);
    size_t unit = (offset & (PAGE_BYTES - 1)) / UNIT_BYTES;
    /* Acquire: who sees the mark finds the bytes at S as they were fetched. */
    return marks && atomic_load_explicit(&marks->word[unit / WORD_UNITS],
                                         memory_order_acquire) >>
                            unit % WORD_UNITS &
                        1;
}

/* Of one page's marks. */
static void change(struct adsm_kept *marks, size_t offset, bool kept)
{
    size_t unit = (offset & (PAGE_BYTES - 1)) / UNIT_BYTES;
    uint64_t bit = UINT64_C(1) << unit % WORD_UNITS;
    _Atomic uint64_t *word = &marks->word[unit / WORD_UNITS];
    if (kept)
        atomic_fetch_or_explicit(word, bit, memory_order_release);
    else
        atomic_fetch_and_explicit(word, ~bit, memory_order_release);
}

static adsm_kept_page *make_pages(struct adsm_object *object)
{
    adsm_kept_page *made = calloc(page_count(object), sizeof *made);
    adsm_kept_page *there = NULL;
    if (made && !atomic_compare_exchange_strong(&object->kept, &there, made)) {
        free((void *)made); /* another thread was quicker */
        return there;
    }
    return made;
}

/* Marks of a page, which may be the first. */
static struct adsm_kept *make_marks(struct adsm_object *object, size_t offset)
{
    adsm_kept_page *pages = atomic_load(&object->kept);
    if (!pages && !(pages = make_pages(object)))
        return NULL;
    struct adsm_kept *made = adsm_pool_get(&pool), *there = NULL;
    if (!made)
        return NULL;
    memset(made, 0, sizeof *made);
    if (atomic_compare_exchange_strong(&pages[offset >> PAGE_SHIFT], &there,
                                       made))
        return made;
    adsm_pool_put(&pool, made);
    return there;
}

int adsm_keep_mark(struct adsm_object *object, size_t offset, size_t bytes)
{
    for (size_t end = offset + bytes; offset < end; offset += UNIT_BYTES) {
        struct adsm_kept *marks = marks_at(object, offset);
        if (!marks && !(marks = make_marks(object, offset)))
            return ADSM_E_NOMEM;
        change(marks, offset, true);
    }
    return ADSM_OK;
}

void *adsm_keep_find(const void *address, size_t bytes)
{
    struct adsm_object *object = adsm_index_find(address);
    if (!object)
        return NULL;
    size_t offset = (size_t)((const uint8_t *)address - object->host);
    size_t last = offset + bytes - 1;
    return last < object->bytes && is_marked(object, offset) &&
                   is_marked(object, last)
               ? object->shadow.shadow + offset
               : NULL;
}

void adsm_keep_end(const void *address, size_t bytes)
{
    struct adsm_object *object = adsm_index_acquire(address);
    if (!object)
        return;
    adsm_keep_drop(object, (size_t)((const uint8_t *)address - object->host),
                   bytes);
    adsm_rwlock_release_shared(&object->lock);
}

void adsm_keep_drop(struct adsm_object *object, size_t offset, size_t bytes)
{
    if (!atomic_load(&object->kept))
        return;
    size_t end =
        offset + bytes < object->bytes ? offset + bytes : object->bytes;
    for (offset -= offset % UNIT_BYTES; offset < end;) {
        struct adsm_kept *marks = marks_at(object, offset);
        if (!marks) {
            offset = (offset | (PAGE_BYTES - 1)) + 1;
            continue;
        }
        change(marks, offset, false);
        offset += UNIT_BYTES;
    }
}

size_t adsm_keep_run(const struct adsm_object *object, size_t offset,
                     size_t bytes, bool *kept)
{
    size_t at = offset, end = offset + bytes;
    *kept = false;
    if (!atomic_load_explicit(&object->kept, memory_order_acquire))
        return bytes;
    *kept = is_marked(object, at);
    do {
        bool marks = marks_at(object, at) != NULL;
        at = (at | ((marks ? UNIT_BYTES : PAGE_BYTES) - 1)) + 1;
    } while (at < end && is_marked(object, at) == *kept);
    return (at < end ? at : end) - offset;
}

size_t adsm_keep_pages(const struct adsm_object *object, size_t offset,
                       size_t bytes, bool *kept)
{
    size_t at = offset, end = offset + bytes;
    *kept = false;
    if (!atomic_load_explicit(&object->kept, memory_order_acquire))
        return bytes;
    *kept = marks_at(object, at) != NULL;
    do {
        at += PAGE_BYTES;
    } while (at < end && (marks_at(object, at) != NULL) == *kept);
    return (at < end ? at : end) - offset;
}

void adsm_keep_free(struct adsm_object *object)
{
    adsm_kept_page *pages = atomic_load(&object->kept);
    for (size_t i = 0; pages && i < page_count(object); i++)
        adsm_pool_put(&pool, atomic_load(&pages[i]));
    free((void *)pages);
    atomic_store(&object->kept, NULL);
}
