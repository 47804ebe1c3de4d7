/* A sorted table of allocations, and chunks for small ones; see direct.h. */
#include "mm/direct.h"

#include "accel/granule.h"
#include "base/lock.h"
#include "base/option.h"
#include "mm/direct_order.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
    SLOT_BYTES = 512, /* what cuMemAlloc aligns to, and textures rely on */
    CHUNK_BYTES = 2 << 20,
    SLOTS = CHUNK_BYTES / SLOT_BYTES,
};

struct chunk {
    struct adsm_accel *accel;
    struct adsm_span span;
    struct adsm_granules slots;
    uint64_t words[ADSM_GRANULE_WORDS(SLOTS)];
    struct chunk *prev, *next;
};

struct entry {
    struct adsm_direct is;
    struct adsm_span span; /* where it is not in a chunk */
    struct chunk *chunk;
};

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_OBJECT_LIST);
static struct entry *entries; /* by address */
static size_t room;
static struct chunk *chunks;   /* newest first */
static _Atomic uint64_t given; /* numbers of allocations */

_Atomic size_t adsm_direct_count;

bool adsm_direct_serves(struct adsm_accel *accel)
{
    return adsm_address_strategy(accel, NULL) == ADSM_DIRECT;
}

/* ---- the table; the lock is held ----------------------------------------------- */

static size_t count_of(void)
{
    return atomic_load_explicit(&adsm_direct_count, memory_order_relaxed);
}

