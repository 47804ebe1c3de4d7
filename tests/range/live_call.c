/* Calls over ranges of the random test; see live.h. */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int none[3];
static adsmKernel *map, *near_, *square, *rows, *cube, *late;

adsmKernel *live_kernel(const char *file, const char *name, adsmReach reach)
{
    adsmModule *module;
    adsmKernel *kernel;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", KERNELS, file);
    if (adsmModuleLoad(&module, path, 0) != ADSM_OK ||
        adsmKernelGet(&kernel, module, name, reach) != ADSM_OK)
        live_stop("%s: %s: %s", path, name, adsmErrorDetail());
    return kernel;
}

static adsmKernel *get(const char *name)
{
    return live_kernel("kernels.ptx", name, ADSM_ONLY_ARGUMENTS);
}

void live_call_begin(void)
{
    map = get("map");
    near_ = get("near");
    square = get("square");
    rows = get("rows");
    cube = get("cube");
    late = live_kernel("stamp.ptx", "late", ADSM_ONLY_ARGUMENTS);
}

/* Are parts of calls tasks? */
static bool are_tasks(void)
{
    const char *policy = getenv("ADSM_POLICY");
    return policy && strcmp(policy, "static") != 0;
}

/* ---- options ----------------------------------------------------------------- */

struct live_way live_some_way(struct live_thread *t, const adsmBox *range)
{
    /* Another caller's adsmSync may be told of it. */
    struct live_way way = {.bad = draw(t, 25) == 0 &&
                                  (live_callers == 1 || !are_tasks())};
    adsmOpts *o = &way.opts;
    o->devices = (uint32_t)(1 + draw(t, 15));
    if (draw(t, 3))
        o->parts = (int)draw(t, 10);
    else
        for (int d = 0; d < range->nd; d++) {
            long n = range->hi[d] - range->lo[d];
            o->tile[d] = draw(t, 2) ? 0 : n / 3 + 1 + draw(t, n);
        }
    o->cyclic = (int)draw(t, 2);
    o->chunks = (int)draw(t, draw(t, 4) ? 4 : 9);
    o->fetch = draw(t, 3) == 0;
    o->sync = draw(t, 8) == 0;
    o->align = draw(t, 4) ? 0 : 1 + draw(t, 64);
    if (way.bad)
        o->block[0] = 4096;
    live_follow_draw(t, o);
    return way;
}

void live_note_call(const struct live_thread *t, const char *what,
                    const struct live_way *way, const adsmBox *box,
                    const struct live_array *a, const struct live_array *b)
{
    live_note(
        "caller %d: %s of %d to %d, [%ld %ld %ld, %ld %ld %ld), devices "
        "%x, parts %d, tile %ld %ld %ld, chunks %d%s%s%s",
        t->owner, what, a->number, b->number, box->lo[0], box->lo[1],
        box->lo[2], box->hi[0], box->hi[1], box->hi[2], way->opts.devices,
        way->opts.parts, way->opts.tile[0], way->opts.tile[1],
        way->opts.tile[2], way->opts.chunks, way->opts.fetch ? ", fetch" : "",
        way->opts.cyclic ? ", cyclic" : "", way->bad ? ", bad block" : "");
}

bool live_was_made(struct live_thread *t, const adsmOpts *opts, bool bad,
                   int status, const char *what)
{
    /* What a task fails with is told to who waits for it. */
    if (bad && opts && status == ADSM_OK && are_tasks())
        status = adsmSync();
    live_follow_made(t, opts, status);
    if (bad && status == ADSM_OK)
        live_stop("%s: a block of 4096 threads was taken", what);
    if (bad)
        return false;
    if (!live_done(status, what)) {
        if (live_failed_part() > 0)
            live_take_as_found(t);
        return false;
    }
    atomic_fetch_add(&live_made, 1);
    for (int i = 0; i < t->helds; i++)
        if (t->held[i]->divided) {
            atomic_fetch_add(&live_beside, 1);
            break;
        }
    return true;
}

#define each_of(box, z, y, x)                                                  \
    for (long z = 0; z < 1; z++)                                               \
        for (long y = (box).nd > 1 ? (box).lo[0] : 0;                          \
             y < ((box).nd > 1 ? (box).hi[0] : 1); y++)                        \
            for (long x = (box).lo[(box).nd - 1]; x < (box).hi[(box).nd - 1];  \
                 x++)

/* ---- kernels over ranges ------------------------------------------------------ */

