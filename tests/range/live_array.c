/* Arrays of the random test, and who has which; see live.h. */
#include "live.h"

#include <stdlib.h>
#include <string.h>

struct live_array live_arrays[ARRAYS];

/* ---- who has which ------------------------------------------------------------ */

static bool holds(const struct live_thread *t, const struct live_array *a)
{
    for (int i = 0; i < t->helds; i++)
        if (t->held[i] == a)
            return true;
    return false;
}

/* Nobody waits here, so callers may take them in any order. */
bool live_hold(struct live_thread *t, struct live_array *a)
{
    if (holds(t, a))
        return true;
    if (pthread_rwlock_tryrdlock(&a->lock) != 0)
        return false;
    if (!a->divided && t->owner < CALLERS &&
        pthread_mutex_trylock(&a->calls) != 0) {
        pthread_rwlock_unlock(&a->lock);
        return false;
    }
    t->held[t->helds++] = a;
    return true;
}

/* The one that it took last. */
static void let_go(struct live_thread *t)
{
    struct live_array *a = t->held[--t->helds];
    if (!a->divided && t->owner < CALLERS)
        pthread_mutex_unlock(&a->calls);
    pthread_rwlock_unlock(&a->lock);
}

void live_let_all_go(struct live_thread *t)
{
    while (t->helds > 0)
        let_go(t);
}

struct live_array *live_any(struct live_thread *t)
{
    struct live_array *a = &live_arrays[draw(t, ARRAYS)];
    return live_hold(t, a) ? a : NULL;
}

/* ---- shapes ------------------------------------------------------------------- */

static adsmBox some_shape(struct live_thread *t, long n, int nd)
{
    long a = 1 + draw(t, n < 300 ? n : 300), b = 1 + draw(t, 40);
    if (nd == 1)
        return adsmR1(n);
    if (nd == 2)
        return adsmR2(n / a, a);
    a = 1 + draw(t, 40);
    if (a * b > n)
        a = b = 1;
    return adsmR3(n / a / b, a, b);
}

static void say_shape(struct live_array *a, adsmBox shape)
{
    a->shape = shape;
    live_note("array %d: shape %ld %ld %ld of %ld", a->number, a->shape.hi[0],
              a->shape.hi[1], a->shape.hi[2], a->n);
    if (!live_done(adsmShape(a->p, sizeof *a->p, a->shape), "adsmShape"))
        live_stop("adsmShape needs no device");
}

void live_shape(struct live_thread *t, struct live_array *a, int nd)
{
    say_shape(a, some_shape(t, a->n, nd));
}

bool live_shape_rows(struct live_array *a, long nx)
{
    if (a->shape.nd == 2 && a->shape.hi[1] == nx)
        return true;
    if (a->divided || a->n < nx)
        return false;
    say_shape(a, adsmR2(a->n / nx, nx));
    return true;
}

struct live_array *live_pick(struct live_thread *t, int nd)
{
    for (int i = 0; i < 2 * ARRAYS; i++) {
        int helds = t->helds;
        struct live_array *a = live_any(t);
        if (!a)
            continue;
        if (a->shape.nd != nd && !a->divided && draw(t, 8) == 0)
            live_shape(t, a, nd);
        if (a->shape.nd == nd)
            return a;
        if (t->helds > helds)
            let_go(t);
    }
    return NULL;
}

/* ---- who owns what ------------------------------------------------------------ */

static bool may_use(const struct live_thread *t, uint8_t owner)
{
    return owner == t->owner || (owner == ANY_CALLER && t->owner < CALLERS);
}

void live_take_as_found(struct live_thread *t)
{
    for (int k = 0; k < t->helds; k++) {
        struct live_array *a = t->held[k];
        for (long i = 0; i < a->n; i++)
            if (may_use(t, a->owner[i]))
                a->flat[i] = a->p[i];
    }
}

