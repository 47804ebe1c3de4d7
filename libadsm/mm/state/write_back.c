/* The queue of dirty blocks, emptied from its old end; see write_back.h. */
#include "mm/state/write_back.h"

#include "base/stats.h"
#include "mm/object/gate.h"
#include "mm/object/holders.h"
#include "mm/state/coherence.h"
#include "mm/state/dirty.h"
#include "mm/watch/sparse.h"
#include "mm/watch/twin.h"
#include "os/fault.h"

/* Is it open over calls? Then they find what was written of it. */
static bool stays_open(const struct adsm_object *object, uint32_t i)
{
    return adsm_sparse_is_watched(object, i) || adsm_twin_is_there(object, i);
}

static void unmark(struct adsm_object *object, uint32_t i)
{
    (void)adsm_block_change(object, i, ADSM_BLOCK_QUEUED, 0);
}

/* Blocks from `first` on, at most `count`, in one state, that all stay open, or
 * all not. */
static uint32_t alike(const struct adsm_object *object, uint32_t first,
                      uint32_t count)
{
    uint32_t run = adsm_block_run(object, first, count), n = 1;
    while (n < run &&
           stays_open(object, first + n) == stays_open(object, first))
        n++;
    return n;
}

/* Held blocks of a live object, run by run. Return: how many went back */
static uint32_t write_back_held(struct adsm_object *object, uint32_t first,
                                uint32_t n)
{
    uint32_t written = 0;
    for (uint32_t run, k = 0; k < n; k += run) {
        run = alike(object, first + k, n - k);
        if (adsm_block_state(object, first + k) != ADSM_DIRTY ||
            stays_open(object, first + k) || !adsm_object_is_gathered(object))
            continue;
        if (adsm_coherence_apply(object, first + k, run, ADSM_WRITE_BACK,
                                 ADSM_CAUSE(write_back)) == ADSM_OK) {
            written += run;
            adsm_dirty_sent(object, first + k, run);
        } else { /* it still counts: to be tried when it is the oldest again */
            adsm_dirty_enqueue(object, first + k, run);
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
            adsm_dirty_enqueue(object, i, 1);
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
 * that stay open, or whose object is not gathered, which has nothing written
 * back early. */
static uint32_t count_stale(const struct adsm_object *object, uint32_t first,
                            uint32_t n)
{
    uint32_t stale = 0;
    for (uint32_t i = first; i < first + n; i++)
        stale += adsm_block_state(object, i) != ADSM_DIRTY ||
                 stays_open(object, i) || !adsm_object_is_gathered(object);
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

bool adsm_write_back_would_harm(void)
{
    return adsm_fault_thread() != 0 &&
           (adsm_dirty_excess() < 0 || adsm_fault_is_in_call());
}

void adsm_write_back(uint32_t gate)
{
    remember(NULL, 0, 0);
    /* What cannot be written back now must not keep us here. */
    for (bool got_on = true; got_on;) {
        int64_t excess = adsm_dirty_excess();
        struct adsm_dirty_entry oldest;
        uint32_t its;
        if (excess <= 0)
            return;
        uint32_t n = adsm_dirty_take(&oldest, (uint32_t)excess, gate, &its);
        if (n == 0)
            return;
        got_on = write_back_taken(&oldest, n);
        if (its != gate)
            adsm_gate_leave(its);
    }
}