/* In place, too. By a kernel that is slow to read and to write, or at once. */
static void call_map(struct live_thread *t)
{
    struct live_array *x = live_pick(t, 1),
                      *y = draw(t, 3) ? live_pick(t, 1) : x;
    int a = (int)draw(t, 1000);
    long until = draw(t, 2) ? live_some_time(t) : 0;
    if (!x || !y)
        return;
    adsmBox box = live_box(t, draw(t, 2) ? x : y);
    if (box.hi[0] > x->shape.hi[0] || box.hi[0] > y->shape.hi[0] ||
        live_foreign(t, x, &box, none) || live_foreign(t, y, &box, none))
        return;
    struct live_way way = live_some_way(t, &box);
    live_note_call(t, until ? "late" : "map", &way, &box, x, y);
    int status = until ? adsmCallWith(&way.opts, late, box, adsmIn(x->p),
                                      adsmOut(y->p), adsmVal(until))
                       : adsmCallWith(&way.opts, map, box, adsmIn(x->p),
                                      adsmInOut(y->p), adsmVal(a));
    if (live_way_made(t, &way, status, "map"))
        for (long i = box.lo[0]; i < box.hi[0]; i++)
            y->flat[i] = x->flat[i] + (until ? 0 : x->flat[i] + y->flat[i] + a);
}

/* Two arrays in one object: one is read, the other is written. */
static void call_roles(struct live_thread *t)
{
    struct live_array *o = live_pick(t, 1);
    long at, n, k;
    int a = (int)draw(t, 1000);
    if (!o || !live_stretch(t, o, 40000, &at, &n) || n < 4)
        return;
    k = n / 2;
    adsmBox box = adsmR1(k);
    struct live_way way = live_some_way(t, &box);
    int *x = o->p + at, *y = x + k;
    bool turned = draw(t, 2);
    live_note_call(t, turned ? "roles, turned," : "roles", &way, &box, o, o);
    live_note("  ... they begin at %ld and %ld", at, at + k);
    if (turned) {
        x = y;
        y = o->p + at;
    }
    if (at > 0) /* what begins at 0 has the array's name and shape */
        (void)live_done(adsmShape(o->p + at, 4, adsmR1(k)), "adsmShape");
    (void)live_done(adsmShape(o->p + at + k, 4, adsmR1(k)), "adsmShape");
    if (live_way_made(t, &way,
                      adsmCallWith(&way.opts, map, box, adsmIn(x), adsmInOut(y),
                                   adsmVal(a)),
                      "map in two roles")) {
        const int *fx = o->flat + (x - o->p);
        int *fy = o->flat + (y - o->p);
        for (long i = 0; i < k; i++)
            fy[i] = 2 * fx[i] + fy[i] + a;
    }
}

