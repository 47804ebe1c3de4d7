/* Tasks on their way: launched where all is at home, else over copies. */
#include "call/task.h"

#include "call/detail.h"
#include "call/into.h"
#include "call/launch.h"

#include <stdio.h>

/* Streams wait for the calls that this one is to come behind. */
static int order(const struct adsm_task *task)
{
    for (int i = 0; i < task->opts.afters; i++) {
        struct adsm_ended before;
        if (adsm_event_find(task->opts.after[i].id, &before) != ADSM_OK)
            return adsm_detail(ADSM_E_INVALID,
                               "`after` names event %llu: no call has that "
                               "number",
                               (unsigned long long)task->opts.after[i].id);
        for (int d = 0; d < task->devices; d++)
            for (int k = 0; k < before.count; k++) {
                struct adsm_accel *accel = task->accels[d];
                int rc = adsm_fence_order(
                    accel, adsm_accel_launch_stream(accel), before.fences[k]);
                if (rc != ADSM_OK)
                    return adsm_detail_cause(
                        rc, "waiting for event %d of `after`", i);
            }
    }
    return ADSM_OK;
}

/* ---- in parts, over copies ------------------------------------------------------ */

static int issue_pieces(struct adsm_task *task, bool rounds)
{
    struct adsm_split_part *pieces = NULL;
    int n = 0;
    int rc = adsm_task_pieces(task, rounds, &pieces, &n);
    return rc == ADSM_OK ? adsm_task_issue(task, pieces, n) : rc;
}

/* All at once, or where they are too large together, in rounds. */
static int issue(struct adsm_task *task)
{
    task->opts.chunks = adsm_task_chunks(task);
    int rc = task->opts.chunks > 1
                 ? issue_pieces(task, false)
                 : adsm_task_issue(task, task->parts, task->part_count);
    if (rc != ADSM_E_DEVICE_NOMEM || task->ended.count > 0)
        return rc;
    rc = issue_pieces(task, true);
    return rc == ADSM_OK ? adsm_detail(ADSM_OK, "%s", "") : rc;
}

/* With what parts accumulate: into copies, which are combined behind them. */
static int issue_all(struct adsm_task *task)
{
    struct adsm_into *into = NULL;
    int rc = adsm_into_begin(task, &into);
    if (rc == ADSM_OK)
        rc = issue(task);
    return adsm_into_end(task, into, rc);
}

static int begin_parts(struct adsm_task *task)
{
    const struct adsm_split_part one = {.box = task->range, .count = 1};
    int rc = task->is_part || task->progress
                 ? ADSM_OK
                 : adsm_progress_begin(&task->opts, task->kernel.name,
                                       &task->progress);
    if (rc != ADSM_OK)
        return rc;
    task->state = ADSM_TASK_BEGUN;
    for (int d = 0; d < task->devices; d++)
        adsm_call_use(task->accels[d]);
    if (task->whole)
        return adsm_task_issue(task, &one, 1);
    return task->part_count > 0 ? issue_all(task) : ADSM_OK;
}

/* ---- of one part, at home ------------------------------------------------------- */

/* Who waits for it waits for this. */
static int watch(struct adsm_task *task, struct adsm_accel *accel)
{
    struct adsm_fence fence;
    adsm_call_use(accel);
    int rc = adsm_fence_record(accel, adsm_accel_launch_stream(accel), &fence);
    if (rc != ADSM_OK)
        return adsm_detail_cause(rc, "kernel '%s'", task->kernel.name);
    adsm_ended_add(&task->ended, fence);
    rc = adsm_progress_begin(&task->opts, task->kernel.name, &task->progress);
    if (rc == ADSM_OK)
        rc = adsm_progress_expect(task->progress, 1);
    if (rc == ADSM_OK)
        adsm_progress_add(task->progress, fence);
    return rc;
}

/* `*elsewhere`: not all of it is at home, nothing has begun. */
static int begin_at_home(struct adsm_task *task, bool *elsewhere)
{
    struct adsm_kernel_view there = task->kernel;
    there.accel = task->accels[0];
    there.handle = task->handles[0];
    int rc = adsm_launch(&there, &task->grid, task->count, task->args,
                         &task->region, elsewhere);
    if (*elsewhere && task->grid.launch.grid[0] > 0)
        return rc;
    task->state = ADSM_TASK_BEGUN;
    if (rc != ADSM_OK || *elsewhere)
        return rc;
    adsm_call_use_here(there.accel);
    return adsm_call_has_followers(&task->opts) ? watch(task, there.accel)
                                                : ADSM_OK;
}

/* ---- steps ------------------------------------------------------------------------ */

int adsm_task_begin(struct adsm_task *task)
{
    bool elsewhere = false;
    if (task->direct)
        adsm_call_use(task->accels[0]);
    int rc = order(task);
    if (rc == ADSM_OK && task->whole)
        rc = begin_at_home(task, &elsewhere);
    if (rc != ADSM_OK || task->state == ADSM_TASK_BEGUN)
        return rc;
    if (elsewhere)
        rc = adsm_task_take(task);
    return rc == ADSM_OK ? begin_parts(task) : rc;
}

int adsm_task_begin_late(struct adsm_task *task)
{
    int rc =
        adsm_progress_begin(&task->opts, task->kernel.name, &task->progress);
    if (rc == ADSM_OK)
        rc = adsm_progress_expect(task->progress, task->part_count);
    for (int d = 0; d < task->devices && rc == ADSM_OK; d++)
        adsm_call_use(task->accels[d]);
    return rc;
}

int adsm_task_end(struct adsm_task *task, int rc)
{
    char what[256];
    if (task->state != ADSM_TASK_BEGUN)
        return rc;
    if (adsm_call_has_followers(&task->opts)) {
        snprintf(what, sizeof what, "kernel '%s'", task->kernel.name);
        rc = adsm_call_follow(&task->opts, what, &task->ended, rc);
    }
    adsm_progress_end(task->progress, rc, task->opts.sync);
    task->state = ADSM_TASK_ENDED;
    return rc;
}
