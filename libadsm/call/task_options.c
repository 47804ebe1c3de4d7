/* What a call's options ask for, and what is set from outside. */
#include "base/option.h"
#include "mm/state/direct.h"
#include "call/borders.h"
#include "call/chunks.h"
#include "call/detail.h"
#include "call/task.h"

#include <string.h>

int adsm_task_check_options(const struct adsm_task *task)
{
    const adsmOpts *o = &task->opts;
    const char *name = task->kernel.name;
    if (o->parts < 0 || o->align < 0 || o->afters < 0)
        return adsm_detail(ADSM_E_INVALID,
                           "a call of kernel '%s' with %d parts, aligned to "
                           "%ld, after %d events: 0 or more are possible",
                           name, o->parts, o->align, o->afters);
    if (o->chunks < 0 || o->chunks > ADSM_CHUNKS)
        return adsm_detail(ADSM_E_INVALID,
                           "a call of kernel '%s' in %d chunks: 0 to %d are "
                           "possible",
                           name, o->chunks, ADSM_CHUNKS);
    int borders = adsm_borders_check(task);
    if (borders != ADSM_OK)
        return borders;
    if (o->afters > 0 && !o->after)
        return adsm_detail(ADSM_E_INVALID,
                           "a call of kernel '%s' after %d events and no "
                           "array of them",
                           name, o->afters);
    for (int d = 0; d < 3; d++) {
        if (o->each[d] < 0)
            return adsm_detail(ADSM_E_INVALID,
                               "a call of kernel '%s' with %ld indices for "
                               "each thread: 0 or more are possible",
                               name, o->each[d]);
        if (o->tile[d] < 0 || (o->tile[d] > 0 && d >= task->range.nd))
            return adsm_detail(ADSM_E_INVALID,
                               "a tile of %ld in dimension %d of a range of "
                               "%d: 0 or more in those that it has",
                               o->tile[d], d, task->range.nd);
        if (o->tile[d] > 0 && o->parts > 0)
            return adsm_detail(ADSM_E_INVALID,
                               "a call of kernel '%s' with %d parts and with "
                               "tiles: one of them says how many",
                               name, o->parts);
    }
    return ADSM_OK;
}

void adsm_call_override(adsmOpts *opts)
{
    const struct adsm_options *from = adsm_options_get();
    int there = adsm_accel_devices();
    if (from->call_devices > 0) {
        int n =
            (int)from->call_devices < there ? (int)from->call_devices : there;
        opts->devices = n >= 32 ? ADSM_ALL_DEVICES : (UINT32_C(1) << n) - 1;
    }
    if (from->chunks > 0)
        opts->chunks = (int)from->chunks;
    if (from->parts > 0 && !opts->bounds) {
        opts->parts = (int)from->parts;
        memset(opts->tile, 0, sizeof opts->tile);
    }
}

/* Memory that all share is used where it is, by all parts, so those of a call
 * that is given any are on one device: elsewhere parts that read what others
 * write are kept apart by their copies. An edge is made in a copy, too, and so
 * is what parts accumulate. */
int adsm_task_check_direct(struct adsm_task *task)
{
    for (int i = 0; i < task->count; i++) {
        const adsmArg *arg = &task->args[i];
        if (!arg->mode || adsm_direct_bytes(arg->p) == 0)
            continue;
        task->direct = true;
        task->whole |= adsm_operand_is_copied(arg);
        if (arg->how == ADSM_NEAR && arg->edge != ADSM_EDGE_NONE)
            return adsm_detail(
                ADSM_E_UNSUPPORTED,
                "argument %d of kernel '%s' has an edge, which is made in a "
                "copy, and is memory that the device shares with the host, of "
                "which there is none: allocate that array with adsmAllocArray",
                i, task->kernel.name);
    }
    return ADSM_OK;
}