long live_foreign(const struct live_thread *t, const struct live_array *a,
                  const adsmBox *box, const int radius[3])
{
    const long *foreign = a->foreign[t->owner];
    long lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1}, sum = 0;
    for (int d = 0; d < box->nd; d++) {
        int to = d + 3 - box->nd;
        lo[to] = box->lo[d] - radius[d] > 0 ? box->lo[d] - radius[d] : 0;
        hi[to] = box->hi[d] + radius[d];
        if (hi[to] > a->shape.hi[d])
            hi[to] = a->shape.hi[d];
    }
    for (long z = lo[0]; z < hi[0]; z++)
        for (long y = lo[1]; y < hi[1]; y++)
            sum += foreign[live_at(a, z, y, hi[2] - 1) + 1] -
                   foreign[live_at(a, z, y, lo[2])];
    return sum;
}

bool live_stretch(struct live_thread *t, const struct live_array *a, long most,
                  long *at, long *n)
{
    long i = draw(t, a->n), end;
    while (i < a->n && !may_use(t, a->owner[i]))
        i++;
    for (end = i; end < a->n && end - i < most && may_use(t, a->owner[end]);)
        end++;
    if (i == end)
        return false;
    *at = i;
    *n = draw(t, 3) ? 1 + draw(t, end - i) : end - i;
    return true;
}

static adsmBox any_box(struct live_thread *t, const struct live_array *a)
{
    adsmBox box = a->shape;
    for (int d = 0; d < box.nd; d++)
        if (draw(t, 3)) {
            box.lo[d] = draw(t, box.hi[d]);
            box.hi[d] = box.lo[d] + 1 + draw(t, box.hi[d] - box.lo[d]);
        }
    return box;
}

/* From an element of the thread's own on, larger or smaller ones. */
static adsmBox own_box(struct live_thread *t, const struct live_array *a)
{
    adsmBox box = a->shape;
    long at, n;
    if (!live_stretch(t, a, 1, &at, &n))
        return box;
    for (int d = box.nd - 1; d >= 0; d--) {
        long all = a->shape.hi[d];
        box.lo[d] = d > 0 ? at % all : at;
        at /= all;
        if (box.lo[d] >= all) /* behind the shape */
            return a->shape;
        box.hi[d] =
            box.lo[d] + 1 + draw(t, 1 + ((all - box.lo[d] - 1) >> draw(t, 5)));
    }
    return box;
}

adsmBox live_box(struct live_thread *t, const struct live_array *a)
{
    static const int none[3];
    adsmBox box = a->divided ? own_box(t, a) : any_box(t, a);
    for (int i = 0; i < 8 && a->divided && live_foreign(t, a, &box, none); i++)
        box = own_box(t, a);
    return box;
}

/* A share of the elements for each caller: stretches, or columns. */
static void divide(struct live_thread *t, struct live_array *a)
{
    long nx =
        a->shape.nd > 1 && draw(t, 2) ? a->shape.hi[a->shape.nd - 1] : a->n;
    long shares = live_callers + 1 + draw(t, 6), first = draw(t, CALLERS);
    for (long i = 0; i < a->n; i++) {
        long share = (first + i % nx * shares / nx) % (live_callers + 1);
        a->owner[i] = (uint8_t)(share == live_callers ? RUNTIME : share);
    }
}

/* Of touchers: none, one zone at the end, or many in between. */
static void give_zones(struct live_thread *t, struct live_array *a)
{
    long zones = draw(t, 3) ? draw(t, a->divided ? 4 : 12) : 0;
    for (long k = 0; k < zones; k++) {
        long at = draw(t, a->n), n = 1 + draw(t, 1 + a->n / 20);
        uint8_t owner = (uint8_t)(CALLERS + draw(t, TOUCHERS));
        for (long i = at; i < at + n && i < a->n; i++)
            a->owner[i] = owner;
    }
}

static void give(struct live_thread *t, struct live_array *a)
{
    size_t n = (size_t)a->n;
    a->owner = realloc(a->owner, n);
    a->divided = live_callers > 1 && draw(t, 3) == 0;
    memset(a->owner, ANY_CALLER, n);
    if (a->divided)
        divide(t, a);
    give_zones(t, a);
    for (int c = 0; c < CALLERS; c++) {
        const struct live_thread caller = {.owner = c};
        long *foreign = realloc(a->foreign[c], (n + 1) * sizeof *foreign);
        a->foreign[c] = foreign;
        foreign[0] = 0;
        for (size_t i = 0; i < n; i++)
            foreign[i + 1] = foreign[i] + !may_use(&caller, a->owner[i]);
    }
}

