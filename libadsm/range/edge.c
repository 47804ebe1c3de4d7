/* Margins; see edge.h. */
#include "range/edge.h"

#include "range/carry.h"
#include "range/prepare.h"
#include "range/state.h"

#include <stdlib.h>

static long least(long a, long b)
{
    return a < b ? a : b;
}

long adsm_edge_stretch(adsmEdge edge, long n, long unit, long x, long hi,
                       long *from)
{
    long beyond = x < 0 ? 0 : hi; /* where this side of the edge ends */
    if (x >= 0 && x < n) {
        *from = x;
        return least(n, hi);
    }
    switch (edge) {
    case ADSM_EDGE_CLAMP:
        *from = x < 0 ? 0 : n - unit;
        return least(x + unit, hi);
    case ADSM_EDGE_WRAP:
        *from = (x % n + n) % n;
        return least(x + n - *from, hi);
    default:
        *from = -1;
        return least(beyond, hi);
    }
}

/* What of the copy a piece of `from`, in the map, is moved to. */
static adsmBox target_of(const adsmBox *piece, const adsmBox *from,
                         const adsmBox *to)
{
    adsmBox target = *to;
    int d = to->nd - 1, e = from->nd - 1;
    for (; e >= 0; d--, e--) {
        target.lo[d] = to->lo[d] + piece->lo[e] - from->lo[e];
        target.hi[d] = to->lo[d] + piece->hi[e] - from->lo[e];
    }
    return target;
}

/* From whatever has it, moved to where the kernel looks for it. Of one that is
 * framed both are rows. */
static int bring(struct adsm_want *want, const adsmBox *to, const adsmBox *box)
{
    struct adsm_object *object = want->array.object;
    struct adsm_held *held = &adsm_ranged(object)->held;
    struct adsm_moves moves = {0};
    adsmBox from = want->framed ? adsm_prepare_flat(&want->array, box) : *box;
    int rc = adsm_plan_gather(held, want->copy, &from, &moves);
    /* First: what is stored behind an upload must meet a closed block. */
    if (rc == ADSM_OK && moves.count > 0) {
        rc = adsm_ranged_sent(object, &from);
        if (rc != ADSM_OK)
            adsm_plan_undo(held, &moves, 0);
    }
    for (uint32_t i = 0; rc == ADSM_OK && i < moves.count; i++) {
        const struct adsm_move *move = &moves.items[i];
        adsmBox target = move->to == want->copy->holder
                             ? target_of(&move->box, &from, to)
                             : move->box;
        rc = adsm_carry_to(object, held->copies[move->to], &target,
                           held->copies[move->from], &move->box,
                           ADSM_CAUSE(part));
        if (rc != ADSM_OK)
            adsm_plan_undo(held, &moves, i);
    }
    free(moves.items);
    return rc;
}

/* One box of the room that comes from one box of the array, or is padding. */
static int fill_box(struct adsm_want *want, const adsmBox *to,
                    const adsmBox *from)
{
    for (int d = 0; d < to->nd; d++)
        if (from->lo[d] < 0)
            return adsm_carry_fill(want->copy, to, want->pad, want->array.elem,
                                   ADSM_CAUSE(part));
    return bring(want, to, from);
}

/* Dimension d and those within it. `inside`: those around it are no margin, and
 * what is there already. */
static int fill(struct adsm_want *want, int d, bool inside, adsmBox *to,
                adsmBox *from)
{
    const adsmBox *room = &want->copy->room;
    if (d == 3 || d == room->nd)
        return inside ? ADSM_OK : fill_box(want, to, from);
    long shift = want->flat ? (long)want->array.origin : 0;
    long n = want->array.shape.hi[d];
    long unit = d == room->nd - 1 ? (long)want->array.elem : 1;
    long hi = room->hi[d] - shift, end;
    int rc = ADSM_OK;
    for (long x = room->lo[d] - shift; x < hi && rc == ADSM_OK; x = end) {
        long first;
        end = adsm_edge_stretch(want->edge, n, unit, x, hi, &first);
        if (want->framed && d < room->nd - 1)
            end = x + 1;
        to->lo[d] = x + shift;
        to->hi[d] = end + shift;
        from->lo[d] = first < 0 ? -1 : first + shift;
        from->hi[d] = first < 0 ? -1 : first + shift + end - x;
        rc = fill(want, d + 1, inside && x >= 0 && first == x, to, from);
    }
    return rc;
}

int adsm_edge_fill(struct adsm_want *want)
{
    adsmBox to = {.nd = want->room.nd}, from = to;
    return fill(want, 0, !want->framed, &to, &from);
}
