/* Watched blocks, what is found of them, and what follows; see sparse.h. */
#include "mm/watch/sparse.h"

#include "base/stats.h"
#include "mm/object/holders.h"
#include "mm/object/paging.h"
#include "os/vm.h"
#include "os/written.h"

#include <stdlib.h>

enum {
    /* Each costs as much as sending 8 pages more, or a fourth of a fault. */
    RUNS_MOST = 8,
    /* Of openings alone one in 8 is watched, and then one in 64. */
    LEVEL_MOST = 2,
    LEVEL_SHIFT = 3,
    /* Looking 64 times for nothing takes as long as one fault. */
    IDLE_MOST = 64,
    /* Found at once; more are found by asking again. */
    ROOM = 128,
};

int adsm_sparse_init(struct adsm_object *object,
                     const struct adsm_protocol *protocol)
{
    enum adsm_state read = protocol->cell[ADSM_READ_FAULT][ADSM_READ_ONLY].next;
    object->sparse = NULL;
    atomic_store(&object->watched, 0);
    /* Of a page there are no parts, and where reading opens all, no store is
     * waited for. */
    if (!adsm_written_is_on() || object->homeless || read == ADSM_DIRTY ||
        object->block_bytes < 2 * adsm_vm_page_bytes())
        return ADSM_OK;
    object->sparse = calloc(object->block_count, sizeof *object->sparse);
    return object->sparse ? ADSM_OK : ADSM_E_NOMEM;
}

void adsm_sparse_fini(struct adsm_object *object)
{
    free(object->sparse);
    object->sparse = NULL;
}

uint32_t adsm_sparse_run(const struct adsm_object *object, uint32_t first,
                         uint32_t count)
{
    bool watched = adsm_sparse_is_watched(object, first);
    uint32_t n = 1;
    if (!object->sparse || atomic_load(&object->watched) == 0)
        return count;
    while (n < count && adsm_sparse_is_watched(object, first + n) == watched)
        n++;
    return n;
}

uint32_t adsm_sparse_count(const struct adsm_object *object, uint32_t first,
                           uint32_t count)
{
    uint32_t n = 0;
    if (!object->sparse || atomic_load(&object->watched) == 0)
        return 0;
    for (uint32_t i = first; i < first + count; i++)
        n += adsm_sparse_is_watched(object, i);
    return n;
}

/* ---- where blocks lie ----------------------------------------------------- */

static uintptr_t begin_of(const struct adsm_object *object, uint32_t i)
{
    return (uintptr_t)object->host + adsm_block_begin(object, i);
}

/* Behind the last page of block `i`. */
static uintptr_t end_of(const struct adsm_object *object, uint32_t i)
{
    uintptr_t mask = adsm_vm_page_bytes() - 1;
    return (begin_of(object, i) + adsm_block_bytes(object, i) + mask) & ~mask;
}

static uint32_t pages_of(const struct adsm_object *object, uint32_t i)
{
    return (uint32_t)((end_of(object, i) - begin_of(object, i)) /
                      adsm_vm_page_bytes());
}

static uint32_t block_at(const struct adsm_object *object, uintptr_t addr)
{
    return adsm_block_of(object, addr - (uintptr_t)object->host);
}

/* ---- the watch ------------------------------------------------------------ */

/* Open for writing, as one of a run. */
static bool is_dense(const struct adsm_object *object, uint32_t i)
{
    return adsm_block_state(object, i) == ADSM_DIRTY &&
           !adsm_sparse_is_watched(object, i);
}

bool adsm_sparse_wants(struct adsm_object *object, uint32_t i)
{
    if (!object->sparse || !adsm_object_is_gathered(object) ||
        (i > 0 && is_dense(object, i - 1)) ||
        (i + 1 < object->block_count && is_dense(object, i + 1)))
        return false;
    /* One that goes on from sparse blocks is likely to be one, whatever it was. */
    if (object->sparse[i].skip == 0 ||
        (i > 0 && adsm_sparse_is_watched(object, i - 1)))
        return true;
    object->sparse[i].skip--;
    return false;
}

