/* Which way a call goes, on which devices, and in which parts. */
#include "call/task.h"

#include "base/log.h"
#include "call/borders.h"
#include "call/detail.h"

#include <string.h>

/* ---- devices ---------------------------------------------------------------------- */

static int take_device(struct adsm_task *task, int number)
{
    int i = task->devices++;
    task->numbers[i] = number;
    int rc = adsm_accel_open(number, &task->accels[i]);
    if (rc != ADSM_OK)
        return adsm_detail_cause(rc, "device %d", number);
    return adsm_kernel_on(&task->kernel, task->accels[i], &task->handles[i]);
}

/* The last one taken is the CPU, for which not every kernel has a function: others
 * do without it. */
static bool is_left_out(struct adsm_task *task, int rc)
{
    const struct adsm_accel *last = task->accels[task->devices - 1];
    bool others = task->opts.devices &
                      ~(UINT32_C(1) << task->numbers[task->devices - 1]) &&
                  adsm_accel_devices() > 1;
    if (rc != ADSM_E_NOT_FOUND || !adsm_accel_is_cpu(last) || !others)
        return false;
    adsm_log_once(ADSM_LOG_INFO,
                  "calls of a kernel that has no function for the CPU run on "
                  "the other devices alone");
    task->devices--;
    return true;
}

/* Which devices: accels, and handles of the kernel there. */
static int place(struct adsm_task *task)
{
    uint32_t set = task->opts.devices;
    int there = adsm_accel_devices(), rc = ADSM_OK;
    int first = adsm_accel_device(task->kernel.accel);
    if (set == 0 && (task->device < 0 || task->device == first)) {
        /* As most calls have it: nothing to be looked up. */
        task->devices = 1;
        task->numbers[0] = first;
        task->accels[0] = task->kernel.accel;
        task->handles[0] = task->kernel.handle;
        return ADSM_OK;
    }
    if (set == 0)
        return take_device(task, task->device);
    for (int d = 0; d < ADSM_SPLIT_DEVICES && rc == ADSM_OK; d++) {
        if (!(set >> d & 1))
            continue;
        if (d < there) {
            rc = take_device(task, d);
            if (rc != ADSM_OK && is_left_out(task, rc))
                rc = ADSM_OK;
        } else if (set != ADSM_ALL_DEVICES)
            rc = adsm_detail(ADSM_E_INVALID,
                             "the call of kernel '%s' names device %d: there "
                             "are 0 to %d",
                             task->kernel.name, d, there - 1);
    }
    return rc;
}

/* What can only be on one. */
static int place_together(struct adsm_task *task)
{
    if (task->devices == 1)
        return ADSM_OK;
    if (task->kernel.reach == ADSM_ANY_OBJECT)
        return adsm_detail(ADSM_E_INVALID,
                           "kernel '%s' may touch any object, so it runs on "
                           "one device: look it up with ADSM_ONLY_ARGUMENTS "
                           "if it follows no pointers that are stored in "
                           "memory",
                           task->kernel.name);
    if (task->direct) {
        adsm_log_once(ADSM_LOG_INFO,
                      "a call over several devices runs on its first one: it "
                      "has memory that the device shares with the host, of "
                      "which there are no copies");
        task->devices = 1;
    }
    return ADSM_OK;
}

/* ---- parts ------------------------------------------------------------------------ */

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
    task->timed = NULL;
    if (!adsm_task_has_parts(o) && !o->weights && !o->weigh &&
        (task->devices > 1 || task->may_chunk))
        task->timed = adsm_speed_shares(
            task->kernel.speed, task->numbers, task->accels, task->devices,
            adsm_split_indices(&task->range), share);
}

static int split(struct adsm_task *task)
{
    const struct adsm_operand_call about = {task->kernel.name, task->range,
                                            true, task->numbers};
    struct adsm_split how = {.range = task->range,
                             .devices = task->devices,
                             .parts = task->opts.parts,
                             .cyclic = task->opts.cyclic,
                             .align = task->opts.align};
    int grid[3], most = most_parts(&task->opts, task->devices);
    memcpy(how.tile, task->opts.tile, sizeof how.tile);
    share_out(task, how.share);
    adsm_operand_weigh(task->operands, task->operand_count, &how);
    int rc = adsm_borders_make(task, &how);
    if (rc != ADSM_OK)
        return rc;
    task->part_count = -1;
    if (most <= ADSM_SPLIT_PARTS) {
        task->parts =
            adsm_task_get(task, (size_t)most, sizeof *task->parts, "parts");
        if (!task->parts)
            return ADSM_E_NOMEM;
        task->part_count = adsm_split_make(&how, task->parts, grid);
    }
    if (task->part_count < 0)
        return adsm_detail(ADSM_E_INVALID, "kernel '%s' in more than %d parts",
                           about.kernel, ADSM_SPLIT_PARTS);
    return adsm_operand_check(&about, task->operands, task->operand_count,
                              task->parts, task->part_count, grid);
}

/* ---- the way ---------------------------------------------------------------------- */

static bool is_empty(const adsmBox *range)
{
    for (int d = 0; d < range->nd; d++)
        if (range->hi[d] == range->lo[d])
            return true;
    return false;
}

int adsm_task_grid(const struct adsm_task *task, const adsmBox *box,
                   struct adsm_grid *grid)
{
    const adsmOpts *o = &task->opts;
    grid->launch =
        (struct adsm_launch){.shared_bytes = (unsigned)o->shared_bytes};
    return adsm_grid_make(task->kernel.name, box, o->block, o->each, grid);
}

/* The launch that a call of one part is. */
static int make_grid(struct adsm_task *task)
{
    if (task->is_launch)
        return ADSM_OK;
    int rc = adsm_task_grid(task, &task->range, &task->grid);
    if (is_empty(&task->range))
        task->grid.launch.grid[0] = 0; /* arguments are checked all the same */
    return rc;
}

int adsm_task_plan(struct adsm_task *task)
{
    int rc = task->has_opts ? adsm_task_check_direct(task) : ADSM_OK;
    task->whole |= !task->has_opts || task->kernel.reach == ADSM_ANY_OBJECT;
    /* Operands of what is whole are looked at where it is not all at home. */
    if (rc == ADSM_OK)
        rc = task->whole ? make_grid(task) : adsm_task_take(task);
    if (rc == ADSM_OK)
        rc = place(task);
    if (rc == ADSM_OK)
        rc = place_together(task);
    if (rc == ADSM_OK && !task->whole)
        rc = split(task);
    if (rc == ADSM_OK)
        task->state = ADSM_TASK_PLANNED;
    return rc;
}
