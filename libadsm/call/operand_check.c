/* What operands say about cuts: which may be made, and what they cost. */
#include "call/operand.h"

#include "call/detail.h"

#include <string.h>

/* Dimension of the array that follows dimension `e` of the range, or -1. */
static int follower(const struct adsm_operand *operand, int e)
{
    for (int d = 0; d < operand->array.shape.nd; d++)
        if (adsm_operand_follows(operand, d, e))
            return d;
    return -1;
}

static double bytes_of(const struct adsm_operand *operand)
{
    double bytes = 1;
    for (int d = 0; d < operand->array.shape.nd; d++)
        bytes *= (double)operand->array.shape.hi[d];
    return bytes;
}

/* What the halves of the range have of a boxed operand more than all of it. */
static double cost_of_boxes(const struct adsm_operand *operand,
                            const adsmBox *range, int e)
{
    adsmBox low = *range, high = *range;
    low.hi[e] = high.lo[e] = range->lo[e] + (range->hi[e] - range->lo[e]) / 2;
    double more = adsm_operand_bytes_of_boxes(operand, &low) +
                  adsm_operand_bytes_of_boxes(operand, &high) -
                  adsm_operand_bytes_of_boxes(operand, range);
    return more > 0 ? more : 0;
}

/* Bytes that each cut across dimension `e` makes go to a device more: what is
 * around the cut, or all of what is needed on both its sides (B of A * B). What
 * follows no dimension is everywhere however the range is cut. */
static double cost_of(const struct adsm_operand *operand, const adsmBox *range,
                      int e)
{
    const adsmBox *shape = &operand->array.shape;
    int d = follower(operand, e);
    if (!operand->reads || adsm_operand_is_whole(operand))
        return 0;
    if (operand->boxed)
        return cost_of_boxes(operand, range, e);
    if (d < 0)
        return bytes_of(operand);
    double extent = (double)shape->hi[d];
    if (d == shape->nd - 1)
        extent /= (double)operand->array.elem;
    return 2.0 * (double)operand->radius[d] * bytes_of(operand) / extent;
}

/* Whether a pointer stops the range from being cut across `e`. */
static bool stops(const struct adsm_operand *operand, int e)
{
    return operand->pointer && (adsm_operand_follows(operand, 1, e) ||
                                adsm_operand_follows(operand, 2, e));
}

void adsm_operand_weigh(const struct adsm_operand *operands, int count,
                        struct adsm_split *split)
{
    const adsmBox *range = &split->range;
    bool may[3] = {false, false, false}, any = false;
    for (int i = 0; i < count; i++)
        for (int d = 0; d < 3; d++) {
            int e = operands[i].dim[d];
            if (operands[i].writes && e >= 0)
                split->grain[e] =
                    adsm_split_common(split->grain[e], operands[i].per[d]);
        }
    for (int e = 0; e < range->nd; e++) {
        double face = 1;
        for (int f = 0; f < range->nd; f++)
            if (f != e)
                face *= (double)(range->hi[f] - range->lo[f]);
        may[e] = true;
        for (int i = 0; i < count; i++) {
            const struct adsm_operand *o = &operands[i];
            if (stops(o, e) || (o->writes && !o->into && follower(o, e) < 0))
                may[e] = false;
            split->halo[e] += face > 0 ? cost_of(o, range, e) / face : 0;
        }
        any = any || may[e];
    }
    /* Where none may be, cutting the outermost has the check say why not. */
    if (!any)
        may[0] = true;
    memcpy(split->may, may, sizeof may);
}

/* ---- checks ------------------------------------------------------------------ */

static int check_cut(const struct adsm_operand_call *call,
                     const struct adsm_operand *operand, int e)
{
    if (stops(operand, e))
        return adsm_detail(ADSM_E_INVALID,
                           "argument %d of kernel '%s' is a pointer and has "
                           "whole rows: for cuts across dimension %d of the "
                           "range its parameter is to be an adsm_view2 or "
                           "adsm_view3",
                           operand->number, call->kernel, e);
    if (operand->writes && !operand->into && follower(operand, e) < 0)
        return adsm_detail(ADSM_E_INVALID,
                           "argument %d of kernel '%s' does not follow "
                           "dimension %d of the range: parts would write the "
                           "same bytes",
                           operand->number, call->kernel, e);
    return ADSM_OK;
}

int adsm_operand_check(const struct adsm_operand_call *call,
                       const struct adsm_operand *operands, int count,
                       const struct adsm_split_part *parts, int part_count,
                       const int grid[3])
{
    int rc = ADSM_OK;
    for (int i = 0; i < count && rc == ADSM_OK; i++)
        for (int e = 0; e < 3 && rc == ADSM_OK; e++)
            if (grid[e] > 1)
                rc = check_cut(call, &operands[i], e);
    for (int i = 0; i < count; i++)
        for (int k = 0; operands[i].boxed && k < part_count && rc == ADSM_OK;
             k++)
            rc = adsm_operand_check_boxes(call, &operands[i], &parts[k]);
    for (int i = 0; i < count && rc == ADSM_OK; i++)
        for (int j = i; j < count && rc == ADSM_OK; j++)
            rc = adsm_operand_check_writes(call, &operands[i], &operands[j],
                                           parts, part_count);
    return rc;
}