static long clamped(long i, long n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static long wrapped(long i, long n)
{
    return (i % n + n) % n;
}

/* What a kernel sees at (y, x). */
static int seen(const struct live_array *a, long y, long x, int edge, int pad)
{
    const long *n = a->shape.hi;
    long ny = a->shape.nd > 1 ? n[0] : 1, nx = n[a->shape.nd - 1];
    if (edge == ADSM_EDGE_PAD && (y < 0 || y >= ny || x < 0 || x >= nx))
        return pad;
    if (edge == ADSM_EDGE_WRAP)
        return a->flat[wrapped(y, ny) * nx + wrapped(x, nx)];
    return a->flat[clamped(y, ny) * nx + clamped(x, nx)];
}

static bool passes(const struct live_array *a, const adsmBox *box,
                   const int radius[3])
{
    for (int d = 0; d < box->nd; d++)
        if (box->lo[d] < radius[d] || box->hi[d] + radius[d] > a->shape.hi[d])
            return true;
    return false;
}

/* What surroundings need of the array they are read from. */
static bool may_read(const struct live_thread *t, const struct live_array *u,
                     const adsmBox *box, const int radius[3], int edge)
{
    bool beyond = passes(u, box, radius);
    for (int d = 0; d < box->nd; d++)
        if (box->hi[d] > u->shape.hi[d])
            return false;
    if (edge == ADSM_EDGE_NONE && beyond)
        return false;
    /* Beyond the edges of one that begins inside an object is something else. */
    if (beyond && box->nd > 1 && (u->p != u->base || u->home >= 0))
        return false;
    return edge == ADSM_EDGE_WRAP && beyond
               ? u->foreign[t->owner][u->n] == 0
               : live_foreign(t, u, box, radius) == 0;
}

static void check_near(const struct live_array *u, struct live_array *w,
                       const adsmBox *box, const int radius[3], int edge,
                       int pad)
{
    int ry = box->nd > 1 ? radius[0] : 0, rx = radius[box->nd - 1];
    each_of(*box, z, y, x)
    {
        int sum = 0, weight = 1;
        for (int dy = -ry; dy <= ry; dy++)
            for (int dx = -rx; dx <= rx; dx++)
                sum += weight++ * seen(u, y + dy, x + dx, edge, pad);
        w->flat[live_at(w, z, y, x)] = sum;
    }
}

/* In one dimension by pointers, in two by views. */
static void call_near(struct live_thread *t, int nd)
{
    struct live_array *u = live_pick(t, nd), *w = live_pick(t, nd);
    int edge = (int)draw(t, 4), pad = (int)draw(t, 1 << 20);
    int most = draw(t, 8) ? 3 : 12;
    int radius[3] = {(int)draw(t, most), nd > 1 ? (int)draw(t, most) : 0, 0};
    if (!u || !w || u == w)
        return;
    adsmBox box = live_box(t, draw(t, 2) ? u : w);
    for (int d = 0; d < nd; d++)
        if (box.hi[d] > w->shape.hi[d])
            return;
    if (!may_read(t, u, &box, radius, edge) || live_foreign(t, w, &box, none))
        return;
    struct live_way way = live_some_way(t, &box);
    adsmArg arg = nd == 1 ? adsmHalo(u->p, radius[0], edge)
                          : adsmSquare(u->p, radius[0], radius[1], edge);
    if (edge == ADSM_EDGE_PAD)
        arg = adsmPad(arg, &pad);
    live_note_call(t, "near", &way, &box, u, w);
    live_note("  ... edge %d, radius %d %d", edge, radius[0], radius[1]);
    int status = nd == 1
                     ? adsmCallWith(&way.opts, near_, box, arg, adsmOut(w->p),
                                    adsmVal(radius[0]))
                     : adsmCallWith(&way.opts, square, box, arg, adsmOut(w->p),
                                    adsmVal(radius[0]), adsmVal(radius[1]));
    if (live_way_made(t, &way, status, "near"))
        check_near(u, w, &box, radius, edge, pad);
}

/* Two dimensions by pointers: whole rows of copies, but not all is written. */
static void call_rows(struct live_thread *t)
{
    struct live_array *u = live_pick(t, 2), *w = live_pick(t, 2);
    static const int column[3] = {1, 0, 0};
    if (!u || !w || u == w)
        return;
    long ny = u->shape.hi[0], nx = u->shape.hi[1];
    if (!live_shape_rows(w, nx) || w->shape.hi[0] < ny)
        return;
    adsmBox box = live_box(t, u);
    if (live_foreign(t, u, &box, column) || live_foreign(t, w, &box, none))
        return;
    struct live_way way = live_some_way(t, &box);
    way.opts.tile[1] = 0;
    live_note_call(t, "rows", &way, &box, u, w);
    if (!live_way_made(t, &way,
                       adsmCallWith(&way.opts, rows, box,
                                    adsmColumn(u->p, 1, ADSM_EDGE_NONE),
                                    adsmOut(w->p), adsmVal(ny), adsmVal(nx)),
                       "rows"))
        return;
    each_of(box, z, y, x)
    {
        int sum = u->flat[y * nx + x];
        sum += y > 0 ? 2 * u->flat[(y - 1) * nx + x] : 0;
        sum += y + 1 < ny ? 3 * u->flat[(y + 1) * nx + x] : 0;
        w->flat[y * nx + x] = sum;
        (void)z;
    }
}

static void call_cube(struct live_thread *t)
{
    struct live_array *v = live_pick(t, 3);
    if (!v)
        return;
    adsmBox b = live_box(t, v);
    if (live_foreign(t, v, &b, none))
        return;
    struct live_way way = live_some_way(t, &b);
    live_note_call(t, "cube", &way, &b, v, v);
    if (!live_way_made(
            t, &way, adsmCallWith(&way.opts, cube, b, adsmInOut(v->p)), "cube"))
        return;
    for (long z = b.lo[0]; z < b.hi[0]; z++)
        for (long y = b.lo[1]; y < b.hi[1]; y++)
            for (long x = b.lo[2]; x < b.hi[2]; x++) {
                int *at = &v->flat[live_at(v, z, y, x)];
                *at = 3 * *at + (int)(z * 10000 + y * 100 + x);
            }
}

/* ---- any of them -------------------------------------------------------- */

void live_call(struct live_thread *t)
{
    switch (draw(t, 16)) {
    case 0:
    case 1:
        call_map(t);
        break;
    case 2:
        call_roles(t);
        break;
    case 3:
    case 4:
        call_near(t, 1);
        break;
    case 5:
    case 6:
        call_near(t, 2);
        break;
    case 7:
        call_rows(t);
        break;
    case 8:
        call_cube(t);
        break;
    case 9:
        live_plain(t);
        break;
    case 10:
    case 11:
        live_hint(t);
        break;
    default:
        live_boxed(t);
    }
    if (t->helds > 0 && draw(t, 3) == 0)
        live_arrive(t);
}
