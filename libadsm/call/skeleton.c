/* Passes, and what is folded by them. */
#include "call/skeleton.h"

#include "base/region.h"
#include "call/argument.h"
#include "call/detail.h"
#include "call/given.h"
#include "call/kernel.h"
#include "call/skeleton_parts.h"
#include "call/split.h"

#include <string.h>

enum { CHUNK = ADSM_FOLD_CHUNK, FEW = ADSM_FOLD_FEW, MOST_Y = 65535 };

/* ---- passes ------------------------------------------------------------------- */

int adsm_skeleton_pass(struct adsm_skeleton *skeleton, adsmKernel *kernel,
                       const struct adsm_pass *pass, int count,
                       const adsmArg *args)
{
    adsmOpts o = *skeleton->opts;
    memcpy(o.each, pass->each, sizeof o.each);
    memcpy(o.block, pass->block, sizeof o.block);
    o.shared_bytes = 0;
    if (o.align >= 0) /* else the call says what is wrong with it */
        o.align = adsm_split_common(o.align, pass->align);
    if (skeleton->begun) {
        /* Behind what it reads, and its range is another. */
        o.after = NULL;
        o.afters = o.parts = 0;
        o.align = pass->align;
        o.progress = NULL; /* it is that of the first */
        memset(o.tile, 0, sizeof o.tile);
    }
    if (!pass->last) {
        o.event = NULL;
        o.then = NULL;
        o.sync =
            o.sync && o.progress; /* which tells nothing when all has ended */
    }
    skeleton->begun = true;
    return adsmCallRangeV(kernel, pass->range, &o, count, args);
}

int adsm_skeleton_operator(struct adsm_skeleton *skeleton,
                           enum adsm_operator_kernel which,
                           const struct adsm_pass *pass, int count,
                           const adsmArg *args)
{
    adsmKernel *kernel;
    int rc = adsm_operator_kernel(skeleton->op, which, &kernel);
    return rc == ADSM_OK
               ? adsm_skeleton_pass(skeleton, kernel, pass, count, args)
               : rc;
}

int adsm_skeleton_scratch(struct adsm_skeleton *skeleton, adsmBox shape,
                          void **array)
{
    int rc;
    struct adsm_scratch *s =
        adsm_scratch_take(adsm_operator_bytes(skeleton->op), shape, &rc);
    if (s) {
        skeleton->scratch[skeleton->count++] = s;
        *array = s->array;
    }
    return rc;
}

int adsm_skeleton_end(struct adsm_skeleton *skeleton, int rc)
{
    while (skeleton->count > 0)
        adsm_scratch_give(skeleton->scratch[--skeleton->count]);
    return rc;
}

adsmArg adsm_skeleton_array(const struct adsm_skeleton *skeleton,
                            const void *array, adsmMode mode)
{
    return (adsmArg){
        .p = array, .mode = mode, .elem = adsm_operator_bytes(skeleton->op)};
}

static adsmBox line(long lo, long hi)
{
    return (adsmBox){1, {lo}, {hi}};
}

/* Chunks, or groups of FEW, up to a bound. */
static long chunks(long hi, long chunk)
{
    return hi / chunk + (hi % chunk > 0);
}

int adsm_skeleton_fold(struct adsm_skeleton *skeleton, const void *in, long lo,
                       long hi, int rows, void *out, bool last)
{
    long chunk = (long)rows * ADSM_FOLD_ROW;
    const struct adsm_pass pass = {.range = line(lo, hi),
                                   .each = {chunk / ADSM_FOLD_LANES},
                                   .block = {256, 1, 1},
                                   .last = last};
    const adsmArg args[] = {
        adsm_skeleton_array(skeleton, in, ADSM_IN),
        adsmPer(adsm_skeleton_array(skeleton, out, ADSM_OUT), chunk, 0, 0),
        adsmVal(rows)};
    return adsm_skeleton_operator(skeleton, ADSM_OPERATOR_FOLD, &pass, 3, args);
}

