/* A thread for each device: it takes ready tasks, and begins them. */
#include "call/waiting.h"

#include "base/clock.h"
#include "base/futex.h"
#include "base/quiet.h"
#include "base/thread.h"
#include "call/detail.h"
#include "call/policy.h"
#include "code/speed.h"

enum {
    MOST_RUNNING = 64,
    /* Short tasks are begun until there is so much to do. */
    AHEAD_NS = 200 * 1000,
};

struct running {
    struct adsm_fence fence;
    double ns; /* 0: nobody knows */
};

/* What there is to do for a device. */
struct device {
    struct adsm_ready ready;
    int begun; /* by its thread, when that looked last */
    double
        busy; /* when what it was given will have ended; clock of adsm_now_ns */
    _Atomic bool wanted; /* it is to have a thread, */
    bool served;         /* and has one             */
    /* Of its own thread: begun, and not known to have ended; oldest first. */
    struct running running[MOST_RUNNING];
    unsigned oldest, count;
    double running_ns;
};

static struct device devices[ADSM_SPLIT_DEVICES]; /* lock: the queue's */
static struct adsm_ready anywhere;                /* likewise          */
static __thread bool is_mine;

/* Threads sleep on the first; it grows when tasks have become ready. */
static _Atomic uint32_t event, sleepers;

bool adsm_queue_is_mine(void)
{
    return is_mine;
}

/* ---- sleep --------------------------------------------------------------------- */

void adsm_queue_wake(void)
{
    if (atomic_load(&sleepers) == 0) /* who falls asleep looks at `event` */
        return;
    adsm_futex_wake(&event, INT32_MAX);
}

static void sleep_since(uint32_t seen)
{
    atomic_fetch_add(&sleepers, 1);
    if (atomic_load(&event) == seen)
        adsm_futex_wait(&event, seen);
    atomic_fetch_sub(&sleepers, 1);
}

/* ---- lists --------------------------------------------------------------------- */

static struct adsm_ready *list_of(int device)
{
    return device == ADSM_ANY_DEVICE ? &anywhere : &devices[device].ready;
}

/* Behind all that it does not go before. */
static void link_ready(struct adsm_waiting *waiting)
{
    struct adsm_ready *list = list_of(waiting->device);
    struct adsm_waiting *after = list->last;
    bool (*before)(const struct adsm_waiting *, const struct adsm_waiting *) =
        waiting->call->policy->before;
    while (before && after && after->call->policy == waiting->call->policy &&
           before(waiting, after))
        after = after->ready_prev;
    waiting->ready_prev = after;
    waiting->ready_next = after ? after->ready_next : list->first;
    *(after ? &after->ready_next : &list->first) = waiting;
    *(waiting->ready_next ? &waiting->ready_next->ready_prev : &list->last) =
        waiting;
    list->count++;
    list->ns += waiting->ns;
}

static void unlink_ready(struct adsm_waiting *waiting)
{
    struct adsm_ready *list = list_of(waiting->device);
    *(waiting->ready_prev ? &waiting->ready_prev->ready_next : &list->first) =
        waiting->ready_next;
    *(waiting->ready_next ? &waiting->ready_next->ready_prev : &list->last) =
        waiting->ready_prev;
    list->count--;
    list->ns = list->count > 0 ? list->ns - waiting->ns : 0;
}

/* Its place among the task's devices; -1: it may not run there. */
static int place_of(const struct adsm_waiting *waiting, int device)
{
    const struct adsm_task *task = waiting->call->task;
    for (int i = 0; i < task->devices; i++)
        if (task->numbers[i] == device)
            return i;
    return -1;
}

/* A lost device refuses everything, and so would have it all. */
static bool is_lost(const struct adsm_waiting *waiting, int device)
{
    int i = place_of(waiting, device);
    return i >= 0 &&
           adsm_accel_health(waiting->call->task->accels[i]) != ADSM_OK;
}

/* May it run on a device that is free? Of those that are lost only where there
 * are no others, which is told. */
static bool may_run(const struct adsm_waiting *waiting, int device)
{
    const struct adsm_task *task = waiting->call->task;
    if (place_of(waiting, device) < 0)
        return false;
    if (!is_lost(waiting, device))
        return true;
    for (int i = 0; i < task->devices; i++)
        if (adsm_accel_health(task->accels[i]) == ADSM_OK)
            return false;
    return true;
}

/* Where its policy wants it. */
static int place(struct adsm_waiting *waiting)
{
    int device = waiting->call->policy->place(waiting);
    return device != ADSM_ANY_DEVICE && is_lost(waiting, device)
               ? ADSM_ANY_DEVICE
               : device;
}

void adsm_queue_ready(struct adsm_waiting *waiting)
{
    if (!waiting->placed)
        waiting->device = place(waiting);
    link_ready(waiting);
    atomic_fetch_add(&event, 1);
}

int adsm_queue_has(int device)
{
    return devices[device].ready.count + devices[device].begun;
}

double adsm_queue_free_at(int device, double now)
{
    const struct device *d = &devices[device];
    return (d->busy > now ? d->busy : now) + d->ready.ns;
}

/* ---- which task is next ---------------------------------------------------------- */

/* One that waits for any device. Those whose policy knows more by now go where
 * that says. */
static struct adsm_waiting *take_anywhere(int device)
{
    struct adsm_waiting *waiting, *next;
    for (waiting = anywhere.first; waiting; waiting = next) {
        next = waiting->ready_next;
        if (!may_run(waiting, device))
            continue;
        int better = place(waiting);
        if (better == ADSM_ANY_DEVICE || better == device)
            return waiting;
        unlink_ready(waiting);
        waiting->device = better;
        link_ready(waiting);
        atomic_fetch_add(&event, 1);
        adsm_queue_wake();
    }
    return NULL;
}

