/* The thread that fetches what is expected, and who returns and does it at once;
 * see fetcher.h. */
#include "mm/doors/fetcher.h"

#include "accel/early.h"
#include "base/option.h"
#include "base/stats.h"
#include "base/thread.h"
#include "mm/doors/turn.h"
#include "mm/object/gate.h"
#include "mm/state/coherence.h"
#include "mm/state/run.h"
#include "mm/watch/ahead_table.h"

#include <time.h>

enum {
    STACK_BYTES = 256 << 10,
    PIECE_BYTES = 2 << 20,
};

static struct {
    _Atomic bool busy, ends;
} fetcher;

/* May the thread fetch, without waiting for more than a transfer? The gate is
 * passed, so nothing is launched meanwhile. */
static bool may_fetch(const struct adsm_object *object, uint32_t generation)
{
    return atomic_load(&object->live) &&
           atomic_load(&object->generation) == generation &&
           !atomic_load(&fetcher.ends) && !object->withdrawn &&
           !object->holders && object->ahead &&
           atomic_load(&object->ahead->begun) &&
           atomic_load(&object->ahead->asked) &&
           adsm_accel_health(object->home) == ADSM_OK &&
           !adsm_turn_must_wait(object->home) &&
           adsm_dma_is_clear(object->home, object->work);
}

static bool is_due(const struct adsm_object *object, const uint64_t *set,
                   uint32_t i)
{
    return (set[i / 64] >> i % 64 & 1) &&
           adsm_block_state(object, i) == ADSM_INVALID;
}

/* Hold blocks from `i` on that are due, all in one piece: how many. */
static uint32_t hold(struct adsm_object *object, const uint64_t *set,
                     uint32_t i)
{
    uint32_t most = adsm_block_of(object, PIECE_BYTES), n = 0;
    most = most > 1 ? most - i % most : 1;
    while (n < most && i + n < object->block_count &&
           is_due(object, set, i + n) && adsm_block_try_hold(object, i + n)) {
        if (!is_due(object, set, i + n)) {
            adsm_block_release(object, i + n, 1);
            break;
        }
        n++;
    }
    return n;
}

/* As an access would. */
static int open_held(struct adsm_object *object, uint32_t first, uint32_t n)
{
    int rc = adsm_coherence_apply(object, first, n, ADSM_READ_FAULT,
                                  ADSM_CAUSE(ahead));
    if (rc == ADSM_OK)
        ADSM_COUNT(ahead_opened, n);
    return rc;
}

/* So that the first access tells that it was wanted. */
static int fetch_held(struct adsm_object *object, uint32_t first, uint32_t n)
{
    adsm_ahead_bring(object, first, n);
    int rc = adsm_coherence_apply_closed(object, first, n, ADSM_FETCH_AHEAD,
                                         ADSM_CAUSE(ahead));
    if (rc != ADSM_OK)
        adsm_ahead_failed(object, first, n);
    return rc;
}

/* The next piece from *i on. Return: whether to go on */
static bool fetch_piece(struct adsm_object *object, uint32_t *i, bool open)
{
    const struct adsm_ahead_memory *m = adsm_ahead_memory_of(object);
    if (!m)
        return false;
    while (*i < object->block_count && !is_due(object, m->set, *i))
        ++*i;
    if (*i >= object->block_count)
        return false;
    uint32_t n = hold(object, m->set, *i);
    int rc = ADSM_OK;
    if (n > 0) {
        rc = open ? open_held(object, *i, n) : fetch_held(object, *i, n);
        adsm_block_release(object, *i, n);
    }
    *i += n ? n : 1; /* who holds it brings it */
    return rc == ADSM_OK;
}

static void fetch_all(struct adsm_object *object, uint32_t generation,
                      bool open)
{
    bool more = true;
    for (uint32_t i = 0; more;) {
        uint32_t gate = atomic_load(&object->gate);
        adsm_gate_enter(gate);
        adsm_rwlock_acquire_shared(&object->lock);
        more = atomic_load(&object->gate) == gate &&
               may_fetch(object, generation) && fetch_piece(object, &i, open);
        adsm_rwlock_release_shared(&object->lock);
        adsm_gate_leave(gate);
    }
}

static void serve_all(void)
{
    for (uint32_t k = 0; k < adsm_ahead_places(); k++) {
        struct adsm_object *object = atomic_load(&adsm_ahead_table[k].object);
        if (object && atomic_exchange(&adsm_ahead_table[k].posted, false))
            fetch_all(object, atomic_load(&adsm_ahead_table[k].generation),
                      false);
    }
}

static void *serve(void *unused)
{
    (void)unused;
    for (;;) {
        uint32_t seen = adsm_ahead_posted();
        atomic_store(&fetcher.busy, true);
        serve_all();
        atomic_store(&fetcher.busy, false);
        adsm_ahead_await(seen);
    }
    return NULL;
}

