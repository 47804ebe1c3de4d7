/* Calls of the random test with boxes of planes and cubes; see live_boxed.h. */
#include "live_boxed.h"

static adsmKernel *product, *rows, *floyd, *cube, *crossed;

void live_boxed_planes_begin(void)
{
    product = live_kernel("kernels.ptx", "product", ADSM_ONLY_ARGUMENTS);
    rows = live_kernel("kernels.ptx", "rows", ADSM_ONLY_ARGUMENTS);
    floyd = live_kernel("kernels.ptx", "floyd", ADSM_ONLY_ARGUMENTS);
    cube = live_kernel("kernels.ptx", "cube", ADSM_ONLY_ARGUMENTS);
    crossed = live_kernel("boxes.ptx", "crossed", ADSM_ONLY_ARGUMENTS);
}

static adsmBox plane(long y0, long y1, long x0, long x1)
{
    return (adsmBox){2, {y0, x0}, {y1, x1}};
}

static int *at2(const struct live_array *a, long y, long x)
{
    return &a->flat[y * a->shape.hi[1] + x];
}

/* Three boxes of one argument, in a copy that has room for what is between. */
static bool call_crossed(struct live_thread *t)
{
    struct live_array *u = live_pick(t, 2), *w = live_pick(t, 2);
    if (!u || !w || u == w)
        return false;
    adsmBox b = live_boxed_both(t, u, w);
    long k = draw(t, u->shape.hi[0]), l = draw(t, u->shape.hi[1]);
    if (!live_boxed_may(t, u, b) || !live_boxed_may(t, w, b) ||
        !live_boxed_may(t, u, plane(k, k + 1, b.lo[1], b.hi[1])) ||
        !live_boxed_may(t, u, plane(b.lo[0], b.hi[0], l, l + 1)))
        return false;
    struct live_way way = live_some_way(t, &b);
    struct live_boxes us = {.kind = LIVE_CROSSED, .a = k, .b = l},
                      ws = {.kind = LIVE_PLANE};
    live_note_call(t, "crossed", &way, &b, u, w);
    if (!live_way_made(t, &way,
                       adsmCallWith(&way.opts, crossed, b,
                                    live_boxed_arg(t, u, ADSM_IN, &us),
                                    live_boxed_arg(t, w, ADSM_OUT, &ws),
                                    adsmVal(k), adsmVal(l)),
                       "crossed"))
        return true;
    for (long y = b.lo[0]; y < b.hi[0]; y++)
        for (long x = b.lo[1]; x < b.hi[1]; x++)
            *at2(w, y, x) =
                3 * *at2(u, y, x) + 5 * *at2(u, k, x) + *at2(u, y, l);
    return true;
}

static bool call_product(struct live_thread *t)
{
    struct live_array *a = live_pick(t, 2), *b = live_pick(t, 2),
                      *c = live_pick(t, 2);
    long n = 1 + draw(t, 6);
    if (!a || !b || !c || a == c || b == c)
        return false;
    adsmBox box = live_box(t, c);
    if (!live_boxed_may(t, c, box) ||
        !live_boxed_may(t, a, plane(box.lo[0], box.hi[0], 0, n)) ||
        !live_boxed_may(t, b, plane(0, n, box.lo[1], box.hi[1])))
        return false;
    struct live_way way = live_some_way(t, &box);
    struct live_boxes as = {.kind = LIVE_LEFT, .a = n},
                      bs = {.kind = LIVE_TOP, .a = n},
                      cs = {.kind = LIVE_PLANE};
    live_note_call(t, "product", &way, &box, a, c);
    if (!live_way_made(t, &way,
                       adsmCallWith(&way.opts, product, box,
                                    live_boxed_arg(t, a, ADSM_IN, &as),
                                    live_boxed_arg(t, b, ADSM_IN, &bs),
                                    live_boxed_arg(t, c, ADSM_OUT, &cs),
                                    adsmVal(n)),
                       "product"))
        return true;
    for (long y = box.lo[0]; y < box.hi[0]; y++)
        for (long x = box.lo[1]; x < box.hi[1]; x++) {
            int sum = 0;
            for (long k = 0; k < n; k++)
                sum += *at2(a, y, k) * *at2(b, k, x);
            *at2(c, y, x) = sum;
        }
    return true;
}