/* The youngest that may be had of the device that has most. */
static struct adsm_waiting *steal(int device)
{
    struct adsm_waiting *found = NULL;
    int most = 0;
    for (int d = 0; d < ADSM_SPLIT_DEVICES; d++) {
        struct adsm_waiting *waiting = devices[d].ready.last;
        while (waiting && (waiting->placed || !waiting->call->policy->steals ||
                           !may_run(waiting, device)))
            waiting = waiting->ready_prev;
        if (!waiting || devices[d].ready.count <= most)
            continue;
        most = devices[d].ready.count;
        found = waiting;
    }
    return found;
}

/* The lock is held. */
static struct adsm_waiting *take(int device)
{
    struct adsm_waiting *waiting = devices[device].ready.first;
    if (!waiting)
        waiting = take_anywhere(device);
    if (!waiting)
        waiting = steal(device);
    if (!waiting)
        return NULL;
    unlink_ready(waiting);
    waiting->device = device;
    if (waiting->ns == 0) /* its policy did not ask */
        waiting->ns =
            waiting->indices * adsm_speed_ns(waiting->task->kernel.speed,
                                             device, waiting->indices);
    adsm_queue_begins();
    return waiting;
}

/* ---- begun ----------------------------------------------------------------------- */

/* On the device, which is its only one from here on. */
static void place_task(struct adsm_waiting *waiting, int i)
{
    struct adsm_task *task = waiting->task;
    task->devices = 1;
    task->numbers[0] = task->numbers[i];
    task->accels[0] = task->accels[i];
    task->handles[0] = task->handles[i];
    task->parts[0].device = 0;
    if (task->work && task->opts.chunks > 1)
        return; /* what of the work each piece has is not known */
    task->timed = adsm_speed_look(task->kernel.speed, task->numbers[0],
                                  task->accels[0], waiting->indices);
}

static int begin(struct adsm_waiting *waiting, int device)
{
    (void)adsm_detail(ADSM_OK, "%s", "");
    if (waiting->task != waiting->call->task)
        place_task(waiting, place_of(waiting, device));
    return adsm_task_begin(waiting->task);
}

/* ---- what runs ------------------------------------------------------------------- */

static void forget_oldest(struct device *d)
{
    d->running_ns -= d->running[d->oldest].ns;
    d->oldest = (d->oldest + 1) % MOST_RUNNING;
    if (--d->count == 0)
        d->running_ns = 0;
}

static void add_running(struct device *d, struct adsm_fence fence, double ns)
{
    d->running[(d->oldest + d->count++) % MOST_RUNNING] =
        (struct running){fence, ns};
    d->running_ns += ns;
}

/* Has it enough to do? */
static bool is_full(const struct device *d)
{
    return d->count >= MOST_RUNNING ||
           (d->count >= ADSM_QUEUE_DEPTH &&
            (d->running[d->oldest].ns == 0 || d->running_ns >= AHEAD_NS));
}

/* Waits until it has not. Of many short ones for several at a time: to be woken
 * takes longer than they do. */
static void wait_for_turn(struct device *d)
{
    while (d->count > 0 && adsm_fence_done(d->running[d->oldest].fence))
        forget_oldest(d);
    while (is_full(d)) {
        unsigned n = d->count > ADSM_QUEUE_DEPTH ? d->count / 2 : 1;
        unsigned last = (d->oldest + n - 1) % MOST_RUNNING;
        (void)adsm_fence_wait(d->running[last].fence);
        while (n-- > 0)
            forget_oldest(d);
    }
}

static void run_task(struct device *d, struct adsm_waiting *waiting, int device)
{
    double ns = waiting->ns;
    int rc = begin(waiting, device);
    struct adsm_ended *ended = &waiting->task->ended;
    if (ended->count > 0)
        add_running(d, ended->fences[0], ns);
    adsm_queue_begun(waiting, rc);
}

/* A thread serves the first device that is to have one. */
static int find_device(void)
{
    int device = 0;
    adsm_queue_lock();
    while (!devices[device].wanted || devices[device].served)
        device++;
    devices[device].served = true;
    adsm_queue_unlock();
    return device;
}

static void *run(void *unused)
{
    (void)unused;
    int device = find_device();
    struct device *d = &devices[device];
    is_mine = true;
    adsm_quiet_enter(); /* no signal comes here: locks need not see to that */
    adsm_event_of_runtime();
    for (;;) {
        uint32_t seen = atomic_load(&event);
        wait_for_turn(d);
        adsm_queue_lock();
        struct adsm_waiting *waiting =
            adsm_queue_has_ended() ? NULL : take(device);
        if (waiting)
            d->busy = (double)adsm_now_ns() + d->running_ns + waiting->ns;
        d->begun = (int)d->count + (waiting != NULL);
        adsm_queue_unlock();
        if (waiting)
            run_task(d, waiting, device);
        else
            sleep_since(seen);
    }
    return NULL;
}

/* Return: whether it is this caller who starts its thread */
static bool want_thread(int device)
{
    if (atomic_load_explicit(&devices[device].wanted, memory_order_relaxed))
        return false;
    adsm_queue_lock();
    bool first = !devices[device].wanted;
    devices[device].wanted = true;
    adsm_queue_unlock();
    return first;
}

int adsm_queue_start(const struct adsm_task *task)
{
    int rc = ADSM_OK;
    for (int i = 0; i < task->devices && rc == ADSM_OK; i++)
        if (want_thread(task->numbers[i]))
            rc = adsm_thread_start(run, 0, true);
    return rc == ADSM_OK
               ? rc
               : adsm_detail_cause(rc, "no thread for a device's tasks");
}
