/* Pairs of timed events, found by a bit; see timer.h. */
#include "accel/timer.h"

#include "accel/device.h"

void adsm_timers_destroy(struct adsm_accel *accel)
{
    for (int i = 0; i < ADSM_TIMERS; i++) {
        struct adsm_timer *timer = &accel->timers->timer[i];
        /* Fails only where the context is dead, and the events with it. */
        if (timer->begin)
            (void)accel->ops->event_destroy(accel, timer->begin);
        if (timer->end)
            (void)accel->ops->event_destroy(accel, timer->end);
        timer->begin = timer->end = NULL;
    }
}

/* A pair that nobody has; NULL: there is none. */
static struct adsm_timer *get(struct adsm_accel *accel)
{
    struct adsm_timers *timers = accel->timers;
    uint64_t taken = atomic_load_explicit(&timers->taken, memory_order_relaxed);
    while (~taken) {
        int i = __builtin_ctzll(~taken);
        /* Acquire: pairs with drop; its events were made before. */
        if (atomic_compare_exchange_weak_explicit(
                &timers->taken, &taken, taken | UINT64_C(1) << i,
                memory_order_acquire, memory_order_relaxed)) {
            timers->timer[i].accel = accel;
            return &timers->timer[i];
        }
    }
    return NULL;
}

void adsm_timer_drop(struct adsm_timer *timer)
{
    struct adsm_timers *timers = timer->accel->timers;
    int i = (int)(timer - timers->timer);
    /* Release: pairs with get. An event that was recorded may be so again
     * before it is reached: it stands for the last time. */
    atomic_fetch_and_explicit(&timers->taken, ~(UINT64_C(1) << i),
                              memory_order_release);
}

static bool make(struct adsm_accel *accel, void **event)
{
    return *event || accel->ops->event_create_timed(accel, event) == ADSM_OK;
}

struct adsm_timer *adsm_timer_begin(struct adsm_accel *accel,
                                    adsm_stream stream)
{
    if (atomic_load_explicit(&accel->timers->never, memory_order_relaxed))
        return NULL;
    struct adsm_timer *timer = get(accel);
    if (!timer)
        return NULL;
    if (make(accel, &timer->begin) && make(accel, &timer->end) &&
        accel->ops->event_record(accel, timer->begin, stream) == ADSM_OK)
        return timer;
    adsm_timer_drop(timer);
    return NULL;
}

bool adsm_timer_end(struct adsm_timer *timer, adsm_stream stream)
{
    struct adsm_accel *accel = timer->accel;
    if (accel->ops->event_record(accel, timer->end, stream) == ADSM_OK)
        return true;
    adsm_timer_drop(timer);
    return false;
}

bool adsm_timer_take(struct adsm_timer *timer, const struct adsm_accel *accel,
                     uint64_t *ns)
{
    struct adsm_accel *of = timer->accel;
    bool reached = true;
    *ns = 0;
    if (of == accel && timer->end &&
        of->ops->event_query(of, timer->end, &reached) == ADSM_OK) {
        if (!reached)
            return false;
        if (of->ops->event_elapsed(of, timer->begin, timer->end, ns) != ADSM_OK)
            /* Relaxed: a flag by itself. */
            atomic_store_explicit(&of->timers->never, true,
                                  memory_order_relaxed);
    }
    adsm_timer_drop(timer);
    return true;
}
