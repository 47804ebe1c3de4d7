/* Blocks that an access opens; see answer.h. */
#include "mm/state/answer.h"

#include "base/log.h"
#include "base/stats.h"
#include "mm/object/awaited.h"
#include "mm/state/coherence.h"
#include "mm/state/dirty.h"
#include "mm/watch/ahead.h"
#include "mm/watch/dense.h"
#include "mm/watch/grain.h"
#include "mm/watch/scatter.h"
#include "mm/watch/sparse.h"

#include <time.h>

/* The device whose data was given up last: said once, not insisted on again. */
static struct adsm_accel *_Atomic given_up;

/* Open what the host has, so that the program goes on; its next call on the
 * device reports the loss. The block is held. */
static int salvage(struct adsm_object *object, uint32_t i,
                   const struct adsm_cause *cause)
{
    if (atomic_exchange(&given_up, object->home) != object->home)
        adsm_log_signal_address(
            ADSM_LOG_ERROR,
            "the device is lost: the program goes on with what the host last "
            "had, from",
            (unsigned long)(object->host + adsm_block_begin(object, i)));
    return adsm_coherence_apply(object, i, 1, ADSM_GIVEN_UP, cause);
}

/* The transfer failed. As long as the device lives that may pass (out of
 * threads, out of memory for a while). If it does not, the access fails: what
 * the host has is old, and would be taken for the truth from there on. */
static int insist(struct adsm_object *object, uint32_t i, enum adsm_event event,
                  const struct adsm_cause *cause)
{
    enum { TRIES = 200, PAUSE_NS = 10 * 1000 * 1000 };
    int rc = ADSM_E_DEVICE;
    for (int k = 0; k < TRIES && rc == ADSM_E_DEVICE &&
                    atomic_load(&given_up) != object->home &&
                    adsm_accel_health(object->home) == ADSM_OK;
         k++) {
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
        rc = adsm_coherence_apply(object, i, 1, event, cause);
    }
    return adsm_accel_health(object->home) == ADSM_OK
               ? rc
               : salvage(object, i, cause);
}

/* Hold blocks behind held block `i` that are in its state, [i, i + n) in all.
 * Return: how many are held, `i` among them; nobody is waited for */
static uint32_t hold_more(struct adsm_object *object, uint32_t i, uint32_t n)
{
    enum adsm_state state = adsm_block_state(object, i);
    uint32_t held = 1;
    while (held < n && adsm_block_state(object, i + held) == state &&
           adsm_block_try_hold(object, i + held)) {
        if (adsm_block_state(object, i + held) != state) {
            adsm_block_release(object, i + held, 1);
            break;
        }
        held++;
    }
    return held;
}

/* Open what is about to be written all over, held block `i` among it. Blocks
 * that somebody else holds end it. Return: whether that was done */
static bool open_around(struct adsm_object *object, uint32_t i,
                        const struct adsm_cause *cause)
{
    uint32_t first, from = i, end = i;
    uint32_t n = adsm_dense_reach(object, i, adsm_dirty_limit(), &first);
    if (n == 0)
        return false;
    while (from > first && adsm_block_try_hold(object, from - 1))
        from--;
    while (end + 1 < first + n && adsm_block_try_hold(object, end + 1))
        end++;
    int rc = adsm_coherence_open(object, from, end + 1 - from, i, cause);
    if (rc == ADSM_OK)
        ADSM_COUNT(dense_openings, 1);
    adsm_block_release(object, from, i - from);
    adsm_block_release(object, i + 1, end - i);
    return rc == ADSM_OK;
}

/* A store goes to the block beside watched block `i`. Was that written through?
 * Then it is one of a run, and as dirty as any. */
static void see_neighbour(struct adsm_object *object, uint32_t i)
{
    if (i >= object->block_count || !adsm_sparse_is_watched(object, i) ||
        !adsm_block_try_hold(object, i))
        return;
    if (adsm_sparse_is_watched(object, i) && adsm_sparse_is_full(object, i))
        adsm_dirty_unwatch(object, i, 1);
    adsm_block_release(object, i, 1);
}

/* Apply `event` to held block `i`, of which the lock is held shared, and to
 * more behind it that are in its state, [i, i + n) at most. */
static int apply_run(struct adsm_object *object, uint32_t i, uint32_t n,
                     enum adsm_event event, const struct adsm_cause *cause)
{
    if (n > 1)
        n = hold_more(object, i, n);
    if (n > 1) {
        int all = adsm_coherence_apply(object, i, n, event, cause);
        adsm_block_release(object, i + 1, n - 1);
        if (all == ADSM_OK)
            return all;
    }
    int rc = adsm_coherence_apply(object, i, 1, event, cause);
    if (rc == ADSM_E_DEVICE || rc == ADSM_E_DEVICE_LOST)
        rc = insist(object, i, event, cause);
    return rc;
}

/* Block `i` was brought to be read. Where most of what lies around it is there,
 * the rest comes; who holds a block of that brings it, and what fails will be
 * asked for again. */
static void bring_around(struct adsm_object *object, uint32_t i,
                         const struct adsm_cause *cause)
{
    uint32_t first, count = adsm_grain_around(object, i, &first), n;
    for (uint32_t k = first, end = first + count; k < end; k += n) {
        n = 1;
        if (adsm_block_state(object, k) != ADSM_INVALID ||
            !adsm_block_try_hold(object, k))
            continue;
        n = hold_more(object, k, end - k);
        if (adsm_block_state(object, k) == ADSM_INVALID)
            (void)!adsm_coherence_apply(object, k, n, ADSM_READ_FAULT, cause);
        adsm_block_release(object, k, n);
    }
}

int adsm_answer(struct adsm_object *object, uint32_t i, enum adsm_event event,
                const struct adsm_cause *cause)
{
    bool brings = adsm_block_state(object, i) == ADSM_INVALID, done = false;
    int rc = ADSM_OK;
    adsm_scatter_opened(object, i);
    if (adsm_object_is_awaited(object)) { /* its neighbours may be waited for */
        rc = apply_run(object, i, 1, event, cause);
        adsm_block_release(object, i, 1);
        return rc;
    }
    if (event == ADSM_WRITE_FAULT) {
        see_neighbour(object, i - 1);
        see_neighbour(object, i + 1);
        done = adsm_block_state(object, i) != ADSM_DIRTY &&
               open_around(object, i, cause);
    }
    if (!done)
        rc = apply_run(object, i,
                       adsm_grain_reach(object, i, event == ADSM_WRITE_FAULT,
                                        adsm_dirty_limit()),
                       event, cause);
    adsm_block_release(object, i, 1);
    if (!brings || rc != ADSM_OK)
        return rc;
    adsm_ahead_want(object);
    if (event == ADSM_READ_FAULT)
        bring_around(object, i, cause);
    return rc;
}
