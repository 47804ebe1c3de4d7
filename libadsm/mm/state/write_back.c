/* The queue of dirty blocks in use: filled, counted, and emptied from its old
 * end; see write_back.h. */
#include "mm/state/write_back.h"

#include "base/stats.h"
#include "base/system.h"
#include "mm/object/gate.h"
#include "mm/object/spread.h"
#include "mm/state/coherence.h"
#include "mm/watch/sparse.h"
#include "os/fault.h"
#include "protocols/rolling_size.h"

#include <sys/mman.h>

enum { QUEUE_ENTRIES = 1 << 16, SENT_ENTRIES = 1 << 14 };

static struct adsm_lock queue_lock = ADSM_LOCK_INIT(ADSM_RANK_DIRTY_QUEUE);
static struct adsm_dirty_queue
    queue; /* queue_lock; without ring: none is written back */
static struct adsm_rolling_size size; /* queue_lock */
static _Atomic uint32_t limit;        /* size.limit, readable without it */
static _Atomic int64_t dirty;         /* blocks that are DIRTY now */

/* The queue, and blocks that left it, in one mapping. */
struct storage {
    struct adsm_dirty_entry ring[QUEUE_ENTRIES];
    struct adsm_sent_block sent[SENT_ENTRIES];
};

bool adsm_write_back_init(const struct adsm_options *options)
{
    static struct storage *storage;
    if (!storage)
        storage = adsm_system_mmap(
            NULL, sizeof *storage, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (storage == MAP_FAILED)
        return false;
    adsm_dirty_queue_init(&queue, storage->ring, QUEUE_ENTRIES);
    adsm_rolling_size_init(&size, (uint32_t)options->rolling_size,
                           (uint32_t)options->rolling_factor, QUEUE_ENTRIES,
                           options->rolling_learn ? storage->sent : NULL,
                           SENT_ENTRIES);
    atomic_store(&limit, size.limit);
    return true;
}

static void end_of_change(void)
{
    atomic_store(&limit, size.limit);
    adsm_lock_release(&queue_lock);
}

void adsm_write_back_grow(uint32_t blocks)
{
    adsm_lock_acquire(&queue_lock);
    while (blocks-- > 0)
        adsm_rolling_size_grow(&size);
    end_of_change();
}

void adsm_write_back_called(void)
{
    if (!queue.ring)
        return;
    adsm_lock_acquire(&queue_lock);
    adsm_rolling_size_called(&size);
    end_of_change();
}

uint32_t adsm_write_back_limit(void)
{
    return queue.ring ? atomic_load(&limit) : UINT32_MAX;
}

void adsm_write_back_count(int64_t more)
{
    atomic_fetch_add(&dirty, more);
}

/* Block `i` stands in the queue now. Return: it did before */
static bool mark(struct adsm_object *object, uint32_t i)
{
    return adsm_block_change(object, i, 0, ADSM_BLOCK_QUEUED) &
           ADSM_BLOCK_QUEUED;
}

static void unmark(struct adsm_object *object, uint32_t i)
{
    (void)adsm_block_change(object, i, ADSM_BLOCK_QUEUED, 0);
}

void adsm_write_back_enqueue(struct adsm_object *object, uint32_t first,
                             uint32_t count)
{
    if (adsm_object_is_spread(object))
        return;
    adsm_lock_acquire(&queue_lock);
    for (uint32_t i = first; i < first + count; i++) {
        if (adsm_sparse_is_watched(object, i) || mark(object, i))
            continue;
        struct adsm_dirty_entry entry = {object,
                                         atomic_load(&object->generation), i};
        adsm_rolling_size_dirtied(&size, &entry);
        if (!adsm_dirty_queue_push(&queue, entry))
            /* Full: the block stays dirty until the next call flushes it. */
            unmark(object, i);
    }
    end_of_change();
}

/* Pass the gate of a queued block, which may be stale, besides `passed`. */
static bool pass_gate(const struct adsm_dirty_entry *entry, uint32_t passed,
                      uint32_t *gate)
{
    const struct adsm_object *object = entry->owner;
    *gate = atomic_load(&object->gate);
    return *gate == passed || adsm_gate_try_enter(*gate);
}

/* Does the grain go on behind `n` blocks that were taken from it? They went
 * there together, and leave so: closing a part would split a huge page. Not
 * where the rolling size is so small that the youngest block would be among
 * them. */
static bool is_in_grain(const struct adsm_dirty_entry *oldest, uint32_t n)
{
    const struct adsm_object *object = oldest->owner;
    uint32_t blocks = object->reach;
    return blocks > 1 && (oldest->block + n) % blocks != 0 &&
           size.limit >= 2 * blocks;
}

/* Oldest run of queued blocks, at most `most` long or up to the end of a grain;
 * 0 when there is none, or its gate is closed. *gate has been passed, besides
 * `passed`, otherwise. */
static uint32_t take_oldest(struct adsm_dirty_entry *oldest, uint32_t most,
                            uint32_t passed, uint32_t *gate)
{
    adsm_lock_acquire(&queue_lock);
    uint32_t n = adsm_dirty_queue_pop(&queue, oldest) ? 1 : 0;
    if (n > 0 && !pass_gate(oldest, passed, gate)) {
        /* To the end: there is room, and the others come first. */
        (void)adsm_dirty_queue_push(&queue, *oldest);
        n = 0;
    }
    while (n > 0 && (n < most || is_in_grain(oldest, n)) &&
           adsm_dirty_queue_pop_next(&queue, oldest->owner, oldest->generation,
                                     oldest->block + n))
        n++;
    adsm_lock_release(&queue_lock);
    return n;
}

/* They were sent before a call asked for it: do they come back? */
static void remember_sent(struct adsm_object *object, uint32_t first,
                          uint32_t count)
{
    struct adsm_dirty_entry block = {object, atomic_load(&object->generation),
                                     first};
    adsm_lock_acquire(&queue_lock);
    for (; block.block < first + count; block.block++)
        adsm_rolling_size_sent(&size, &block);
    adsm_lock_release(&queue_lock);
}

/* Held blocks of a live object, run by run. Return: how many went back */
static uint32_t write_back_held(struct adsm_object *object, uint32_t first,
                                uint32_t n)
{
    uint32_t written = 0;
    for (uint32_t run, k = 0; k < n; k += run) {
        run = adsm_block_run(object, first + k, n - k);
        run = adsm_sparse_run(object, first + k, run);
        if (adsm_block_state(object, first + k) != ADSM_DIRTY ||
            adsm_sparse_is_watched(object, first + k) ||
            adsm_object_is_spread(object))
            continue;
        if (adsm_coherence_apply(object, first + k, run, ADSM_WRITE_BACK) ==
            ADSM_OK) {
            written += run;
            remember_sent(object, first + k, run);
        } else { /* it still counts: to be tried when it is the oldest again */
            adsm_write_back_enqueue(object, first + k, run);
        }
    }
    return written;
}

/* Write back blocks [first, first + n) of a live object, lock held shared. A
 * block that somebody holds goes back into the queue. Return: how many */
static uint32_t write_back_run(struct adsm_object *object, uint32_t first,
                               uint32_t n)
{
    uint32_t written = 0;
    for (uint32_t i = first; i < first + n; i++) {
        unmark(object, i);
        if (!adsm_block_try_hold(object, i)) {
            adsm_write_back_enqueue(object, i, 1);
            continue;
        }
        uint32_t held = 1;
        while (i + held < first + n && adsm_block_try_hold(object, i + held)) {
            unmark(object, i + held);
            held++;
        }
        written += write_back_held(object, i, held);
        adsm_block_release(object, i, held);
        i += held - 1;
    }
    ADSM_COUNT(write_backs, written);
    return written;
}

/* Queued blocks that are no longer DIRTY, since a call has flushed them, or
 * that are watched, or whose object is spread, which has nothing written back
 * early. */
static uint32_t count_stale(const struct adsm_object *object, uint32_t first,
                            uint32_t n)
{
    uint32_t stale = 0;
    for (uint32_t i = first; i < first + n; i++)
        stale += adsm_block_state(object, i) != ADSM_DIRTY ||
                 adsm_sparse_is_watched(object, i) ||
                 adsm_object_is_spread(object);
    return stale;
}

/* What a thread's last fault wrote back. Torn, it misleads one fault, which
 * comes again. */
struct last {
    const struct adsm_object *_Atomic object;
    _Atomic uint32_t first, count;
};

/* This thread's. Initial-exec: the fault handler must not allocate on first
 * use. */
static __thread struct last own __attribute__((tls_model("initial-exec")));

/* Of threads that others answer for; some share one. */
enum { OTHERS = 64 };
static struct last others[OTHERS];

static struct last *last_of_thread(void)
{
    pid_t thread = adsm_fault_thread();
    return thread == 0 ? &own : &others[(uint32_t)thread % OTHERS];
}

static void remember(const struct adsm_object *object, uint32_t first,
                     uint32_t count)
{
    struct last *last = last_of_thread();
    atomic_store_explicit(&last->first, first, memory_order_relaxed);
    atomic_store_explicit(&last->count, count, memory_order_relaxed);
    atomic_store_explicit(&last->object, object, memory_order_relaxed);
}

bool adsm_write_back_is_back(const struct adsm_object *object, uint32_t i)
{
    struct last *last = last_of_thread();
    uint32_t first = atomic_load_explicit(&last->first, memory_order_relaxed);
    uint32_t count = atomic_load_explicit(&last->count, memory_order_relaxed);
    bool back =
        atomic_load_explicit(&last->object, memory_order_relaxed) == object &&
        i - first < count;
    atomic_store_explicit(&last->object, NULL, memory_order_relaxed);
    return back;
}

/* A run taken from the queue. Return: false: nothing came of it, and the next
 * try would not get on either */
static bool write_back_taken(const struct adsm_dirty_entry *oldest, uint32_t n)
{
    struct adsm_object *object = oldest->owner;
    bool got_on = true;
    remember(object, oldest->block, n);
    adsm_rwlock_acquire_shared(&object->lock);
    if (atomic_load(&object->live) &&
        atomic_load(&object->generation) == oldest->generation) {
        uint32_t stale = count_stale(object, oldest->block, n);
        got_on = write_back_run(object, oldest->block, n) + stale > 0;
    }
    adsm_rwlock_release_shared(&object->lock);
    return got_on;
}

/* One more dirty block, and some would have to go. */
static bool is_due_soon(void)
{
    return queue.ring && atomic_load(&dirty) >= (int64_t)atomic_load(&limit);
}

bool adsm_write_back_would_harm(void)
{
    return adsm_fault_thread() != 0 &&
           (!is_due_soon() || adsm_fault_is_in_call());
}

void adsm_write_back(uint32_t gate)
{
    remember(NULL, 0, 0);
    if (!queue.ring)
        return;
    /* What cannot be written back now must not keep us here. */
    for (bool got_on = true; got_on;) {
        int64_t excess = atomic_load(&dirty) - (int64_t)atomic_load(&limit);
        struct adsm_dirty_entry oldest;
        uint32_t its;
        if (excess <= 0)
            return;
        uint32_t n = take_oldest(&oldest, (uint32_t)excess, gate, &its);
        if (n == 0)
            return;
        got_on = write_back_taken(&oldest, n);
        if (its != gate)
            adsm_gate_leave(its);
    }
}
