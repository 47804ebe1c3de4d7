/* Plain calls and launches of the random test, on one device; see live.h. */
#include "live.h"

#include <stddef.h>

static adsmKernel *map, *map_any, *add, *add_any, *late;

void live_plain_begin(void)
{
    map = live_kernel("kernels.ptx", "map", ADSM_ONLY_ARGUMENTS);
    map_any = live_kernel("kernels.ptx", "map", ADSM_ANY_OBJECT);
    add = live_kernel("kernels.ptx", "add", ADSM_ONLY_ARGUMENTS);
    add_any = live_kernel("kernels.ptx", "add", ADSM_ANY_OBJECT);
    late = live_kernel("stamp.ptx", "late", ADSM_ONLY_ARGUMENTS);
}

/* One of them, to [k, k + n) of y from [i, i + n) of x. */
struct plain {
    enum { MAP, MAP_ANY, LATE, ADD, ADD_ANY, PLAINS } kind;
    int *px, *py, n;
    int a;
    bool bad;
};

static int make_plain(struct live_thread *t, const struct plain *p)
{
    unsigned blocks = (unsigned)(p->n + 255) / 256;
    unsigned block = p->bad ? 4096 : 256;
    long until = live_some_time(t);
    adsmArg in = draw(t, 2) ? adsmIn(p->px) : adsmInOut(p->px);
    if (p->kind == LATE)
        return adsmCall(late, p->n, in, adsmInOut(p->py), adsmVal(until));
    if (p->kind < LATE)
        return adsmCall(p->kind == MAP ? map : map_any, p->n, in,
                        adsmInOut(p->py), adsmVal(p->a));
    return adsmLaunch(p->kind == ADD ? add : add_any, adsmDim1(blocks),
                      adsmDim1(block), 0, adsmInOut(p->py), in, adsmVal(p->n));
}

/* Plain calls and launches: on the thread's device, whatever the home. */
void live_plain(struct live_thread *t)
{
    static const char *const names[] = {"plain call", "plain call of any",
                                        "late plain call", "launch",
                                        "launch of any"};
    struct live_array *x = live_any(t), *y = live_any(t);
    struct plain p = {.a = (int)draw(t, 1000), .kind = (int)draw(t, PLAINS)};
    int device = (int)draw(t, 4);
    long i, k, nx, ny;
    if (!x || !y || !live_stretch(t, x, LONGEST, &i, &nx) ||
        !live_stretch(t, y, LONGEST, &k, &ny))
        return;
    if (draw(t, 2) && x->home == y->home && y->home >= 0)
        device = y->home; /* no copies are needed there */
    /* What may follow any pointer runs where its module is and its objects are. */
    if ((p.kind == MAP_ANY || p.kind == ADD_ANY) &&
        (x->home != 0 || y->home != 0))
        return;
    long n = nx < ny ? nx : ny;
    if (x == y && i != k && i < k + n && k < i + n)
        return;
    p.n = (int)n;
    p.px = x->p + i;
    p.py = y->p + k;
    p.bad = p.kind >= ADD && draw(t, 25) == 0;
    live_note("caller %d: %s of %d at %ld to %d at %ld, %ld on device %d%s",
              t->owner, names[p.kind], x->number, i, y->number, k, n, device,
              p.bad ? ", bad block" : "");
    adsmDeviceUse(device);
    if (!live_was_made(t, NULL, p.bad, make_plain(t, &p), names[p.kind]))
        return;
    const int *fx = x->flat + i;
    int *fy = y->flat + k;
    for (long e = 0; e < n; e++)
        fy[e] = p.kind == LATE  ? fx[e]
                : p.kind < LATE ? 2 * fx[e] + fy[e] + p.a
                                : fy[e] + fx[e];
}