/* By pointers: copies have whole rows, of which the boxes are used. */
static bool call_boxed_rows(struct live_thread *t)
{
    struct live_array *u = live_pick(t, 2), *w = live_pick(t, 2);
    static const int column[3] = {1, 0, 0};
    if (!u || !w || u == w)
        return false;
    long ny = u->shape.hi[0], nx = u->shape.hi[1];
    adsmBox box = live_box(t, u);
    if (!live_shape_rows(w, nx) || live_foreign(t, u, &box, column) ||
        !live_boxed_may(t, w, box))
        return false;
    struct live_way way = live_some_way(t, &box);
    way.opts.tile[1] = 0;
    struct live_boxes us = {.kind = LIVE_ROWS}, ws = {.kind = LIVE_PLANE};
    live_note_call(t, "boxed rows", &way, &box, u, w);
    if (!live_way_made(t, &way,
                       adsmCallWith(&way.opts, rows, box,
                                    live_boxed_arg(t, u, ADSM_IN, &us),
                                    live_boxed_arg(t, w, ADSM_OUT, &ws),
                                    adsmVal(ny), adsmVal(nx)),
                       "boxed rows"))
        return true;
    for (long y = box.lo[0]; y < box.hi[0]; y++)
        for (long x = box.lo[1]; x < box.hi[1]; x++)
            *at2(w, y, x) = *at2(u, y, x) +
                            (y > 0 ? 2 * *at2(u, y - 1, x) : 0) +
                            (y + 1 < ny ? 3 * *at2(u, y + 1, x) : 0);
    return true;
}

/* All parts read a row that one of them has among those it writes; it stays as
 * it is, as the way from k to k is 0. */
static bool call_floyd(struct live_thread *t)
{
    struct live_array *p = live_pick(t, 2);
    if (!p)
        return false;
    long n = p->shape.hi[1],
         k = draw(t, n < p->shape.hi[0] ? n : p->shape.hi[0]);
    adsmBox box = live_box(t, p);
    box.lo[1] = 0;
    box.hi[1] = n;
    if (!live_boxed_may(t, p, box) ||
        !live_boxed_may(t, p, plane(k, k + 1, 0, n)))
        return false;
    ((volatile int *)p->p)[k * n + k] = *at2(p, k, k) = 0;
    struct live_way way = live_some_way(t, &box);
    way.opts.tile[1] = 0;
    struct live_boxes own = {.kind = LIVE_WHOLE_ROWS},
                      row = {.kind = LIVE_ROW, .a = k};
    live_note_call(t, "floyd", &way, &box, p, p);
    if (!live_way_made(t, &way,
                       adsmCallWith(&way.opts, floyd, box,
                                    live_boxed_arg(t, p, ADSM_INOUT, &own),
                                    live_boxed_arg(t, p, ADSM_IN, &row),
                                    adsmVal(n), adsmVal(k)),
                       "floyd"))
        return true;
    for (long y = box.lo[0]; y < box.hi[0]; y++)
        for (long x = 0; x < n; x++)
            if (*at2(p, y, k) + *at2(p, k, x) < *at2(p, y, x))
                *at2(p, y, x) = *at2(p, y, k) + *at2(p, k, x);
    return true;
}

static bool call_boxed_cube(struct live_thread *t)
{
    struct live_array *v = live_pick(t, 3);
    if (!v)
        return false;
    adsmBox b = live_box(t, v);
    if (!live_boxed_may(t, v, b))
        return false;
    struct live_way way = live_some_way(t, &b);
    struct live_boxes vs = {.kind = LIVE_SPACE};
    live_note_call(t, "boxed cube", &way, &b, v, v);
    if (!live_way_made(t, &way,
                       adsmCallWith(&way.opts, cube, b,
                                    live_boxed_arg(t, v, ADSM_INOUT, &vs)),
                       "boxed cube"))
        return true;
    for (long z = b.lo[0]; z < b.hi[0]; z++)
        for (long y = b.lo[1]; y < b.hi[1]; y++)
            for (long x = b.lo[2]; x < b.hi[2]; x++) {
                int *at = &v->flat[live_at(v, z, y, x)];
                *at = 3 * *at + (int)(z * 10000 + y * 100 + x);
            }
    return true;
}

bool live_boxed_planes(struct live_thread *t, int kind)
{
    static bool (*const calls[])(struct live_thread * t) = {
        call_crossed, call_product, call_boxed_rows, call_floyd,
        call_boxed_cube};
    return calls[kind](t);
}