/* The first that begins behind an address. */
static size_t behind(const uint8_t *at)
{
    size_t low = 0, high = count_of();
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (entries[middle].is.host <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct entry *around(const void *address)
{
    size_t i = behind(address);
    struct entry *entry = i ? &entries[i - 1] : NULL;
    size_t offset = entry ? (size_t)((uint8_t *)address - entry->is.host) : 0;
    return entry && offset < entry->is.bytes ? entry : NULL;
}

/* Release: who sees the count finds the allocation under the lock. */
static void set_count(size_t count)
{
    atomic_store_explicit(&adsm_direct_count, count, memory_order_release);
}

static bool insert(const struct entry *entry)
{
    size_t count = count_of(), i = behind(entry->is.host);
    if (count == room) {
        size_t more = room ? 2 * room : 64;
        struct entry *grown = realloc(entries, more * sizeof *grown);
        if (!grown)
            return false;
        entries = grown;
        room = more;
    }
    memmove(entries + i + 1, entries + i, (count - i) * sizeof *entries);
    entries[i] = *entry;
    set_count(count + 1);
    return true;
}

static void take_out(const struct entry *entry)
{
    size_t i = (size_t)(entry - entries), count = count_of() - 1;
    memmove(entries + i, entries + i + 1, (count - i) * sizeof *entries);
    set_count(count);
}

bool adsm_direct_look(const void *address, struct adsm_direct *found)
{
    adsm_lock_acquire(&lock);
    const struct entry *entry = around(address);
    if (entry)
        *found = entry->is;
    adsm_lock_release(&lock);
    return entry != NULL;
}

static bool in_chunk(const void *address)
{
    struct chunk *chunk;
    DL_FOREACH(chunks, chunk)
    if ((size_t)((const uint8_t *)address - chunk->span.host) < CHUNK_BYTES)
        return true;
    return false;
}

bool adsm_direct_is_ours(const void *address)
{
    if (atomic_load_explicit(&adsm_direct_count, memory_order_acquire) == 0)
        return false;
    adsm_lock_acquire(&lock);
    bool is = around(address) || in_chunk(address);
    adsm_lock_release(&lock);
    return is;
}

/* ---- allocation ------------------------------------------------------------------ */

static size_t slots_for(size_t bytes)
{
    return (bytes + SLOT_BYTES - 1) / SLOT_BYTES;
}

/* From the chunks there are; the lock is held. Return: a slot was found */
static bool take_slots(struct entry *entry)
{
    size_t slot = SIZE_MAX;
    struct chunk *chunk;
    DL_FOREACH(chunks, chunk)
    {
        if (chunk->accel == entry->is.accel)
            slot =
                adsm_granules_take(&chunk->slots, slots_for(entry->is.bytes));
        if (slot != SIZE_MAX)
            break;
    }
    if (slot == SIZE_MAX)
        return false;
    entry->chunk = chunk;
    entry->is.host = chunk->span.host + slot * SLOT_BYTES;
    return true;
}

/* Slots of an allocation that has left the table go back; the lock is held.
 * Return: its chunk, which is nobody's any more and to be freed, or NULL */
static struct chunk *give_slots(const struct entry *entry)
{
    struct chunk *chunk = entry->chunk;
    size_t at = (size_t)(entry->is.host - chunk->span.host);
    (void)adsm_granules_give(&chunk->slots, at / SLOT_BYTES,
                             slots_for(entry->is.bytes));
    if (chunk->slots.in_use > 0)
        return NULL;
    DL_DELETE(chunks, chunk);
    return chunk;
}

static int free_chunk(struct chunk *chunk)
{
    int rc = adsm_address_free(chunk->accel, &chunk->span);
    free(chunk);
    return rc;
}

static int add_chunk(struct adsm_accel *accel)
{
    struct chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk)
        return ADSM_E_NOMEM;
    chunk->accel = accel;
    adsm_granules_init_in(&chunk->slots, chunk->words, SLOTS);
    int rc = adsm_address_alloc(accel, CHUNK_BYTES, false, &chunk->span);
    if (rc != ADSM_OK) {
        free(chunk);
        return rc;
    }
    adsm_lock_acquire(&lock);
    DL_PREPEND(chunks, chunk);
    adsm_lock_release(&lock);
    return ADSM_OK;
}

/* ADSM_E_LIMIT: there is no chunk with room. */
static int try_small(struct entry *entry)
{
    struct chunk *empty = NULL;
    adsm_lock_acquire(&lock);
    int rc = take_slots(entry) ? ADSM_OK : ADSM_E_LIMIT;
    if (rc == ADSM_OK && !insert(entry)) {
        rc = ADSM_E_NOMEM;
        empty = give_slots(entry);
    }
    adsm_lock_release(&lock);
    if (empty)
        (void)free_chunk(empty);
    return rc;
}

static int alloc_small(struct entry *entry)
{
    int rc = try_small(entry);
    while (rc == ADSM_E_LIMIT) { /* another thread may be faster */
        rc = add_chunk(entry->is.accel);
        if (rc == ADSM_OK)
            rc = try_small(entry);
    }
    return rc;
}

static int alloc_large(struct entry *entry)
{
    int rc = adsm_address_alloc(entry->is.accel, entry->is.bytes, false,
                                &entry->span);
    if (rc != ADSM_OK)
        return rc;
    entry->is.host = entry->span.host;
    adsm_lock_acquire(&lock);
    bool entered = insert(entry);
    adsm_lock_release(&lock);
    if (entered)
        return ADSM_OK;
    int freed = adsm_address_free(entry->is.accel, &entry->span);
    (void)freed; /* an earlier failure is the one to report */
    return ADSM_E_NOMEM;
}

int adsm_direct_alloc(struct adsm_accel *accel, size_t bytes, void **host)
{
    struct entry entry = {.is = {.bytes = bytes,
                                 .accel = accel,
                                 .id = atomic_fetch_add(&given, 1)}};
    bool small = bytes <= adsm_options_get()->slab_max;
    int rc = small ? alloc_small(&entry) : alloc_large(&entry);
    *host = entry.is.host;
    return rc;
}

/* ---- the end ---------------------------------------------------------------------- */

/* Take what begins at `host` out of the table; of a chunk what is to be freed.
 * Return: whether there was one */
static bool leave(const void *host, struct entry *left)
{
    adsm_lock_acquire(&lock);
    struct entry *entry = around(host);
    bool is = entry && entry->is.host == host;
    if (is) {
        *left = *entry;
        take_out(entry);
        if (left->chunk)
            left->chunk = give_slots(left);
    }
    adsm_lock_release(&lock);
    return is;
}

int adsm_direct_free(void *host)
{
    struct adsm_direct found;
    struct entry left;
    if (!adsm_direct_find(host, &found) || found.host != host)
        return ADSM_E_NOT_SHARED;
    /* Neither an error of the device nor its loss keeps the memory. */
    (void)adsm_accel_synchronize(found.accel);
    adsm_direct_wait();
    if (!leave(host, &left))
        return ADSM_E_NOT_SHARED;
    if (left.chunk)
        return free_chunk(left.chunk);
    return left.span.host ? adsm_address_free(left.is.accel, &left.span)
                          : ADSM_OK;
}

/* Any allocation of an accel. */
static bool any_of(const struct adsm_accel *accel, void **host)
{
    size_t i = 0;
    adsm_lock_acquire(&lock);
    while (i < count_of() && entries[i].is.accel != accel)
        i++;
    bool is = i < count_of();
    if (is)
        *host = entries[i].is.host;
    adsm_lock_release(&lock);
    return is;
}

void adsm_direct_forget(struct adsm_accel *accel)
{
    void *host;
    while (any_of(accel, &host))
        (void)adsm_direct_free(host);
}

void adsm_direct_drop(void)
{
    set_count(0);
}
