/* Calls, launches and hints of the random test; see live.h. */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>

static const int none[3];
static adsmKernel *map, *map_any, *near_, *square, *rows, *cube, *add, *add_any;

static adsmKernel *get(adsmModule *module, const char *name, adsmReach reach)
{
    adsmKernel *kernel = NULL;
    if (adsmKernelGet(&kernel, module, name, reach) != ADSM_OK)
        live_stop("%s: %s", name, adsmErrorDetail());
    return kernel;
}

void live_kernels(const char *path)
{
    adsmModule *m;
    if (adsmModuleLoad(&m, path, 0) != ADSM_OK)
        live_stop("%s: %s", path, adsmErrorDetail());
    map = get(m, "map", ADSM_ONLY_ARGUMENTS);
    map_any = get(m, "map", ADSM_ANY_OBJECT);
    near_ = get(m, "near", ADSM_ONLY_ARGUMENTS);
    square = get(m, "square", ADSM_ONLY_ARGUMENTS);
    rows = get(m, "rows", ADSM_ONLY_ARGUMENTS);
    cube = get(m, "cube", ADSM_ONLY_ARGUMENTS);
    add = get(m, "add", ADSM_ONLY_ARGUMENTS);
    add_any = get(m, "add", ADSM_ANY_OBJECT);
}

/* ---- options ----------------------------------------------------------------- */

struct way {
    adsmOpts opts;
    adsmEvent event;
    bool bad; /* no device takes such a block */
};

static struct way some_way(struct live_random *r, const adsmBox *range)
{
    struct way way = {.bad = draw(r, 25) == 0};
    adsmOpts *o = &way.opts;
    o->devices = (uint32_t)(1 + draw(r, 15));
    if (draw(r, 3))
        o->parts = (int)draw(r, 10);
    else
        for (int d = 0; d < range->nd; d++) {
            long n = range->hi[d] - range->lo[d];
            o->tile[d] = draw(r, 2) ? 0 : n / 3 + 1 + draw(r, n);
        }
    o->cyclic = (int)draw(r, 2);
    o->sync = draw(r, 8) == 0;
    o->align = draw(r, 4) ? 0 : 1 + draw(r, 64);
    if (way.bad)
        o->block[0] = 4096;
    return way;
}

static void note_call(const char *what, const struct way *way,
                      const adsmBox *box, const struct live_array *a,
                      const struct live_array *b)
{
    live_note("%s of %d to %d, [%ld %ld %ld, %ld %ld %ld), devices %x, "
              "parts %d, tile %ld %ld %ld%s%s",
              what, a->number, b->number, box->lo[0], box->lo[1], box->lo[2],
              box->hi[0], box->hi[1], box->hi[2], way->opts.devices,
              way->opts.parts, way->opts.tile[0], way->opts.tile[1],
              way->opts.tile[2], way->opts.cyclic ? ", cyclic" : "",
              way->bad ? ", bad block" : "");
}

/* Was it made? Refused ones change nothing. */
static bool made(const struct way *way, int status, const char *what)
{
    if (!way->bad)
        return live_done(status, what);
    if (status == ADSM_OK)
        live_stop("%s: a block of 4096 threads was taken", what);
    return false;
}

#define each_of(box, z, y, x)                                                  \
    for (long z = 0; z < 1; z++)                                               \
        for (long y = (box).nd > 1 ? (box).lo[0] : 0;                          \
             y < ((box).nd > 1 ? (box).hi[0] : 1); y++)                        \
            for (long x = (box).lo[(box).nd - 1]; x < (box).hi[(box).nd - 1];  \
                 x++)

/* ---- kernels over ranges ------------------------------------------------------ */

