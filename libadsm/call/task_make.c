/* Tasks: what of a call is the program's is copied. */
#include "call/task.h"

#include "call/argument.h"
#include "call/detail.h"
#include "call/given.h"
#include "call/policy.h"

#include <string.h>

/* Of all values: CUDA's limit mostly. */
enum { VALUE_BYTES = 4096, ALIGN = 16 };

void *adsm_task_get(struct adsm_task *task, size_t count, size_t bytes,
                    const char *what)
{
    void *got = adsm_region_get(&task->region, count, bytes);
    if (!got)
        (void)adsm_detail(ADSM_E_NOMEM, "no memory for %zu %s of kernel '%s'",
                          count, what, task->kernel.name);
    return got;
}

/* ---- what is the program's ------------------------------------------------------ */

/* `*at` is to be the task's own. */
static int own(struct adsm_task *task, const void **at, size_t bytes)
{
    void *copy = adsm_task_get(task, bytes, 1, "bytes of an argument");
    if (!copy)
        return ADSM_E_NOMEM;
    *at = memcpy(copy, *at, bytes);
    return ADSM_OK;
}

/* A value, of which the program's may lie in shared memory. `*used` counts. */
static int own_value(struct adsm_task *task, int i, size_t *used)
{
    adsmArg *arg = &task->args[i];
    size_t at = (*used + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (at > VALUE_BYTES || arg->bytes > VALUE_BYTES - at)
        return adsm_detail(ADSM_E_LIMIT,
                           "the arguments of kernel '%s' take more than %d "
                           "bytes",
                           task->kernel.name, VALUE_BYTES);
    *used = at + arg->bytes;
    return arg->how == ADSM_KEPT ? ADSM_OK : own(task, &arg->p, arg->bytes);
}

/* What a pointer's argument points to besides. Without options nobody looks. */
static int own_rest(struct adsm_task *task, adsmArg *arg)
{
    struct adsm_array array;
    const void *text = arg->text;
    int rc = ADSM_OK;
    if (arg->how == ADSM_BOXED && text) {
        rc = own(task, &text, strlen(arg->text) + 1);
        arg->text = text;
    }
    if (arg->how != ADSM_NEAR || arg->edge != ADSM_EDGE_PAD || !arg->extra)
        return rc;
    if (arg->elem == 0 && adsm_spread_array(arg->p, &array) == ADSM_OK)
        arg->elem = array.elem;
    return own(task, &arg->extra, arg->elem);
}

static int own_args(struct adsm_task *task, const adsmArg *args)
{
    size_t used = 0;
    int fixed = adsm_task_fixed(task);
    task->args =
        adsm_task_get(task, (size_t)task->count, sizeof *args, "arguments");
    if (!task->args)
        return ADSM_E_NOMEM;
    int rc = adsm_given_args(task->count, args, task->args);
    for (int i = 0; i < task->count && rc == ADSM_OK; i++) {
        rc = adsm_argument_check(&task->kernel, i, fixed, task->args,
                                 task->count);
        if (rc == ADSM_OK && !task->args[i].mode)
            rc = own_value(task, i, &used);
        else if (rc == ADSM_OK && task->has_opts)
            rc = own_rest(task, &task->args[i]);
    }
    return rc;
}

static int own_opts(struct adsm_task *task)
{
    const void *after = task->opts.after;
    size_t n = (size_t)task->opts.afters;
    int rc = n > 0 ? own(task, &after, n * sizeof(adsmEvent)) : ADSM_OK;
    task->opts.after = after;
    return rc;
}

/* ---- made, freed ------------------------------------------------------------------ */

/* What has to be known of a call before its arguments are read. */
static int check(struct adsm_task *task)
{
    int rc = adsm_grid_check_range(task->kernel.name, &task->range);
    if (rc == ADSM_OK)
        rc = adsm_arguments_check(&task->kernel, task->count,
                                  adsm_task_fixed(task));
    if (rc == ADSM_OK && task->opts.shared_bytes > UINT32_MAX)
        rc = adsm_detail(ADSM_E_INVALID,
                         "a call of kernel '%s' with %zu bytes of shared "
                         "memory for each block: devices count them in 32 bits",
                         task->kernel.name, task->opts.shared_bytes);
    if (rc == ADSM_OK)
        rc = adsm_task_check_options(task);
    if (rc == ADSM_OK &&
        !(task->policy = adsm_policy_of(task->opts.policy, task->kernel.name)))
        rc = ADSM_E_INVALID;
    return rc;
}

/* A task that holds its kernel, and nothing else yet. */
static int begin(const adsmKernel *kernel, const adsmBox *range, int count,
                 struct adsm_task **made)
{
    struct adsm_region region = {NULL, NULL, NULL};
    struct adsm_task *task = adsm_region_get(&region, 1, sizeof *task);
    *made = NULL;
    if (!task)
        return adsm_detail(ADSM_E_NOMEM, "no memory for a call");
    memset(task, 0, offsetof(struct adsm_task, ended.fences));
    task->region = region;
    task->range = *range;
    task->count = count;
    task->device = -1;
    int rc = adsm_kernel_hold(kernel, &task->kernel);
    if (rc == ADSM_OK)
        *made = task;
    else
        adsm_region_end(&region);
    return rc;
}

static int finish(struct adsm_task **made, const adsmArg *args)
{
    struct adsm_task *task = *made;
    int rc = check(task);
    if (rc == ADSM_OK)
        rc = own_opts(task);
    if (rc == ADSM_OK)
        rc = own_args(task, args);
    if (rc != ADSM_OK) {
        adsm_task_free(task);
        *made = NULL;
    }
    return rc;
}

int adsm_task_make(const adsmKernel *kernel, const adsmBox *range,
                   const adsmOpts *opts, int device, int count,
                   const adsmArg *args, struct adsm_task **task)
{
    int rc = begin(kernel, range, count, task);
    if (rc != ADSM_OK)
        return rc;
    (*task)->device = device;
    (*task)->has_opts = opts != NULL;
    if (opts)
        (*task)->opts = *opts;
    return finish(task, args);
}

int adsm_task_make_launch(const adsmKernel *kernel, const unsigned grid[3],
                          const unsigned block[3], size_t shared_bytes,
                          int count, const adsmArg *args,
                          struct adsm_task **task)
{
    int rc = begin(kernel, &adsmR1(1), count, task);
    if (rc != ADSM_OK)
        return rc;
    (*task)->is_launch = true;
    (*task)->opts.shared_bytes = shared_bytes;
    struct adsm_launch *launch = &(*task)->grid.launch;
    memcpy(launch->grid, grid, sizeof launch->grid);
    memcpy(launch->block, block, sizeof launch->block);
    launch->shared_bytes = (unsigned)shared_bytes; /* as it is checked */
    return finish(task, args);
}

int adsm_task_part(const struct adsm_task *whole, int part,
                   struct adsm_task **made)
{
    struct adsm_region region = {NULL, NULL, NULL};
    struct adsm_task *task = adsm_region_get(&region, 1, sizeof *task);
    struct adsm_split_part *box = adsm_region_get(&region, 1, sizeof *box);
    if (!task || !box) {
        adsm_region_end(&region);
        return adsm_detail(ADSM_E_NOMEM, "no memory for part %d of kernel '%s'",
                           part, whole->kernel.name);
    }
    *task = *whole;
    *box = whole->parts[part];
    task->region = region;
    task->is_part = true;
    task->opts.event = NULL;
    task->opts.then = NULL;
    task->opts.progress = NULL;
    task->progress = NULL;
    task->parts = box;
    task->part_count = 1;
    *made = task;
    return ADSM_OK;
}

void adsm_task_free(struct adsm_task *task)
{
    if (!task)
        return;
    if (!task->is_part)
        adsm_kernel_release(&task->kernel);
    adsm_region_end(&task->region);
}
