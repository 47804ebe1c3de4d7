/*
 * Calls of the random test whose arguments name their boxes: several of an
 * argument, such that overlap where they are read, lie far apart, have nothing,
 * or are shorter for the last part. What lies between them may be somebody
 * else's. See live.h.
 */
#include "live_boxed.h"

#include <string.h>

static adsmKernel *map, *near_, *strided, *mirror, *mirror2, *spans;

void live_boxed_begin(void)
{
    map = live_kernel("kernels.ptx", "map", ADSM_ONLY_ARGUMENTS);
    near_ = live_kernel("kernels.ptx", "near", ADSM_ONLY_ARGUMENTS);
    strided = live_kernel("kernels.ptx", "strided", ADSM_ONLY_ARGUMENTS);
    mirror = live_kernel("kernels.ptx", "mirror", ADSM_ONLY_ARGUMENTS);
    mirror2 = live_kernel("kernels.ptx", "mirror2", ADSM_ONLY_ARGUMENTS);
    spans = live_kernel("boxes.ptx", "spans", ADSM_ONLY_ARGUMENTS);
    live_boxed_planes_begin();
}

static adsmBox line(long lo, long hi)
{
    return (adsmBox){1, {lo}, {hi}};
}

/* ---- lines ------------------------------------------------------------------- */

/* y[e] = 3 x[e] + x[k] + i for the elements of index i. The last index has fewer
 * than others, and some behind it none. x may be y where k is not written. */
static bool call_spans(struct live_thread *t)
{
    struct live_array *y = live_pick(t, 1),
                      *x = draw(t, 4) ? live_pick(t, 1) : y;
    if (!x || !y)
        return false;
    adsmBox box = live_box(t, y);
    long per = 1 + draw(t, 1 + (box.hi[0] - box.lo[0]) / (1 + draw(t, 8)));
    long n = box.hi[0], k = draw(t, x->shape.hi[0]);
    adsmBox range =
        line((box.lo[0] + per - 1) / per, (n + per - 1) / per + draw(t, 3));
    box.lo[0] = range.lo[0] * per;
    if (box.lo[0] >= n || (x == y && k >= box.lo[0] && k < n) ||
        !live_boxed_may(t, y, box) || !live_boxed_may(t, x, box) ||
        !live_boxed_may(t, x, line(k, k + 1)))
        return false;
    struct live_way way = live_some_way(t, &range);
    struct live_boxes xs = {.kind = LIVE_SPAN, .a = per, .b = n, .c = k},
                      ys = {.kind = LIVE_SPAN, .a = per, .b = n, .c = -1};
    live_note_call(t, "spans", &way, &range, x, y);
    if (live_way_made(t, &way,
                      adsmCallWith(&way.opts, spans, range,
                                   live_boxed_arg(t, x, ADSM_IN, &xs),
                                   live_boxed_arg(t, y, ADSM_OUT, &ys),
                                   adsmVal(per), adsmVal(n), adsmVal(k)),
                      "spans"))
        for (long e = box.lo[0]; e < n; e++)
            y->flat[e] = 3 * x->flat[e] + x->flat[k] + (int)(e / per);
    return true;
}

/* Surroundings, by a pointer. */
static bool call_around(struct live_thread *t)
{
    struct live_array *x = live_pick(t, 1), *y = live_pick(t, 1);
    int r = (int)draw(t, 20);
    if (!x || !y || x == y)
        return false;
    adsmBox box = live_boxed_both(t, x, y);
    if (!live_boxed_may(t, y, box) ||
        !live_boxed_may(t, x, line(box.lo[0] - r, box.hi[0] + r)))
        return false;
    struct live_way way = live_some_way(t, &box);
    struct live_boxes xs = {.kind = LIVE_AROUND, .a = r, .b = r},
                      ys = {.kind = LIVE_LINE};
    live_note_call(t, "boxed near", &way, &box, x, y);
    if (!live_way_made(t, &way,
                       adsmCallWith(&way.opts, near_, box,
                                    live_boxed_arg(t, x, ADSM_IN, &xs),
                                    live_boxed_arg(t, y, ADSM_OUT, &ys),
                                    adsmVal(r)),
                       "boxed near"))
        return true;
    for (long i = box.lo[0]; i < box.hi[0]; i++) {
        int sum = 0;
        for (long k = -r; k <= r; k++)
            sum += (int)(k + r + 1) * x->flat[i + k];
        y->flat[i] = sum;
    }
    return true;
}

/* Where every a-th element lies, from b on. */
static adsmBox hull(const adsmBox *range, long a, long b)
{
    long first = a * range->lo[0] + b, last = a * (range->hi[0] - 1) + b;
    return first < last ? line(first, last + 1) : line(last, first + 1);
}

static void draw_steps(struct live_thread *t, const struct live_array *a,
                       const adsmBox *range, struct live_boxes *by)
{
    by->a = 1 + draw(t, 4);
    by->b = draw(t, 20) - by->a * range->lo[0];
    by->kind = LIVE_FORWARDS;
    if (draw(t, 2)) {
        by->kind = LIVE_BACKWARDS;
        by->b = a->shape.hi[0] - 1 - by->b;
        by->a = -by->a;
    }
}