/* The identity in [lo, hi). */
static int fill_none(struct adsm_skeleton *skeleton, long lo, long hi,
                     void *result)
{
    const struct adsm_pass pass = {.range = line(lo, hi), .last = true};
    const adsmArg out = adsm_skeleton_array(skeleton, result, ADSM_OUT);
    adsmOpts o = *skeleton->opts;
    memset(o.tile, 0, sizeof o.tile); /* they are of another range */
    skeleton->opts = &o;
    int rc =
        adsm_skeleton_operator(skeleton, ADSM_OPERATOR_NONE, &pass, 1, &out);
    skeleton->opts = NULL;
    return rc;
}

/* ---- one value ------------------------------------------------------------------ */

/* Chunks of [lo, hi), then chunks of their results, until there is one. */
static int fold_all(struct adsm_skeleton *skeleton, const void *in, long lo,
                    long hi, void *result)
{
    while (hi > CHUNK) {
        void *out = NULL;
        long next = chunks(hi, CHUNK);
        int rc = adsm_skeleton_scratch(skeleton, adsmR1(next), &out);
        if (rc == ADSM_OK)
            rc = adsm_skeleton_fold(skeleton, in, lo, hi, ADSM_FOLD_ROWS, out,
                                    false);
        if (rc != ADSM_OK)
            return rc;
        in = out;
        lo /= CHUNK;
        hi = next;
    }
    return adsm_skeleton_fold(skeleton, in, lo, hi, ADSM_FOLD_ROWS, result,
                              true);
}

/* ---- rows and columns ------------------------------------------------------------- */

/* Of each of `many` blocks in y, so that the grid is not too high. */
static long each_of(long indices, long block)
{
    return chunks(indices, MOST_Y * block);
}

static int fold_rows(struct adsm_skeleton *skeleton, const void *in,
                     const adsmBox *range, void *out)
{
    const int rows = ADSM_FOLD_ROWS;
    long high = range->hi[0] - range->lo[0];
    const struct adsm_pass pass = {
        .range = *range,
        .each = {each_of(high, 8), CHUNK / ADSM_FOLD_LANES},
        .block = {ADSM_FOLD_LANES, 8, 1}};
    const adsmArg args[] = {
        adsmView(adsm_skeleton_array(skeleton, in, ADSM_IN)),
        adsmView(
            adsmPer(adsm_skeleton_array(skeleton, out, ADSM_OUT), 0, CHUNK, 0)),
        adsmVal(rows)};
    return adsm_skeleton_operator(skeleton, ADSM_OPERATOR_ROWS, &pass, 3, args);
}

static int fold_columns(struct adsm_skeleton *skeleton, const void *in,
                        const adsmBox *range, void *out)
{
    long high = range->hi[0] - range->lo[0];
    const struct adsm_pass pass = {.range = *range,
                                   .each = {FEW * each_of(high, FEW * 8), 1},
                                   .block = {ADSM_FOLD_LANES, 8, 1}};
    const adsmArg args[] = {
        adsmView(adsm_skeleton_array(skeleton, in, ADSM_IN)),
        adsmView(
            adsmPer(adsm_skeleton_array(skeleton, out, ADSM_OUT), FEW, 0, 0))};
    return adsm_skeleton_operator(skeleton, ADSM_OPERATOR_COLUMNS, &pass, 2,
                                  args);
}

/* What is left of a row or a column, at most FEW, to `result`. */
static int fold_last(struct adsm_skeleton *skeleton, adsmArg in,
                     const adsmBox *few, int keep, void *result, bool last)
{
    int across = 1 - keep;
    long pitch = few->hi[1];
    long next = keep == 0 ? pitch : 1, far = keep == 0 ? 1 : pitch;
    const struct adsm_pass pass = {.range = line(few->lo[keep], few->hi[keep]),
                                   .last = last};
    const adsmArg args[] = {in,
                            adsm_skeleton_array(skeleton, result, ADSM_OUT),
                            adsmVal(few->lo[across]),
                            adsmVal(few->hi[across]),
                            adsmVal(next),
                            adsmVal(far)};
    return adsm_skeleton_operator(skeleton, ADSM_OPERATOR_LAST, &pass, 6, args);
}

