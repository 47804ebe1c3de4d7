/*
 * Medians and comparisons. See compare.h.
 */
#include "runner/compare.h"

#include <stdlib.h>
#include <string.h>

#include "runner/show.h"

typedef double time_of(const struct result *result);

static double seconds_of(const struct result *result)
{
    return result->seconds;
}

static double used_of(const struct result *result)
{
    return result->used_s;
}

static double before_of(const struct result *result)
{
    return result->before_s;
}

static double work_of(const struct result *result)
{
    return result->work_s;
}

static double after_of(const struct result *result)
{
    return result->after_s;
}

static int double_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, double_compare);
    return values[count / 2];
}

/* What the runtime moved and what the program copied by itself, into constant
 * memory even where it is preloaded, is all there is. A device counts what goes
 * to or comes from another one as it counts what the host sends and gets. */
static bool bytes_add_up(const struct plan_form *form,
                         const struct result *result)
{
    if (!result->device || form->copies)
        return true;
    uint64_t up = result->bytes_up + result->tried_up + result->copied_up +
                  result->bytes_peer;
    uint64_t down = result->bytes_down + result->tried_down +
                    result->copied_down + result->bytes_peer;
    return up == result->device_up && down == result->device_down;
}

/* Whether every round of a case came to its end. */
static bool all_good(const struct plan *plan, const struct show_case *which)
{
    for (int i = 0; i < plan->reps; i++)
        if (!which->results[i].good)
            return false;
    return true;
}

/* Median of a time over all rounds; least and most where they are asked for. */
static double rounds_time(const struct plan *plan, const struct show_case *of,
                          time_of *get, double *min, double *max)
{
    double times[PLAN_REPS_MAX];
    for (int i = 0; i < plan->reps; i++)
        times[i] = get(&of->results[i]);
    double median = median_of(times, plan->reps);
    if (min)
        *min = times[0];
    if (max)
        *max = times[plan->reps - 1];
    return median;
}

/* Median of what each round has over another case's; 0: none. */
static double rounds_ratio(const struct plan *plan, const struct show_case *of,
                           const struct show_case *against, time_of *get)
{
    double ratios[PLAN_REPS_MAX];
    for (int i = 0; i < plan->reps; i++) {
        double base = get(&against->results[i]);
        if (base <= 0)
            return 0;
        ratios[i] = get(&of->results[i]) / base;
    }
    return median_of(ratios, plan->reps);
}

/* The better one by hand by this time, or the first case; NULL when what there
 * is did not run well. */
static const struct show_case *base_find(const struct plan *plan,
                                         const struct show_case *cases,
                                         int count, time_of *get)
{
    const struct show_case *best = NULL;
    double least = 0;
    for (int i = 0; i < count; i++) {
        if (!cases[i].form->by_hand || !all_good(plan, &cases[i]))
            continue;
        double time = rounds_time(plan, &cases[i], get, NULL, NULL);
        if (best && time >= least)
            continue;
        best = &cases[i];
        least = time;
    }
    return best ? best : all_good(plan, &cases[0]) ? &cases[0] : NULL;
}

static struct compare_time compare_one(const struct plan *plan,
                                       const struct show_case *cases, int count,
                                       const struct show_case *of, time_of *get)
{
    struct compare_time time = {0};
    time.median = rounds_time(plan, of, get, &time.min, &time.max);
    time.against = base_find(plan, cases, count, get);
    if (time.against)
        time.ratio = rounds_ratio(plan, of, time.against, get);
    return time;
}

/* The round that took the median time. */
static const struct result *
median_round(const struct plan *plan, const struct show_case *of, double median)
{
    for (int i = 0; i < plan->reps; i++)
        if (of->results[i].seconds == median)
            return &of->results[i];
    return &of->results[0];
}

struct summary compare_case(const struct plan *plan,
                            const struct show_case *cases, int count, int which)
{
    const struct show_case *of = &cases[which];
    struct summary summary = {.same = true, .bytes_add_up = true};
    for (int i = 0; i < plan->reps; i++) {
        const struct result *result = &of->results[i];
        if (!result->good && !summary.result)
            summary.result = result;
        summary.same = summary.same &&
                       strcmp(result->digest, cases->results[0].digest) == 0;
        summary.bytes_add_up =
            summary.bytes_add_up && bytes_add_up(of->form, result);
    }
    if (summary.result)
        return summary;
    summary.seconds = compare_one(plan, cases, count, of, seconds_of);
    summary.work = compare_one(plan, cases, count, of, work_of);
    summary.whole = compare_one(plan, cases, count, of, result_whole_s);
    summary.before = rounds_time(plan, of, before_of, NULL, NULL);
    summary.after = rounds_time(plan, of, after_of, NULL, NULL);
    rounds_time(plan, of, used_of, &summary.used_min, NULL);
    if (all_good(plan, cases)) {
        summary.paired = rounds_ratio(plan, of, cases, seconds_of);
        summary.used_paired = rounds_ratio(plan, of, cases, used_of);
    }
    summary.result = median_round(plan, of, summary.seconds.median);
    return summary;
}