/* In place, too. */
static void call_map(struct live_random *r)
{
    struct live_array *x = live_pick(r, 1),
                      *y = draw(r, 3) ? live_pick(r, 1) : x;
    int a = (int)draw(r, 1000);
    if (!x || !y)
        return;
    adsmBox box = live_box(r, draw(r, 2) ? x : y);
    if (box.hi[0] > x->shape.hi[0] || box.hi[0] > y->shape.hi[0] ||
        live_owned(x, &box, none) || live_owned(y, &box, none))
        return;
    struct way way = some_way(r, &box);
    note_call("map", &way, &box, x, y);
    if (made(&way,
             adsmCallWith(&way.opts, map, box, adsmIn(x->p), adsmInOut(y->p),
                          adsmVal(a)),
             "map"))
        for (long i = box.lo[0]; i < box.hi[0]; i++)
            y->flat[i] = 2 * x->flat[i] + y->flat[i] + a;
}

/* Two arrays in one object: one is read, the other is written. */
static void call_roles(struct live_random *r)
{
    struct live_array *o = live_pick(r, 1);
    long at, n, k;
    int a = (int)draw(r, 1000);
    if (!o || !live_stretch(r, o, 0, 40000, &at, &n) || n < 4)
        return;
    k = n / 2;
    adsmBox box = adsmR1(k);
    struct way way = some_way(r, &box);
    int *x = o->p + at, *y = x + k;
    bool turned = draw(r, 2);
    note_call(turned ? "roles, turned," : "roles", &way, &box, o, o);
    live_note("  ... they begin at %ld and %ld", at, at + k);
    if (turned) {
        x = y;
        y = o->p + at;
    }
    if (at > 0) /* what begins at 0 has the array's name and shape */
        (void)live_done(adsmShape(o->p + at, 4, adsmR1(k)), "adsmShape");
    (void)live_done(adsmShape(o->p + at + k, 4, adsmR1(k)), "adsmShape");
    if (made(&way,
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
static bool may_read(const struct live_array *u, const adsmBox *box,
                     const int radius[3], int edge)
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
    return edge == ADSM_EDGE_WRAP && beyond ? u->owned[u->n] == 0
                                            : live_owned(u, box, radius) == 0;
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
static void call_near(struct live_random *r, int nd)
{
    struct live_array *u = live_pick(r, nd), *w = live_pick(r, nd);
    int edge = (int)draw(r, 4), pad = (int)draw(r, 1 << 20);
    int most = draw(r, 8) ? 3 : 12;
    int radius[3] = {(int)draw(r, most), nd > 1 ? (int)draw(r, most) : 0, 0};
    if (!u || !w || u == w)
        return;
    adsmBox box = live_box(r, draw(r, 2) ? u : w);
    for (int d = 0; d < nd; d++)
        if (box.hi[d] > w->shape.hi[d])
            return;
    if (!may_read(u, &box, radius, edge) || live_owned(w, &box, none))
        return;
    struct way way = some_way(r, &box);
    adsmArg arg = nd == 1 ? adsmHalo(u->p, radius[0], edge)
                          : adsmSquare(u->p, radius[0], radius[1], edge);
    if (edge == ADSM_EDGE_PAD)
        arg = adsmPad(arg, &pad);
    note_call("near", &way, &box, u, w);
    live_note("  ... edge %d, radius %d %d", edge, radius[0], radius[1]);
    int status = nd == 1
                     ? adsmCallWith(&way.opts, near_, box, arg, adsmOut(w->p),
                                    adsmVal(radius[0]))
                     : adsmCallWith(&way.opts, square, box, arg, adsmOut(w->p),
                                    adsmVal(radius[0]), adsmVal(radius[1]));
    if (made(&way, status, "near"))
        check_near(u, w, &box, radius, edge, pad);
}

/* Two dimensions by pointers: whole rows of copies, but not all is written. */
static void call_rows(struct live_random *r)
{
    struct live_array *u = live_pick(r, 2), *w = live_pick(r, 2);
    static const int column[3] = {1, 0, 0};
    if (!u || !w || u == w)
        return;
    long ny = u->shape.hi[0], nx = u->shape.hi[1];
    if (w->shape.hi[0] < ny || w->shape.hi[1] != nx)
        return;
    adsmBox box = live_box(r, u);
    if (live_owned(u, &box, column) || live_owned(w, &box, none))
        return;
    struct way way = some_way(r, &box);
    way.opts.tile[1] = 0;
    note_call("rows", &way, &box, u, w);
    if (!made(&way,
              adsmCallWith(&way.opts, rows, box,
                           adsmColumn(u->p, 1, ADSM_EDGE_NONE), adsmOut(w->p),
                           adsmVal(ny), adsmVal(nx)),
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

static void call_cube(struct live_random *r)
{
    struct live_array *v = live_pick(r, 3);
    if (!v)
        return;
    adsmBox b = live_box(r, v);
    if (live_owned(v, &b, none))
        return;
    struct way way = some_way(r, &b);
    note_call("cube", &way, &b, v, v);
    if (!made(&way, adsmCallWith(&way.opts, cube, b, adsmInOut(v->p)), "cube"))
        return;
    for (long z = b.lo[0]; z < b.hi[0]; z++)
        for (long y = b.lo[1]; y < b.hi[1]; y++)
            for (long x = b.lo[2]; x < b.hi[2]; x++) {
                int *at = &v->flat[live_at(v, z, y, x)];
                *at = 3 * *at + (int)(z * 10000 + y * 100 + x);
            }
}

/* ---- kernels on one device ---------------------------------------------------- */

/* Plain calls and launches: on the thread's device, whatever the home. */
static void call_plain(struct live_random *r)
{
    struct live_array *x = &live_arrays[draw(r, ARRAYS)];
    struct live_array *y = &live_arrays[draw(r, ARRAYS)];
    int a = (int)draw(r, 1000), device = (int)draw(r, 4),
        kind = (int)draw(r, 4);
    long i, k, nx, ny;
    if (!live_stretch(r, x, 0, LONGEST, &i, &nx) ||
        !live_stretch(r, y, 0, LONGEST, &k, &ny))
        return;
    /* What may follow any pointer runs where its module is and its objects are. */
    if (kind % 2 && (x->home != 0 || y->home != 0))
        return;
    long n = nx < ny ? nx : ny;
    if (x == y && i != k && i < k + n && k < i + n)
        return;
    int count = (int)n, *px = x->p + i, *py = y->p + k;
    bool bad = draw(r, 25) == 0;
    unsigned blocks = (unsigned)(n + 255) / 256, block = bad ? 4096 : 256;
    adsmArg in = draw(r, 2) ? adsmIn(px) : adsmInOut(px);
    if (kind < 2)
        bad = false;
    live_note("%s%s of %d at %ld to %d at %ld, %ld on device %d%s",
              kind < 2 ? "plain call" : "launch", kind % 2 ? " of any" : "",
              x->number, i, y->number, k, n, device, bad ? ", bad block" : "");
    adsmDeviceUse(device);
    int status =
        kind < 2
            ? adsmCall(kind ? map_any : map, n, in, adsmInOut(py), adsmVal(a))
            : adsmLaunch(kind == 3 ? add_any : add, adsmDim1(blocks),
                         adsmDim1(block), 0, adsmInOut(py), in, adsmVal(count));
    struct way way = {.bad = bad};
    if (!made(&way, status, "plain call or launch"))
        return;
    const int *fx = x->flat + i;
    int *fy = y->flat + k;
    for (long e = 0; e < n; e++)
        fy[e] = kind < 2 ? 2 * fx[e] + fy[e] + a : fy[e] + fx[e];
}

void live_call(struct live_random *r)
{
    switch (draw(r, 12)) {
    case 0:
    case 1:
        call_map(r);
        break;
    case 2:
        call_roles(r);
        break;
    case 3:
    case 4:
        call_near(r, 1);
        break;
    case 5:
    case 6:
        call_near(r, 2);
        break;
    case 7:
        call_rows(r);
        break;
    case 8:
        call_cube(r);
        break;
    case 9:
        call_plain(r);
        break;
    default:
        live_hint(r);
    }
}
