/* Timers around parts, and what they told. */
#include "code/speed.h"

#include "accel/device.h"
#include "accel/rate.h"
#include "code/remember.h"

#include <stdlib.h>

/* What shorter parts could gain is less than a boundary costs that moves, and
 * what they take is mostly noise. */
enum { SHORT_NS = 100 * 1000 };

enum { LEAST_BYTES = 1 << 20 }; /* of a part, that its link is asked for */

_Static_assert((int)ADSM_TIMES_DEVICES == ADSM_MOST_DEVICES,
               "every device has times");

void adsm_speed_init(struct adsm_speed *speed, uint64_t key, const char *name)
{
    speed->key = key;
    adsm_model_text(speed->name, sizeof speed->name, name);
    atomic_init(&speed->model, ADSM_SPEED_ASK);
    atomic_init(&speed->saved, 0);
    for (int f = 0; f < ADSM_MODEL_FOOTPRINTS; f++)
        atomic_init(&speed->calls[f], NULL);
    for (int d = 0; d < ADSM_TIMES_DEVICES; d++) {
        atomic_init(&speed->pending[d], NULL);
        atomic_init(&speed->brought[d], 0);
    }
}

/* NULL: no such call was made. */
static struct adsm_speed_calls *made(struct adsm_speed *speed, int footprint)
{
    /* Acquire: pairs with adsm_speed_calls. */
    return atomic_load_explicit(&speed->calls[footprint], memory_order_acquire);
}

struct adsm_speed_calls *adsm_speed_calls(struct adsm_speed *speed,
                                          int footprint)
{
    struct adsm_speed_calls *none = NULL, *calls = made(speed, footprint);
    if (calls)
        return calls;
    calls = calloc(1, sizeof *calls);
    if (!calls)
        return NULL;
    adsm_times_init(&calls->times);
    /* Release: who finds it finds it made. */
    if (atomic_compare_exchange_strong_explicit(&speed->calls[footprint], &none,
                                                calls, memory_order_acq_rel,
                                                memory_order_acquire))
        return calls;
    free(calls);
    return none;
}

static struct adsm_timer *swap_out(struct adsm_speed *speed, int device)
{
    /* Relaxed: mostly there is none, and that is all who finds none uses. */
    if (!atomic_load_explicit(&speed->pending[device], memory_order_relaxed))
        return NULL;
    /* Acquire: pairs with keep; the timer is ended. */
    return atomic_exchange_explicit(&speed->pending[device], NULL,
                                    memory_order_acquire);
}

/* Unless another thread's part of the same device came first. */
static void keep(struct adsm_speed *speed, int device, struct adsm_timer *timer)
{
    struct adsm_timer *none = NULL;
    if (!atomic_compare_exchange_strong_explicit(&speed->pending[device], &none,
                                                 timer, memory_order_release,
                                                 memory_order_relaxed))
        adsm_timer_drop(timer);
}

void adsm_speed_idle(struct adsm_speed *speed)
{
    for (int d = 0; d < ADSM_TIMES_DEVICES; d++) {
        struct adsm_timer *timer = swap_out(speed, d);
        if (timer)
            adsm_timer_drop(timer);
    }
}

void adsm_speed_fini(struct adsm_speed *speed)
{
    adsm_speed_idle(speed);
    for (int f = 0; f < ADSM_MODEL_FOOTPRINTS; f++)
        free(made(speed, f));
}

/* What the link takes per index, in a part of so many; 0 where that is little. */
static double link_ns(const struct adsm_speed *speed, int device,
                      struct adsm_accel *accel, double indices)
{
    double bytes = adsm_speed_brought(speed, device);
    struct adsm_rate up, down;
    return bytes * indices >= LEAST_BYTES && adsm_rates_get(accel, &up, &down)
               ? bytes * up.byte_ns
               : 0;
}

static void read_timer(struct adsm_speed *speed, int device,
                       struct adsm_accel *accel)
{
    struct adsm_timer *timer = swap_out(speed, device);
    if (!timer)
        return;
    uint64_t ns;
    double work = timer->work;
    struct adsm_speed_calls *calls = timer->of;
    if (!adsm_timer_take(timer, accel, &ns))
        keep(speed, device, timer);
    else if (atomic_load_explicit(&calls->tasks, memory_order_relaxed) ||
             (double)ns + work * link_ns(speed, device, accel, work) >=
                 SHORT_NS)
        adsm_times_add(&calls->times, device, work, (double)ns);
}

