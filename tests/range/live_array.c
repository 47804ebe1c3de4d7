/* Arrays of the random test; see live.h. */
#include "live.h"

#include <stdlib.h>
#include <string.h>

struct live_array live_arrays[ARRAYS];

/* ---- shapes ------------------------------------------------------------------- */

static adsmBox some_shape(struct live_random *r, long n, int nd)
{
    long a = 1 + draw(r, n < 300 ? n : 300), b = 1 + draw(r, 40);
    if (nd == 1)
        return adsmR1(n);
    if (nd == 2)
        return adsmR2(n / a, a);
    a = 1 + draw(r, 40);
    if (a * b > n)
        a = b = 1;
    return adsmR3(n / a / b, a, b);
}

void live_shape(struct live_random *r, struct live_array *a, int nd)
{
    a->shape = some_shape(r, a->n, nd);
    live_note("array %d: shape %ld %ld %ld of %ld", a->number, a->shape.hi[0],
              a->shape.hi[1], a->shape.hi[2], a->n);
    if (!live_done(adsmShape(a->p, sizeof *a->p, a->shape), "adsmShape"))
        live_stop("adsmShape needs no device");
}

struct live_array *live_pick(struct live_random *r, int nd)
{
    for (int i = 0; i < 2 * ARRAYS; i++) {
        struct live_array *a = &live_arrays[draw(r, ARRAYS)];
        if (a->shape.nd != nd && draw(r, 8) == 0)
            live_shape(r, a, nd);
        if (a->shape.nd == nd)
            return a;
    }
    return NULL;
}

adsmBox live_box(struct live_random *r, const struct live_array *a)
{
    adsmBox box = a->shape;
    for (int d = 0; d < box.nd; d++)
        if (draw(r, 3)) {
            box.lo[d] = draw(r, box.hi[d]);
            box.hi[d] = box.lo[d] + 1 + draw(r, box.hi[d] - box.lo[d]);
        }
    return box;
}

/* ---- who owns what ------------------------------------------------------------ */

long live_owned(const struct live_array *a, const adsmBox *box,
                const int radius[3])
{
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
            sum += a->owned[live_at(a, z, y, hi[2] - 1) + 1] -
                   a->owned[live_at(a, z, y, lo[2])];
    return sum;
}

bool live_stretch(struct live_random *r, const struct live_array *a, int owner,
                  long most, long *at, long *n)
{
    long i = draw(r, a->n), end;
    while (i < a->n && a->owner[i] != owner)
        i++;
    for (end = i; end < a->n && end - i < most && a->owner[end] == owner;)
        end++;
    if (i == end)
        return false;
    *at = i;
    *n = draw(r, 3) ? 1 + draw(r, end - i) : end - i;
    return true;
}

/* None, one zone at the end, or many in between. */
static void give_zones(struct live_random *r, struct live_array *a)
{
    long zones = draw(r, 3) ? draw(r, 12) : 0;
    for (long k = 0; k < zones; k++) {
        long at = draw(r, a->n), n = 1 + draw(r, 1 + a->n / 20);
        uint8_t owner = (uint8_t)(1 + draw(r, TOUCHERS));
        for (long i = at; i < at + n && i < a->n; i++)
            a->owner[i] = owner;
    }
    a->owned[0] = 0;
    for (long i = 0; i < a->n; i++)
        a->owned[i + 1] = a->owned[i] + (a->owner[i] != 0);
}

/* ---- life --------------------------------------------------------------------- */

/* Alone in an object, or in the middle of one. */
static void allocate(struct live_random *r, struct live_array *a)
{
    long before = draw(r, 3) ? 0 : 1 + draw(r, 3000);
    long behind = draw(r, 2) ? 0 : draw(r, 3000);
    int nd = 1 + (int)draw(r, 3);
    a->home = (int)draw(r, 5) - 1;
    if (draw(r, 2)) {
        before = behind = 0;
        a->shape = some_shape(r, a->n, nd);
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
        live_shape(r, a, nd);
}

void live_renew(struct live_random *r, struct live_array *a)
{
    static const long sizes[] = {1, 7, 100, 900, 1024, 5000, 20000, 70000};
    pthread_rwlock_wrlock(&a->lock);
    if (a->base) {
        live_compare(a, 0, a->n, "before adsmFree");
        live_note("array %d: freed", a->number);
        if (!live_done(adsmFree(a->base), "adsmFree"))
            live_stop("adsmFree needs no memory");
    }
    do {
        a->n = sizes[draw(r, 8)];
        a->n += draw(r, 1 + a->n / 2);
        a->shape.nd = 0;
        allocate(r, a);
    } while (!a->base);
    size_t n = (size_t)a->n;
    a->flat = realloc(a->flat, n * sizeof *a->flat);
    a->owner = realloc(a->owner, n);
    a->owned = realloc(a->owned, (n + 1) * sizeof *a->owned);
    memset(a->owner, 0, n);
    give_zones(r, a);
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
        live_stop("%s: array %d (%ld elements at %p, home %d): element %ld of "
                  "owner %d is %d, not %d (then %d); %ld wrong up to %ld",
                  what, a->number, a->n, (void *)a->p, a->home, i, a->owner[i],
                  seen, a->flat[i], p[i], wrong, last);
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
