/* Hints of the random test; see live.h. */
#include "live.h"

#include <stddef.h>

static void discard(struct live_thread *t, struct live_array *a,
                    const adsmBox *box)
{
    if (live_foreign(t, a, box, (int[3]){0}) ||
        !live_done(adsmDiscard(a->p, box), "adsmDiscard"))
        return;
    adsmBox b = *box;
    int value = (int)draw(t, 1 << 20);
    if (b.nd < 3) /* as one plane of it */
        for (int d = 2; d >= 0; d--) {
            b.lo[d] = d < 3 - b.nd ? 0 : box->lo[d - 3 + b.nd];
            b.hi[d] = d < 3 - b.nd ? 1 : box->hi[d - 3 + b.nd];
        }
    for (long z = b.lo[0]; z < b.hi[0]; z++)
        for (long y = b.lo[1]; y < b.hi[1]; y++)
            for (long x = b.lo[2]; x < b.hi[2]; x++) {
                long at = live_at(a, z, y, x);
                ((volatile int *)a->p)[at] = a->flat[at] = value++;
            }
}

static void look_at_copies(const struct live_array *a)
{
    adsmCopyInfo info[64];
    int n = adsmCopies(a->p, info, 64);
    if (n < 0)
        live_stop("adsmCopies: %s", adsmErrorDetail());
    for (int i = 0; i < n && i < 64; i++)
        if (info[i].device < 0 || info[i].device > 3 ||
            info[i].only > info[i].valid || info[i].valid > info[i].bytes)
            live_stop("copy %d of array %d: device %d, %zu bytes, %zu valid, "
                      "%zu only there",
                      i, a->number, info[i].device, info[i].bytes,
                      info[i].valid, info[i].only);
}

void live_hint(struct live_thread *t)
{
    struct live_array *a = live_any(t);
    if (!a)
        return;
    int kind = (int)draw(t, 6), device = (int)draw(t, 5) - 1;
    adsmBox some = live_box(t, a), *box = draw(t, 4) ? &some : NULL;
    static const char *const names[] = {"prefetch", "drop",   "discard",
                                        "wait for", "copies", "sync"};
    if (!box)
        some = a->shape;
    live_note("%s: %d, device %d, [%ld %ld %ld, %ld %ld %ld)", names[kind],
              a->number, device, some.lo[0], some.lo[1], some.lo[2], some.hi[0],
              some.hi[1], some.hi[2]);
    if (kind == 0)
        (void)live_done(adsmPrefetch(a->p, box, device), "adsmPrefetch");
    else if (kind == 1)
        (void)live_done(adsmDrop(a->p, box, device < 0 ? 0 : device),
                        "adsmDrop");
    else if (kind == 2)
        discard(t, a, &some);
    else if (kind == 3)
        (void)live_done(adsmWaitFor(a->p, box, 1 + (int)draw(t, 3)),
                        "adsmWaitFor");
    else if (kind == 4)
        look_at_copies(a);
    else
        (void)live_done(adsmSync(), "adsmSync");
}