bool adsm_sparse_watch(struct adsm_object *object, uint32_t i)
{
    struct adsm_sparse_block *block = &object->sparse[i];
    uintptr_t begin = begin_of(object, i);
    size_t bytes = end_of(object, i) - begin;
    if (!adsm_written_watch(begin, bytes))
        return false;
    ADSM_COUNT(watches, 1);
    /* It has small pages there, each of which is filled in when touched. */
    adsm_paging_shatter(object, adsm_block_begin(object, i), bytes);
    (void)adsm_block_change(object, i, ADSM_BLOCK_MAPPED, 0);
    block->idle = 0;
    block->found = block->runs = 0;
    atomic_fetch_add(&object->watched, 1);
    atomic_store_explicit(&block->is_watched, 1, memory_order_relaxed);
    return true;
}

static bool is_many(const struct adsm_object *object, uint32_t i)
{
    uint32_t pages = pages_of(object, i);
    uint32_t runs = object->sparse[i].runs;
    return object->sparse[i].found > pages / 2 ||
           (runs > RUNS_MOST && runs > pages / 8);
}

static void learn(struct adsm_object *object, uint32_t i)
{
    struct adsm_sparse_block *block = &object->sparse[i];
    if (is_many(object, i)) {
        block->level += block->level < LEVEL_MOST;
        block->skip = (uint8_t)((1u << LEVEL_SHIFT * block->level) - 1);
    } else if (block->found > 0) {
        block->level = 0;
    }
}

void adsm_sparse_unwatch(struct adsm_object *object, uint32_t first,
                         uint32_t count)
{
    for (uint32_t n, i = first; i < first + count; i += n) {
        n = adsm_sparse_run(object, i, first + count - i);
        if (!adsm_sparse_is_watched(object, i))
            continue;
        uintptr_t begin = begin_of(object, i);
        adsm_written_unwatch(begin, end_of(object, i + n - 1) - begin);
        for (uint32_t k = i; k < i + n; k++) {
            learn(object, k);
            atomic_store_explicit(&object->sparse[k].is_watched, 0,
                                  memory_order_relaxed);
        }
        atomic_fetch_sub(&object->watched, n);
    }
}

void adsm_sparse_abandon(struct adsm_object *object)
{
    for (uint32_t i = 0; object->sparse && i < object->block_count; i++)
        atomic_store_explicit(&object->sparse[i].is_watched, 0,
                              memory_order_relaxed);
    atomic_store(&object->watched, 0);
}

/* ---- what was written ----------------------------------------------------- */

/* Pages of a run, to the blocks they lie in. */
static void tally(struct adsm_object *object,
                  const struct adsm_written_run *run)
{
    for (uintptr_t at = run->begin; at < run->end;) {
        uint32_t i = block_at(object, at);
        uintptr_t end = end_of(object, i);
        if (end > run->end)
            end = run->end;
        object->sparse[i].found +=
            (uint32_t)((end - at) / adsm_vm_page_bytes());
        object->sparse[i].runs++;
        at = end;
    }
}

/* Forget what was found of blocks, but of those that will be closed. */
static void begin_tally(struct adsm_object *object, uint32_t first,
                        uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        if (!is_many(object, i))
            object->sparse[i].found = object->sparse[i].runs = 0;
}

/* Pages of [*from, end) that were written; all of them where that is not known.
 * Return: how many runs; -1: not known, and what is open would change while it
 * was sent */
static int find(struct adsm_object *object, uintptr_t *from, uintptr_t end,
                bool open, struct adsm_written_run *runs, int room)
{
    uintptr_t begin = *from;
    int n = adsm_written_find(from, end, open, runs, room);
    bool is_known = n >= 0;
    if (!is_known) {
        runs[0] = (struct adsm_written_run){begin, end, 0};
        *from = end;
        n = 1;
    }
    for (int k = 0; k < n; k++)
        tally(object, &runs[k]);
    return is_known || !open ? n : -1;
}

bool adsm_sparse_is_full(struct adsm_object *object, uint32_t i)
{
    struct adsm_written_run runs[ROOM / 4];
    uintptr_t at = begin_of(object, i), end = end_of(object, i);
    begin_tally(object, i, 1);
    while (at < end && !is_many(object, i))
        (void)find(object, &at, end, false, runs, ROOM / 4);
    return is_many(object, i);
}

/* As parts of the object. What lies between two in a block that was written
 * densely goes with them: one copy is quicker than many. Return: how many */