/* One value of each row (keep 0) or column (1) of the range. */
static int fold_across(struct adsm_skeleton *skeleton, const void *in,
                       const adsmBox *range, int keep, void *result, bool last)
{
    adsmBox rest = *range;
    int across = 1 - keep;
    long chunk = keep == 0 ? CHUNK : FEW;
    bool first = true;
    while (first || rest.hi[across] > FEW) {
        void *out = NULL;
        adsmBox next = rest;
        next.lo[across] = rest.lo[across] / chunk;
        next.hi[across] = chunks(rest.hi[across], chunk);
        int rc = adsm_skeleton_scratch(skeleton, adsmR2(next.hi[0], next.hi[1]),
                                       &out);
        if (rc == ADSM_OK)
            rc = keep == 0 ? fold_rows(skeleton, in, &rest, out)
                           : fold_columns(skeleton, in, &rest, out);
        if (rc != ADSM_OK)
            return rc;
        in = out;
        rest = next;
        first = false;
    }
    adsmArg few = adsm_skeleton_array(skeleton, in, ADSM_IN);
    if (keep == 1)
        few.how = ADSM_WHOLE; /* its columns are not a range's elements */
    return fold_last(skeleton, few, &rest, keep, result, last);
}

/* ---- reduce ------------------------------------------------------------------------ */

static int check_keep(const adsmBox *range, int keep)
{
    if (range->nd < 1 || range->nd > 2)
        return adsm_detail(ADSM_E_INVALID,
                           "a range of %d dimensions to reduce; 1 or 2 are "
                           "possible: adsmR1, adsmR2",
                           range->nd);
    for (int d = 0; d < range->nd; d++)
        if (range->lo[d] < 0 || range->hi[d] < range->lo[d])
            return adsm_detail(ADSM_E_INVALID,
                               "a range from %ld to %ld in dimension %d: from "
                               "0 on, and upwards",
                               range->lo[d], range->hi[d], d);
    if (keep < -1 || keep > 1 || (keep >= 0 && range->nd != 2))
        return adsm_detail(ADSM_E_INVALID,
                           "keep %d of a range of %d dimensions: -1 for one "
                           "value, of 2 also 0 for one of each row and 1 of "
                           "each column",
                           keep, range->nd);
    return ADSM_OK;
}

static int check_reduce(const struct adsm_skeleton *skeleton, void *result,
                        const void *in, const adsmBox *range, int keep)
{
    int rc = adsm_operator_check(skeleton->op);
    if (rc == ADSM_OK)
        rc = check_keep(range, keep);
    if (rc == ADSM_OK)
        rc = adsm_skeleton_check_in(skeleton, in, range);
    if (rc != ADSM_OK)
        return rc;
    long count = keep < 0 ? 1 : range->hi[keep];
    rc = adsm_skeleton_check_result(skeleton, "result", result, count);
    return rc == ADSM_OK ? adsm_skeleton_check_apart(skeleton, in, range,
                                                     "result", result, count)
                         : rc;
}

static int reduce(struct adsm_skeleton *skeleton, void *result, const void *in,
                  const adsmBox *range, int keep)
{
    bool empty = range->lo[0] == range->hi[0] ||
                 (range->nd == 2 && range->lo[1] == range->hi[1]);
    void *rows = NULL;
    if (empty)
        return keep < 0 ? fill_none(skeleton, 0, 1, result)
                        : fill_none(skeleton, range->lo[keep], range->hi[keep],
                                    result);
    if (range->nd == 1)
        return fold_all(skeleton, in, range->lo[0], range->hi[0], result);
    if (keep >= 0)
        return fold_across(skeleton, in, range, keep, result, true);
    int rc = adsm_skeleton_scratch(skeleton, adsmR1(range->hi[0]), &rows);
    if (rc == ADSM_OK)
        rc = fold_across(skeleton, in, range, 0, rows, false);
    return rc == ADSM_OK
               ? fold_all(skeleton, rows, range->lo[0], range->hi[0], result)
               : rc;
}

