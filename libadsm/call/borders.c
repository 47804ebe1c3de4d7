/* Borders of parts; see borders.h. */
#include "call/borders.h"

#include "call/detail.h"

/* ---- what was said ------------------------------------------------------------- */

static bool has_weights(const adsmOpts *o)
{
    return o->weights || o->weigh;
}

static long extent(const adsmBox *range)
{
    return range->hi[0] - range->lo[0];
}

static int check_bounds(const struct adsm_task *task)
{
    const long *b = task->opts.bounds;
    int n = task->opts.parts;
    if (n < 1 || n > ADSM_SPLIT_PARTS)
        return adsm_detail(ADSM_E_INVALID,
                           "a call of kernel '%s' with bounds and %d parts: 1 "
                           "to %d are possible, with a bound more",
                           task->kernel.name, n, ADSM_SPLIT_PARTS);
    if (b[0] != task->range.lo[0] || b[n] != task->range.hi[0])
        return adsm_detail(ADSM_E_INVALID,
                           "bounds of a call of kernel '%s' from %ld to %ld, "
                           "where the range goes from %ld to %ld",
                           task->kernel.name, b[0], b[n], task->range.lo[0],
                           task->range.hi[0]);
    for (int i = 0; i < n; i++)
        if (b[i + 1] < b[i])
            return adsm_detail(ADSM_E_INVALID,
                               "bound %d of a call of kernel '%s' is %ld, "
                               "behind %ld: none is below the one before",
                               i + 1, task->kernel.name, b[i + 1], b[i]);
    return ADSM_OK;
}

int adsm_borders_check(const struct adsm_task *task)
{
    const adsmOpts *o = &task->opts;
    bool tiled = o->tile[0] || o->tile[1] || o->tile[2];
    if (!o->bounds && !has_weights(o))
        return ADSM_OK;
    if (tiled || (o->bounds && has_weights(o)) || (o->weights && o->weigh))
        return adsm_detail(ADSM_E_INVALID,
                           "a call of kernel '%s' with more than one of tile, "
                           "bounds, weights and weigh: one of them says where "
                           "parts begin",
                           task->kernel.name);
    if (o->weights && o->weight_count != extent(&task->range))
        return adsm_detail(ADSM_E_INVALID,
                           "%ld weights for a call of kernel '%s' over %ld "
                           "indices of the outermost dimension: as many",
                           o->weight_count, task->kernel.name,
                           extent(&task->range));
    return o->bounds ? check_bounds(task) : ADSM_OK;
}

/* ---- by weight ------------------------------------------------------------------- */

static double weight_of(const struct adsm_task *task, long index)
{
    const adsmOpts *o = &task->opts;
    return o->weights ? o->weights[index - task->range.lo[0]]
                      : o->weigh(o->weigh_arg, index);
}

/* Of all indices. Negative: one of them is none, which is said. */
static double total_of(const struct adsm_task *task)
{
    double sum = 0;
    for (long i = task->range.lo[0]; i < task->range.hi[0]; i++) {
        double weight = weight_of(task, i);
        if (!(weight >= 0 && weight < 1e300)) {
            (void)adsm_detail(ADSM_E_INVALID,
                              "the weight of index %ld of a call of kernel "
                              "'%s' is %g: numbers from 0 on are possible",
                              i, task->kernel.name, weight);
            return -1;
        }
        sum += weight;
    }
    return sum;
}

/* What of all the work the first `k` of `n` parts have. */
static double wanted(const struct adsm_split *split, int k, int n)
{
    if (n != split->devices)
        return (double)k / n;
    double sum = 0;
    for (int d = 0; d < k; d++)
        sum += split->share[d];
    return sum;
}

/* Where work so far comes nearest to what each part is to have; at multiples of
 * `unit`. */
static void weigh(const struct adsm_task *task, const struct adsm_split *split,
                  double total, long unit, int n, long *border, double *work)
{
    long at = task->range.lo[0], end = task->range.hi[0];
    double sum = 0;
    int made = 0; /* empty ones are no parts */
    for (int k = 0; k < n; k++) {
        double goal = wanted(split, k + 1, n) * total, before = sum;
        border[k] = at;
        while (at < end) {
            long next = at + unit - at % unit;
            double step = 0;
            if (next > end)
                next = end;
            for (long i = at; i < next; i++)
                step += weight_of(task, i);
            /* With more than half of it beyond, the next part has it. */
            if (k + 1 < n && sum + step / 2 > goal)
                break;
            sum += step;
            at = next;
        }
        if (at > border[k])
            work[made++] = sum - before;
    }
    border[n] = end;
}

static int check_unit(const struct adsm_task *task, const long *border, int n,
                      long unit)
{
    for (int k = 1; k < n && unit > 1; k++)
        if (border[k] % unit != 0)
            return adsm_detail(ADSM_E_INVALID,
                               "bound %d of a call of kernel '%s' is %ld: its "
                               "parts begin at multiples of %ld",
                               k, task->kernel.name, border[k], unit);
    return ADSM_OK;
}

int adsm_borders_make(struct adsm_task *task, struct adsm_split *split)
{
    const adsmOpts *o = &task->opts;
    if (!o->bounds && !has_weights(o))
        return ADSM_OK;
    int n = o->parts > 0 ? o->parts : split->devices;
    long unit = adsm_split_common(split->align, split->grain[0]);
    long *border = adsm_task_get(task, (size_t)n + 1, sizeof *border, "bounds");
    double *work = adsm_task_get(task, (size_t)n, sizeof *work, "bounds");
    if (!border || !work)
        return ADSM_E_NOMEM;
    split->borders = border;
    split->parts = n;
    if (o->bounds) {
        for (int k = 0; k <= n; k++)
            border[k] = o->bounds[k];
        return check_unit(task, border, n, unit);
    }
    double total = total_of(task);
    if (total < 0)
        return ADSM_E_INVALID;
    weigh(task, split, total, unit < 1 ? 1 : unit, n, border, work);
    task->work = work;
    return ADSM_OK;
}