/* Elements between those that are written stay as they are. */
static bool call_strided(struct live_thread *t)
{
    struct live_array *x = live_pick(t, 1), *y = live_pick(t, 1);
    if (!x || !y || x == y)
        return false;
    adsmBox box = live_box(t, y);
    box.hi[0] = box.lo[0] + 1 + (box.hi[0] - box.lo[0] - 1) / 4;
    struct live_boxes xs = {0}, ys = {0};
    draw_steps(t, x, &box, &xs);
    draw_steps(t, y, &box, &ys);
    if (!live_boxed_may(t, x, hull(&box, xs.a, xs.b)) ||
        !live_boxed_may(t, y, hull(&box, ys.a, ys.b)))
        return false;
    struct live_way way = live_some_way(t, &box);
    live_note_call(t, "strided", &way, &box, x, y);
    if (live_way_made(t, &way,
                      adsmCallWith(&way.opts, strided, box,
                                   live_boxed_arg(t, x, ADSM_IN, &xs),
                                   live_boxed_arg(t, y, ADSM_INOUT, &ys),
                                   adsmVal(ys.a), adsmVal(ys.b), adsmVal(xs.a),
                                   adsmVal(xs.b)),
                      "strided"))
        for (long i = box.lo[0]; i < box.hi[0]; i++)
            y->flat[ys.a * i + ys.b] += 3 * x->flat[xs.a * i + xs.b] + (int)i;
    return true;
}

static void mirror_one(int *left, int *right)
{
    int kept = *left;
    *left = 2 * *right;
    *right = kept + 5;
}

/* Both ends of a line, or of rows, are each other's. */
static bool call_mirror(struct live_thread *t, int nd)
{
    struct live_array *y = live_pick(t, nd);
    if (!y || y->shape.hi[nd - 1] < 2)
        return false;
    adsmBox box = live_box(t, y);
    long n = y->shape.hi[nd - 1];
    if (box.hi[nd - 1] > n / 2) {
        box.lo[nd - 1] = 0;
        box.hi[nd - 1] = 1 + draw(t, n / 2);
    }
    adsmBox other = box;
    other.lo[nd - 1] = n - box.hi[nd - 1];
    other.hi[nd - 1] = n - box.lo[nd - 1];
    if (!live_boxed_may(t, y, box) || !live_boxed_may(t, y, other))
        return false;
    struct live_way way = live_some_way(t, &box);
    struct live_boxes ys = {.kind = nd == 1 ? LIVE_ENDS : LIVE_ENDS_OF_ROWS,
                            .a = n};
    live_note_call(t, "mirror", &way, &box, y, y);
    if (!live_way_made(t, &way,
                       adsmCallWith(&way.opts, nd == 1 ? mirror : mirror2, box,
                                    live_boxed_arg(t, y, ADSM_INOUT, &ys),
                                    adsmVal(n)),
                       "mirror"))
        return true;
    for (long r = nd == 1 ? 0 : box.lo[0]; r < (nd == 1 ? 1 : box.hi[0]); r++)
        for (long i = box.lo[nd - 1]; i < box.hi[nd - 1]; i++)
            mirror_one(&y->flat[r * n + i], &y->flat[r * n + n - 1 - i]);
    return true;
}

/* ---- what is refused, and changes nothing --------------------------------------- */

/* Is the message there, and was nothing made? */
static void refused(struct live_thread *t, const struct live_way *way,
                    int status, const char *words)
{
    live_follow_made(t, &way->opts, status);
    if (status != ADSM_E_INVALID || !strstr(adsmErrorDetail(), words))
        live_stop("%s, '%s': expected '%s'", adsmErrorName(status),
                  adsmErrorDetail(), words);
}

/* Each part writes one element of the next, or of the one before: of one part
 * that is no mistake. Or a box lies behind the array. */
static bool call_neighbours(struct live_thread *t)
{
    struct live_array *x = live_pick(t, 1), *y = live_pick(t, 1);
    int a = (int)draw(t, 1000);
    if (!x || !y || x == y)
        return false;
    adsmBox box = live_boxed_both(t, x, y);
    bool beyond = draw(t, 3) == 0;
    long before = draw(t, 2), behind = 1 - before;
    if (!live_boxed_may(t, x, box) ||
        !live_boxed_may(t, y, line(box.lo[0] - before, box.hi[0] + behind)))
        return false;
    if (beyond)
        behind = y->shape.hi[0] - box.hi[0] + 1;
    struct live_way way = live_some_way(t, &box);
    struct live_boxes xs = {.kind = LIVE_LINE},
                      ys = {.kind = LIVE_AROUND, .a = before, .b = behind};
    live_note_call(t, "neighbours", &way, &box, x, y);
    int status =
        adsmCallWith(&way.opts, map, box, live_boxed_arg(t, x, ADSM_IN, &xs),
                     live_boxed_arg(t, y, ADSM_INOUT, &ys), adsmVal(a));
    if (beyond)
        refused(t, &way, status, "its array from 0 to");
    else if (status == ADSM_E_INVALID && !way.bad)
        refused(t, &way, status, "would write the same bytes of argument 1");
    else if (live_way_made(t, &way, status, "neighbours"))
        for (long i = box.lo[0]; i < box.hi[0]; i++)
            y->flat[i] += 2 * x->flat[i] + a;
    return true;
}

/* ---- any of them ---------------------------------------------------------------- */

static bool call_one(struct live_thread *t, int kind)
{
    switch (kind) {
    case 0:
        return call_spans(t);
    case 1:
        return call_around(t);
    case 2:
        return call_strided(t);
    case 3:
    case 4:
        return call_mirror(t, kind - 2);
    case 5:
        return call_neighbours(t);
    default:
        return live_boxed_planes(t, kind - 6);
    }
}

/* Most arrays are not as a kind needs them. */
void live_boxed(struct live_thread *t)
{
    int kind = (int)draw(t, 6 + LIVE_BOXED_PLANES);
    for (int i = 0; i < 6 && !call_one(t, kind); i++)
        live_let_all_go(t);
}