void adsm_fetcher_start(void)
{
    static _Atomic bool tried;
    /* Without it, what is expected comes when it is accessed. */
    if (adsm_ahead_places() &&
        !atomic_load_explicit(&tried, memory_order_relaxed) &&
        !atomic_exchange(&tried, true))
        (void)!adsm_thread_start(serve, STACK_BYTES, false);
}

/* ---- launches -------------------------------------------------------------- */

/* The lock is held. Nobody is to fetch it from elsewhere, nor in another way. */
static bool may_come_early(const struct adsm_object *object,
                           uint32_t generation, const struct adsm_accel *accel)
{
    return atomic_load(&object->live) && object->home == accel &&
           atomic_load(&object->generation) == generation &&
           !object->withdrawn && !object->holders && !object->direct &&
           object->ahead;
}

static bool all_are_far(const struct adsm_object *object, uint32_t first,
                        uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        if (adsm_block_state(object, i) != ADSM_INVALID)
            return false;
    return true;
}

static void send_early(const struct adsm_ahead_place *place,
                       struct adsm_accel *accel, const void *kernel)
{
    struct adsm_object *object = atomic_load(&place->object);
    uint32_t generation = atomic_load(&place->generation), first;
    if (!object || !adsm_rwlock_try_shared(&object->lock))
        return;
    uint32_t count = may_come_early(object, generation, accel)
                         ? adsm_ahead_next(object, kernel, &first)
                         : 0;
    if (count > 0 && all_are_far(object, first, count))
        adsm_early_send(
            accel,
            adsm_daddr_add(object->device, adsm_run_offset(object, first)),
            adsm_run_bytes(object, first, count), object->work,
            ADSM_CAUSE(ahead));
    adsm_rwlock_release_shared(&object->lock);
}

void adsm_fetcher_launched(struct adsm_accel *accel, const void *kernel)
{
    if (adsm_options_get()->fetch_ahead != ADSM_OPT_FETCH_AHEAD_EARLY)
        return;
    uint32_t used = adsm_ahead_places();
    for (uint32_t k = 0; k < used && kernel; k++)
        /* Relaxed: a guess. */
        if (atomic_load_explicit(&adsm_ahead_table[k].little,
                                 memory_order_relaxed) == kernel)
            send_early(&adsm_ahead_table[k], accel, kernel);
}

/* ---- returns, and the end ------------------------------------------------ */

/* The lock is held. */
static enum adsm_ahead_way ask(struct adsm_ahead_place *place,
                               struct adsm_object *object, uint32_t generation,
                               const struct adsm_accel *accel)
{
    if (!atomic_load(&object->live) || !object->ahead ||
        object->home != accel ||
        atomic_load(&object->generation) != generation ||
        !adsm_dma_is_clear(object->home, object->work))
        return ADSM_AHEAD_NOT;
    enum adsm_ahead_way way = adsm_ahead_ask(object);
    if (way == ADSM_AHEAD_THREAD)
        adsm_ahead_post(object);
    if (atomic_load(&object->ahead->asked))
        atomic_store_explicit(&place->taken, false, memory_order_relaxed);
    return way;
}

static void returned(struct adsm_ahead_place *place,
                     const struct adsm_accel *accel)
{
    struct adsm_object *object = atomic_load(&place->object);
    uint32_t generation = atomic_load(&place->generation);
    /* Who has it alone is taking it, or giving it up. Relaxed: who sees no call
     * of another thread does not return from it. A return may be another
     * stream's. */
    if (!object || !atomic_load_explicit(&place->taken, memory_order_relaxed) ||
        !adsm_rwlock_try_shared(&object->lock))
        return;
    enum adsm_ahead_way way = ask(place, object, generation, accel);
    adsm_rwlock_release_shared(&object->lock);
    if (way == ADSM_AHEAD_HERE || way == ADSM_AHEAD_OPEN)
        fetch_all(object, generation, way == ADSM_AHEAD_OPEN);
}

void adsm_fetcher_returned(struct adsm_accel *accel)
{
    uint32_t used = adsm_ahead_places();
    if (used == 0)
        return;
    adsm_fetcher_start();
    adsm_quiet_enter();
    for (uint32_t k = 0; k < used; k++)
        returned(&adsm_ahead_table[k], accel);
    adsm_quiet_leave();
}

void adsm_fetcher_end(void)
{
    enum { TRIES = 1000, PAUSE_NS = 1000 * 1000 };
    atomic_store(&fetcher.ends, true);
    for (int k = 0; k < TRIES && atomic_load(&fetcher.busy); k++)
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
}