/* ---- life --------------------------------------------------------------------- */

/* Alone in an object, or in the middle of one. */
static void allocate(struct live_thread *t, struct live_array *a)
{
    long before = draw(t, 3) ? 0 : 1 + draw(t, 3000);
    long behind = draw(t, 2) ? 0 : draw(t, 3000);
    int nd = 1 + (int)draw(t, 3);
    a->home = (int)draw(t, 5) - 1;
    if (draw(t, 2)) {
        before = behind = 0;
        a->shape = some_shape(t, a->n, nd);
        a->base = adsmAllocArray(sizeof *a->base, a->shape, a->home);
        if (a->base) /* the object is not larger than its shape */
            a->n = a->shape.hi[0] * (nd > 1 ? a->shape.hi[1] : 1) *
                   (nd > 2 ? a->shape.hi[2] : 1);
    } else {
        size_t bytes = (size_t)(a->n + before + behind) * sizeof *a->base;
        a->base = a->home < 0 ? adsmAllocArray(1, adsmR1((long)bytes), -1)
                              : (adsmDeviceUse(a->home), adsmAlloc(bytes));
    }
    if (!a->base && live_done(adsmLastStatus(), "allocation"))
        live_stop("an allocation gave nothing and no status");
    a->p = a->base + before;
    live_note("array %d: %ld elements, home %d, %ld before", a->number, a->n,
              a->home, before);
    if (a->base && (before || behind || a->shape.nd == 0))
        live_shape(t, a, nd);
}

void live_renew(struct live_thread *t, struct live_array *a)
{
    static const long sizes[] = {1,    7,     100,   900,   1024,
                                 5000, 20000, 70000, 400000};
    pthread_rwlock_wrlock(&a->lock);
    if (a->base) {
        live_compare(a, 0, a->n, "before adsmFree");
        live_note("array %d: freed", a->number);
        if (!live_done(adsmFree(a->base), "adsmFree"))
            live_stop("adsmFree needs no memory");
    }
    do {
        /* Two of the largest are more than a small device has. */
        a->n = sizes[draw(t, live_tight ? 9 : 8)];
        a->n += draw(t, 1 + a->n / 2);
        a->shape.nd = 0;
        allocate(t, a);
    } while (!a->base);
    a->flat = realloc(a->flat, (size_t)a->n * sizeof *a->flat);
    give(t, a);
    for (long i = 0; i < a->n; i++)
        ((volatile int *)a->p)[i] = a->flat[i] = (int)(i * 7919) + a->number;
    pthread_rwlock_unlock(&a->lock);
}

/* ---- comparison ---------------------------------------------------------------- */

void live_compare(const struct live_array *a, long at, long n, const char *what)
{
    const volatile int *p = a->p;
    for (long i = at; i < at + n; i++) {
        int seen = p[i];
        if (seen == a->flat[i])
            continue;
        long wrong = 1, last = i;
        for (long k = i + 1; k < at + n; k++)
            if (p[k] != a->flat[k]) {
                wrong++;
                last = k;
            }
        live_stop("%s: array %d (%ld elements at %p, home %d%s): element %ld "
                  "of owner %d is %d, not %d (then %d); %ld wrong up to %ld",
                  what, a->number, a->n, (void *)a->p, a->home,
                  a->divided ? ", divided" : "", i, a->owner[i], seen,
                  a->flat[i], p[i], wrong, last);
    }
}

void live_compare_all(const char *what)
{
    for (int i = 0; i < ARRAYS; i++) {
        pthread_rwlock_wrlock(&live_arrays[i].lock);
        live_compare(&live_arrays[i], 0, live_arrays[i].n, what);
        pthread_rwlock_unlock(&live_arrays[i].lock);
    }
}