static size_t parts_of(const struct adsm_object *object,
                       const struct adsm_written_run *runs, int n,
                       struct adsm_dma_part *parts)
{
    size_t count = 0;
    for (int k = 0; k < n; k++) {
        size_t begin = runs[k].begin - (uintptr_t)object->host;
        size_t end = runs[k].end - (uintptr_t)object->host;
        struct adsm_dma_part *last = count > 0 ? &parts[count - 1] : NULL;
        if (end > object->bytes)
            end = object->bytes;
        uint32_t i = adsm_block_of(object, begin);
        if (last && is_many(object, i) &&
            last->offset + last->bytes > adsm_block_begin(object, i))
            last->bytes = end - last->offset;
        else
            parts[count++] = (struct adsm_dma_part){begin, end - begin};
    }
    return count;
}

static int send_parts(struct adsm_object *object,
                      const struct adsm_dma_part *parts, size_t count,
                      bool changes, struct adsm_fence *done,
                      const struct adsm_cause *cause)
{
    struct adsm_fence sent;
    if (count == 0)
        return ADSM_OK;
    struct adsm_cause its = adsm_object_cause(object, parts[0].offset, cause);
    for (size_t k = 0; k < count; k++)
        ADSM_COUNT(bytes_sparse, parts[k].bytes);
    ADSM_COUNT(flushes, 1);
    int rc = adsm_dma_upload_parts(object->home, object->device,
                                   object->shadow.shadow, parts, count, changes,
                                   object->work, &sent, &its);
    /* Also of one that failed, a part may be on its way. */
    if (sent.seq > 0)
        *done = sent;
    return rc;
}

/* Find and send, for blocks that are all watched. *known: as many of them, in
 * front, were it. */
static int send(struct adsm_object *object, uint32_t first, uint32_t count,
                bool open, uint32_t *known, struct adsm_fence *done,
                const struct adsm_cause *cause)
{
    struct adsm_written_run runs[ROOM];
    struct adsm_dma_part parts[ROOM];
    uintptr_t at = begin_of(object, first);
    uintptr_t end = end_of(object, first + count - 1);
    int rc = ADSM_OK;
    *known = count;
    begin_tally(object, first, count);
    while (at < end && rc == ADSM_OK) {
        uint32_t here = block_at(object, at) - first;
        int n = find(object, &at, end, open, runs, ROOM);
        if (n < 0)
            *known = here;
        else
            rc = send_parts(object, parts, parts_of(object, runs, n, parts),
                            open, done, cause);
    }
    return rc;
}

bool adsm_sparse_keeps(const struct adsm_object *object, uint32_t i)
{
    return adsm_sparse_is_watched(object, i) &&
           adsm_object_is_gathered(object) &&
           adsm_dma_is_clear(object->home, object->work);
}

int adsm_sparse_send(struct adsm_object *object, uint32_t first, uint32_t count,
                     uint32_t *known, const struct adsm_cause *cause)
{
    struct adsm_fence done = {0};
    ADSM_COUNT(kept_open, count);
    int rc = send(object, first, count, true, known, &done, cause);
    for (uint32_t i = first; i < first + count; i++) {
        struct adsm_sparse_block *block = &object->sparse[i];
        block->idle = block->found > 0 ? 0 : (uint8_t)(block->idle + 1);
    }
    return rc;
}

bool adsm_sparse_is_over(const struct adsm_object *object, uint32_t i)
{
    return is_many(object, i) || object->sparse[i].idle >= IDLE_MOST;
}

int adsm_sparse_flush(struct adsm_object *object, uint32_t first,
                      uint32_t count, struct adsm_fence *done,
                      const struct adsm_cause *cause)
{
    uint32_t known;
    return send(object, first, count, false, &known, done, cause);
}

bool adsm_sparse_note(struct adsm_object *object, uint32_t i, size_t from,
                      size_t to)
{
    size_t mask = adsm_vm_page_bytes() - 1;
    uintptr_t begin = (uintptr_t)object->host + (from & ~mask);
    uintptr_t end = (uintptr_t)object->host + ((to + mask) & ~mask);
    if (begin < begin_of(object, i))
        begin = begin_of(object, i);
    if (end > end_of(object, i))
        end = end_of(object, i);
    return adsm_written_note(begin, end - begin);
}