/* The times of that footprint, or else of the nearest one of which these devices
 * are known. NULL: of none */
static struct adsm_times *known_times(struct adsm_speed *speed, int footprint,
                                      const int *numbers, int count)
{
    for (int away = 0; away < ADSM_MODEL_FOOTPRINTS; away++)
        for (int side = -1; side <= 1; side += 2) {
            int f = footprint + side * away;
            struct adsm_speed_calls *calls =
                f >= 0 && f < ADSM_MODEL_FOOTPRINTS ? made(speed, f) : NULL;
            if (calls && adsm_times_knows(&calls->times, numbers, count))
                return &calls->times;
        }
    return NULL;
}

/* Relaxed: who sees an old value measures a call more or less. */
static bool is_due(struct adsm_speed_calls *calls)
{
    return !atomic_load_explicit(&calls->full, memory_order_relaxed) ||
           atomic_fetch_add_explicit(&calls->count, 1, memory_order_relaxed) %
                   ADSM_SPEED_EVERY ==
               0;
}

struct adsm_speed_calls *adsm_speed_shares(struct adsm_speed *speed,
                                           const int *numbers,
                                           struct adsm_accel *const *accels,
                                           int count, double indices,
                                           double *share)
{
    double link[ADSM_TIMES_DEVICES];
    int footprint = adsm_model_footprint(indices);
    adsm_remember(speed);
    struct adsm_speed_calls *calls = adsm_speed_calls(speed, footprint);
    if (!calls)
        return NULL;
    bool due = is_due(calls);
    for (int i = 0; i < count && due; i++)
        read_timer(speed, numbers[i], accels[i]);
    for (int i = 0; i < count; i++)
        link[i] = link_ns(speed, numbers[i], accels[i], indices / count);
    struct adsm_times *times = known_times(speed, footprint, numbers, count);
    bool full = times && adsm_times_shares(times, numbers, link, count, share);
    atomic_store_explicit(&calls->full, full && times == &calls->times,
                          memory_order_relaxed);
    return due ? calls : NULL;
}

struct adsm_speed_calls *adsm_speed_look(struct adsm_speed *speed, int device,
                                         struct adsm_accel *accel,
                                         double indices)
{
    adsm_remember(speed);
    struct adsm_speed_calls *calls =
        adsm_speed_calls(speed, adsm_model_footprint(indices));
    if (!calls)
        return NULL;
    atomic_store_explicit(&calls->tasks, true, memory_order_relaxed);
    bool due = is_due(calls);
    if (due)
        read_timer(speed, device, accel);
    double ns = adsm_times_ns(&calls->times, device) * indices;
    atomic_store_explicit(&calls->full, ns > 0 && ns < SHORT_NS,
                          memory_order_relaxed);
    return due ? calls : NULL;
}

void adsm_speed_read(struct adsm_speed *speed, int device,
                     struct adsm_accel *accel)
{
    read_timer(speed, device, accel);
}

double adsm_speed_ns(struct adsm_speed *speed, int device, double indices)
{
    struct adsm_times *times =
        known_times(speed, adsm_model_footprint(indices), &device, 1);
    return times ? adsm_times_ns(times, device) : 0;
}

/* Relaxed, as above. */
void adsm_speed_came(struct adsm_speed *speed, int device, double indices,
                     size_t bytes)
{
    atomic_store_explicit(&speed->brought[device], (double)bytes / indices,
                          memory_order_relaxed);
}

double adsm_speed_brought(const struct adsm_speed *speed, int device)
{
    return atomic_load_explicit(&speed->brought[device], memory_order_relaxed);
}

struct adsm_timer *adsm_speed_begin(struct adsm_speed *speed,
                                    struct adsm_speed_calls *calls, int device,
                                    struct adsm_accel *accel,
                                    adsm_stream stream, double indices)
{
    if (!calls ||
        atomic_load_explicit(&speed->pending[device], memory_order_relaxed))
        return NULL;
    struct adsm_timer *timer = adsm_timer_begin(accel, stream);
    if (!timer)
        return NULL;
    timer->work = indices;
    timer->of = calls;
    return timer;
}

void adsm_speed_end(struct adsm_speed *speed, int device,
                    struct adsm_timer *timer, adsm_stream stream, bool launched)
{
    if (!timer)
        return;
    if (!launched)
        adsm_timer_drop(timer);
    else if (adsm_timer_end(timer, stream))
        keep(speed, device, timer);
}