int adsm_reduce(const adsmOperator *op, void *result, const void *in,
                const adsmBox *range, int keep, const adsmOpts *opts)
{
    struct adsm_skeleton skeleton = {.op = op, .opts = opts};
    int rc = check_reduce(&skeleton, result, in, range, keep);
    if (rc == ADSM_OK)
        rc = reduce(&skeleton, result, in, range, keep);
    return adsm_skeleton_end(&skeleton, rc);
}

/* ---- map and reduce ------------------------------------------------------------------ */

/* Behind its arguments the map has one more. */
static int check_map_count(const adsmKernel *map, int count)
{
    struct adsm_kernel_view view;
    if (count < 0 || count >= ADSM_KERNEL_PARAMETERS)
        return adsm_detail(ADSM_E_INVALID,
                           "%d arguments of a map; 0 to %d are possible", count,
                           ADSM_KERNEL_PARAMETERS - 1);
    int rc = adsm_kernel_hold(map, &view);
    if (rc != ADSM_OK)
        return rc;
    rc = adsm_arguments_check(&view, count + 1, 2);
    adsm_kernel_release(&view);
    return rc;
}

static int check_map(const struct adsm_skeleton *skeleton,
                     const adsmKernel *map, const adsmBox *range, int count,
                     const void *result)
{
    if (range->nd != 1)
        return adsm_detail(ADSM_E_INVALID,
                           "a range of %d dimensions to map and reduce; 1 is "
                           "possible: adsmR1",
                           range->nd);
    int rc = check_map_count(map, count);
    if (rc == ADSM_OK)
        rc = check_keep(range, -1);
    return rc == ADSM_OK
               ? adsm_skeleton_check_result(skeleton, "result", result, 1)
               : rc;
}

/* The map's own kernel is the first pass: behind its arguments it has what a
 * fold writes. */
static int map(struct adsm_skeleton *skeleton, adsmKernel *kernel,
               const adsmBox *range, int count, const adsmArg *args, void *out,
               bool last)
{
    struct adsm_region region = {NULL, NULL, NULL};
    adsmArg *all = adsm_region_get(&region, (size_t)count + 1, sizeof *all);
    const struct adsm_pass pass = {.range = *range,
                                   .each = {CHUNK / ADSM_FOLD_LANES},
                                   .block = {256, 1, 1},
                                   .last = last};
    if (!all)
        return adsm_detail(ADSM_E_NOMEM, "no memory for %d arguments", count);
    int rc = adsm_given_args(count, args, all);
    all[count] =
        adsmPer(adsm_skeleton_array(skeleton, out, ADSM_OUT), CHUNK, 0, 0);
    if (rc == ADSM_OK)
        rc = adsm_skeleton_pass(skeleton, kernel, &pass, count + 1, all);
    adsm_region_end(&region);
    return rc;
}

static int map_reduce(struct adsm_skeleton *skeleton, adsmKernel *kernel,
                      const adsmBox *range, int count, const adsmArg *args,
                      void *result)
{
    void *out = NULL;
    if (range->lo[0] == range->hi[0])
        return fill_none(skeleton, 0, 1, result);
    if (range->hi[0] <= CHUNK)
        return map(skeleton, kernel, range, count, args, result, true);
    long hi = chunks(range->hi[0], CHUNK);
    int rc = adsm_skeleton_scratch(skeleton, adsmR1(hi), &out);
    if (rc == ADSM_OK)
        rc = map(skeleton, kernel, range, count, args, out, false);
    return rc == ADSM_OK
               ? fold_all(skeleton, out, range->lo[0] / CHUNK, hi, result)
               : rc;
}

int adsm_map_reduce(adsmKernel *kernel, void *result, const adsmBox *range,
                    const adsmOpts *opts, int count, const adsmArg *args)
{
    struct adsm_skeleton skeleton = {.opts = opts};
    int rc = adsm_operator_of_map(kernel, &skeleton.op);
    if (rc == ADSM_OK)
        rc = check_map(&skeleton, kernel, range, count, result);
    if (rc == ADSM_OK)
        rc = map_reduce(&skeleton, kernel, range, count, args, result);
    return adsm_skeleton_end(&skeleton, rc);
}
