/* Calls from their making to their end, and who waits for them. */
#include "call/call.h"

#include "mm/doors/boundary.h"
#include "call/detail.h"
#include "call/queue.h"
#include "call/task.h"

#include <stdatomic.h>

/* Devices that adsmSync waits for, beside the thread's: those that parts have run
 * on, and those of calls without options that the thread has made since. */
static _Atomic uint64_t used;
static __thread uint64_t called;

static uint64_t bit_of(const struct adsm_accel *accel)
{
    return UINT64_C(1) << adsm_accel_device(accel);
}

void adsm_call_use(const struct adsm_accel *accel)
{
    uint64_t bit = bit_of(accel);
    if (!(atomic_load_explicit(&used, memory_order_relaxed) & bit))
        atomic_fetch_or(&used, bit);
}

void adsm_call_use_here(const struct adsm_accel *accel)
{
    called |= bit_of(accel);
}

void adsm_call_told(const struct adsm_accel *accel)
{
    if (adsm_accel_health(accel) != ADSM_OK)
        atomic_fetch_and(&used, ~bit_of(accel));
}

int adsm_call_sync(const struct adsm_accel *besides)
{
    adsm_queue_drain();
    uint64_t set = atomic_load(&used) | called;
    int first = adsm_queue_failure();
    called = 0;
    for (int d = 0; set >> d; d++) {
        struct adsm_accel *accel = NULL;
        if (!(set >> d & 1))
            continue;
        int rc = adsm_accel_open(d, &accel);
        if (rc == ADSM_OK && accel != besides)
            rc = adsm_accel_synchronize(accel);
        if (rc == ADSM_OK && accel != besides)
            rc = adsm_boundary_return(accel);
        if (rc != ADSM_OK && first == ADSM_OK)
            first = adsm_detail_cause(rc, "device %d", d);
        if (rc != ADSM_OK && accel)
            adsm_call_told(accel);
    }
    return first;
}

/* ---- what follows ------------------------------------------------------------------ */

int adsm_call_follow(const adsmOpts *o, const char *what,
                     struct adsm_ended *ended, int rc)
{
    ended->status = rc;
    if (o->event)
        o->event->id = adsm_event_keep(ended);
    if (o->then) {
        int status = adsm_event_follow(ended, o->then, o->then_arg);
        if (status != ADSM_OK && rc == ADSM_OK)
            rc = adsm_detail_cause(status, "the call is made, but what "
                                           "follows it cannot run");
    }
    if (o->sync) {
        int status = adsm_ended_wait(ended);
        if (rc == ADSM_OK && status != ADSM_OK)
            rc = adsm_detail_cause(status, "%s", what);
    }
    return rc;
}

/* ---- calls ------------------------------------------------------------------------ */

/* All steps of a task that was made, or not, with `rc`. */
static int run(struct adsm_task *task, int rc)
{
    if (rc == ADSM_OK && task->state == ADSM_TASK_MADE)
        rc = adsm_task_plan(task);
    if (rc == ADSM_OK) {
        adsm_queue_drain();
        rc = adsm_task_begin(task);
    }
    if (task)
        rc = adsm_task_end(task, rc);
    adsm_task_free(task);
    return rc;
}

int adsm_call_as_said(const adsmKernel *kernel, const adsmBox *range,
                      const adsmOpts *opts, int device, int count,
                      const adsmArg *args)
{
    struct adsm_task *task;
    int rc = adsm_task_make(kernel, range, opts, device, count, args, &task);
    return run(task, rc);
}

int adsm_call_range(const adsmKernel *kernel, const adsmBox *range,
                    const adsmOpts *opts, int device, int count,
                    const adsmArg *args)
{
    adsmOpts set;
    struct adsm_task *task;
    if (!opts)
        return adsm_call_as_said(kernel, range, NULL, device, count, args);
    set = *opts;
    adsm_call_override(&set);
    int rc = adsm_task_make(kernel, range, &set, device, count, args, &task);
    if (rc == ADSM_OK)
        rc = adsm_task_plan(task);
    if (rc == ADSM_OK && adsm_queue_takes(task) &&
        adsm_queue_put(task, &rc) == ADSM_OK)
        return rc;
    return run(task, rc);
}

int adsm_call_launch(const adsmKernel *kernel, const unsigned grid[3],
                     const unsigned block[3], size_t shared_bytes, int count,
                     const adsmArg *args)
{
    struct adsm_task *task;
    int rc = adsm_task_make_launch(kernel, grid, block, shared_bytes, count,
                                   args, &task);
    return run(task, rc);
}
