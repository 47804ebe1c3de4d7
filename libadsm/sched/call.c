/* Which way a call goes, and what its options ask for. */
#include "sched/call.h"

#include "mm/doors/boundary.h"
#include "sched/argument.h"
#include "sched/task.h"
#include "sched/detail.h"
#include "sched/into.h"
#include "sched/launch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Devices that adsmSync waits for, beside the thread's: those that parts have run
 * on, and those of calls without options that the thread has made since. */
static _Atomic uint64_t used;
static __thread uint64_t called;

static uint64_t bit_of(const struct adsm_accel *accel)
{
    return UINT64_C(1) << adsm_accel_device(accel);
}

static void use(const struct adsm_accel *accel)
{
    uint64_t bit = bit_of(accel);
    if (!(atomic_load_explicit(&used, memory_order_relaxed) & bit))
        atomic_fetch_or(&used, bit);
}

void adsm_call_told(const struct adsm_accel *accel)
{
    if (adsm_accel_health(accel) != ADSM_OK)
        atomic_fetch_and(&used, ~bit_of(accel));
}

int adsm_call_sync(const struct adsm_accel *besides)
{
    uint64_t set = atomic_load(&used) | called;
    int first = ADSM_OK;
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

/* ---- order, and what follows ----------------------------------------------------- */

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

int adsm_call_follow(const adsmOpts *o, const char *what,
                     struct adsm_ended *ended, int rc)
{
    ended->status = rc;
    if (o->event) {
        o->event->id = adsm_event_keep(ended);
        if (o->event->id == 0)
            (void)adsm_ended_wait(ended); /* {0} is one that has ended */
    }
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

static int follow(const struct adsm_task *task, struct adsm_ended *ended,
                  int rc)
{
    char what[256];
    if (!adsm_call_has_followers(&task->opts))
        return rc;
    snprintf(what, sizeof what, "kernel '%s'", task->kernel.name);
    return adsm_call_follow(&task->opts, what, ended, rc);
}

/* ---- ways --------------------------------------------------------------------- */

/* Room for all parts there may be. */
static int most_parts(const adsmOpts *opts, int devices)
{
    if (opts->tile[0] || opts->tile[1] || opts->tile[2])
        return ADSM_SPLIT_PARTS;
    return opts->parts > devices ? opts->parts : devices;
}

/* Parts of a device each are as large as those were fast, others equal. */
static void share_out(struct adsm_task *task, double *share)
{
    const adsmOpts *o = &task->opts;
    for (int d = 0; d < task->devices; d++)
        share[d] = 1.0 / task->devices;
    task->may_chunk = adsm_task_may_chunk(task);
    task->timed = !adsm_task_has_parts(o) &&
                  (task->devices > 1 || task->may_chunk) &&
                  adsm_speed_shares(task->kernel.speed, task->numbers,
                                    task->accels, task->devices,
                                    adsm_split_indices(&task->range), share);
}

static int split(struct adsm_task *task, struct adsm_split_part **parts,
                 int *count)
{
    const struct adsm_operand_call about = {task->kernel.name, task->range,
                                            !task->whole, task->numbers};
    struct adsm_split how = {.range = task->range,
                             .devices = task->devices,
                             .parts = task->opts.parts,
                             .cyclic = task->opts.cyclic,
                             .align = task->opts.align};
    int grid[3], most = most_parts(&task->opts, task->devices);
    memcpy(how.tile, task->opts.tile, sizeof how.tile);
    share_out(task, how.share);
    adsm_operand_weigh(task->operands, task->operand_count, &how);
    *count = -1;
    *parts =
        most <= ADSM_SPLIT_PARTS ? malloc((size_t)most * sizeof **parts) : NULL;
    if (!*parts && most <= ADSM_SPLIT_PARTS)
        return adsm_detail(ADSM_E_NOMEM, "no memory for %d parts", most);
    if (*parts)
        *count = adsm_split_make(&how, *parts, grid);
    if (*count < 0)
        return adsm_detail(ADSM_E_INVALID, "kernel '%s' in more than %d parts",
                           about.kernel, ADSM_SPLIT_PARTS);
    return adsm_operand_check(&about, task->operands, task->operand_count,
                              *parts, *count, grid);
}

static int issue_pieces(struct adsm_task *task,
                        const struct adsm_split_part *parts, int count,
                        bool rounds, struct adsm_ended *ended)
{
    struct adsm_split_part *pieces = NULL;
    int n = 0;
    int rc = adsm_task_pieces(task, parts, count, rounds, &pieces, &n);
    if (rc == ADSM_OK)
        rc = adsm_task_issue(task, pieces, n, ended);
    free(pieces);
    return rc;
}

/* All at once, or where they are too large together, in rounds. */
static int issue(struct adsm_task *task, const struct adsm_split_part *parts,
                 int count, struct adsm_ended *ended)
{
    task->opts.chunks = adsm_task_chunks(task, parts, count);
    int rc = task->opts.chunks > 1
                 ? issue_pieces(task, parts, count, false, ended)
                 : adsm_task_issue(task, parts, count, ended);
    if (rc != ADSM_E_DEVICE_NOMEM || ended->count > 0)
        return rc;
    rc = issue_pieces(task, parts, count, true, ended);
    return rc == ADSM_OK ? adsm_detail(ADSM_OK, "%s", "") : rc;
}

/* With what parts accumulate: into copies, which are combined behind them. */
static int issue_all(struct adsm_task *task,
                     const struct adsm_split_part *parts, int count,
                     struct adsm_ended *ended)
{
    struct adsm_into *into = NULL;
    int rc = adsm_into_begin(task, parts, count, &into);
    if (rc == ADSM_OK)
        rc = issue(task, parts, count, ended);
    return adsm_into_end(task, into, ended, rc);
}

/* In parts, over copies. */
static int spread(struct adsm_task *task)
{
    struct adsm_split_part *parts = NULL;
    struct adsm_ended ended = {.status = ADSM_OK};
    struct adsm_split_part one = {.box = task->range, .count = 1};
    int count = 0;
    int rc = adsm_task_take(task);
    if (rc == ADSM_OK && !task->whole)
        rc = split(task, &parts, &count);
    if (rc == ADSM_OK)
        rc = order(task);
    if (rc == ADSM_OK)
        rc = adsm_progress_begin(&task->opts, task->kernel.name,
                                 &task->progress);
    if (rc == ADSM_OK) {
        for (int d = 0; d < task->devices; d++)
            use(task->accels[d]);
        if (task->whole)
            rc = adsm_task_issue(task, &one, 1, &ended);
        else if (count > 0)
            rc = issue_all(task, parts, count, &ended);
        rc = follow(task, &ended, rc);
        adsm_progress_end(task->progress, rc, task->opts.sync);
    }
    free(parts);
    free(task->operands);
    return rc;
}

static bool is_empty(const adsmBox *range)
{
    for (int d = 0; d < range->nd; d++)
        if (range->hi[d] == range->lo[d])
            return true;
    return false;
}

/* A call of one part, which is launched. */
static int watch(struct adsm_task *task, struct adsm_fence fence)
{
    int rc =
        adsm_progress_begin(&task->opts, task->kernel.name, &task->progress);
    if (rc == ADSM_OK)
        rc = adsm_progress_expect(task->progress, 1);
    if (rc == ADSM_OK)
        adsm_progress_add(task->progress, fence);
    return rc;
}

/* On one device, where all is at home; else over copies. */
static int at_home(struct adsm_task *task, const struct adsm_grid *grid)
{
    struct adsm_ended ended = {.status = ADSM_OK};
    struct adsm_fence fence;
    struct adsm_kernel_view there = task->kernel;
    bool elsewhere;
    there.accel = task->accels[0];
    there.handle = task->handles[0];
    int rc = order(task);
    if (rc != ADSM_OK)
        return rc;
    rc = adsm_launch(&there, grid, task->opts.shared_bytes, task->count,
                     task->args, &elsewhere);
    if (rc == ADSM_OK && elsewhere)
        return grid->grid[0] > 0 ? spread(task) : follow(task, &ended, rc);
    if (rc == ADSM_OK)
        called |= bit_of(there.accel);
    if (rc == ADSM_OK && adsm_call_has_followers(&task->opts)) {
        use(there.accel);
        rc = adsm_fence_record(there.accel,
                               adsm_accel_launch_stream(there.accel), &fence);
        if (rc == ADSM_OK) {
            adsm_ended_add(&ended, fence);
            rc = watch(task, fence);
        } else
            (void)adsm_detail_cause(rc, "kernel '%s'", there.name);
    }
    rc = follow(task, &ended, rc);
    adsm_progress_end(task->progress, rc, task->opts.sync);
    return rc;
}

/* What has to be known of a call before its arguments are read. */
static int check(const struct adsm_task *task, int fixed)
{
    int rc = adsm_arguments_check(&task->kernel, task->count, fixed);
    if (rc == ADSM_OK && task->opts.shared_bytes > UINT32_MAX)
        rc = adsm_detail(ADSM_E_INVALID,
                         "a call of kernel '%s' with %zu bytes of shared "
                         "memory for each block: devices count them in 32 bits",
                         task->kernel.name, task->opts.shared_bytes);
    return rc;
}

static int ranged(struct adsm_task *task, int device, bool options)
{
    struct adsm_grid grid;
    int rc = adsm_grid_check_range(task->kernel.name, &task->range);
    if (rc == ADSM_OK)
        rc = check(task, 2 * task->range.nd);
    if (rc == ADSM_OK)
        rc = adsm_task_check_options(task);
    if (rc == ADSM_OK)
        rc = adsm_task_devices(task, device);
    if (rc != ADSM_OK)
        return rc;
    bool any = task->kernel.reach == ADSM_ANY_OBJECT;
    if (any && task->devices > 1)
        return adsm_detail(ADSM_E_INVALID,
                           "kernel '%s' may touch any object, so it runs on "
                           "one device: look it up with ADSM_ONLY_ARGUMENTS "
                           "if it follows no pointers that are stored in "
                           "memory",
                           task->kernel.name);
    rc = options ? adsm_task_check_direct(task) : ADSM_OK;
    if (rc != ADSM_OK)
        return rc;
    if (task->direct)
        use(task->accels[0]);
    task->whole |= !options || any;
    if (!task->whole)
        return spread(task);
    rc = adsm_grid_make(task->kernel.name, &task->range, task->opts.block,
                        task->opts.each, &grid);
    if (is_empty(&task->range))
        grid.grid[0] = 0; /* arguments are checked all the same */
    return rc == ADSM_OK ? at_home(task, &grid) : rc;
}

/* What is not known of a call when it begins; its kernel is held. */
static void start(struct adsm_task *task, const adsmBox *range, int count,
                  const adsmArg *args)
{
    task->range = *range;
    task->count = count;
    task->args = args;
    task->is_launch = task->whole = task->timed = task->may_chunk = false;
    task->devices = task->operand_count = 0;
    task->operands = NULL;
    task->progress = NULL;
    task->direct = false;
    task->values_used = 0;
}

int adsm_call_as_said(const adsmKernel *kernel, const adsmBox *range,
                      const adsmOpts *opts, int device, int count,
                      const adsmArg *args)
{
    struct adsm_task task;
    int rc = adsm_kernel_hold(kernel, &task.kernel);
    if (rc != ADSM_OK)
        return rc;
    start(&task, range, count, args);
    task.opts = opts ? *opts : (adsmOpts){0};
    rc = ranged(&task, device, opts != NULL);
    adsm_kernel_release(&task.kernel);
    return rc;
}

int adsm_call_range(const adsmKernel *kernel, const adsmBox *range,
                    const adsmOpts *opts, int device, int count,
                    const adsmArg *args)
{
    adsmOpts set;
    if (!opts)
        return adsm_call_as_said(kernel, range, NULL, device, count, args);
    set = *opts;
    adsm_call_override(&set);
    return adsm_call_as_said(kernel, range, &set, device, count, args);
}

int adsm_call_launch(const adsmKernel *kernel, const unsigned grid[3],
                     const unsigned block[3], size_t shared_bytes, int count,
                     const adsmArg *args)
{
    struct adsm_task task;
    bool elsewhere;
    int rc = adsm_kernel_hold(kernel, &task.kernel);
    if (rc != ADSM_OK)
        return rc;
    start(&task, &adsmR1(1), count, args);
    task.opts = (adsmOpts){.shared_bytes = shared_bytes};
    task.given = (struct adsm_grid){.bound_count = 0};
    memcpy(task.given.grid, grid, sizeof task.given.grid);
    memcpy(task.given.block, block, sizeof task.given.block);
    task.is_launch = task.whole = true;
    rc = check(&task, 0);
    if (rc == ADSM_OK)
        rc = adsm_launch(&task.kernel, &task.given, shared_bytes, count, args,
                         &elsewhere);
    if (rc == ADSM_OK && !elsewhere)
        called |= bit_of(task.kernel.accel);
    if (rc == ADSM_OK && elsewhere)
        rc = adsm_task_devices(&task, -1);
    if (rc == ADSM_OK && elsewhere)
        rc = spread(&task);
    adsm_kernel_release(&task.kernel);
    return rc;
}
