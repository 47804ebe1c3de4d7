/* What operands say about cuts: which may be made, what they cost, and whether
 * two parts would write the same byte. */
#include "sched/operand.h"

#include "range/box.h"
#include "sched/detail.h"

#include <string.h>

/* Dimension of the array that follows dimension `e` of the range, or -1. */
static int follower(const struct adsm_operand *operand, int e)
{
    for (int d = 0; d < operand->array.shape.nd; d++)
        if (operand->dim[d] == e)
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

/* Bytes that each cut across dimension `e` makes go to a device more: what is
 * around the cut, or all of what is needed on both its sides (B of A * B). What
 * follows no dimension is everywhere however the range is cut. */
static double cost_of(const struct adsm_operand *operand, int e)
{
    const adsmBox *shape = &operand->array.shape;
    int d = follower(operand, e);
    bool whole =
        operand->dim[0] < 0 && operand->dim[1] < 0 && operand->dim[2] < 0;
    if (!operand->reads || whole)
        return 0;
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
    return operand->pointer && (operand->dim[1] == e || operand->dim[2] == e);
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
            if (stops(o, e) || (o->writes && follower(o, e) < 0))
                may[e] = false;
            split->halo[e] += face > 0 ? cost_of(o, e) / face : 0;
        }
        any = any || may[e];
    }
    /* Where none may be, cutting the outermost has the check say why not. */
    if (!any)
        may[0] = true;
    memcpy(split->may, may, sizeof may);
}

/* ---- two parts that write the same byte ------------------------------------- */

static bool same_array(const struct adsm_array *a, const struct adsm_array *b)
{
    return a->origin == b->origin && a->shape.nd == b->shape.nd &&
           adsm_box_equal(&a->shape, &b->shape);
}

/* Where the box begins and ends in its object. */
static void hull(const struct adsm_want *want, size_t *begin, size_t *end)
{
    const struct adsm_array *array = &want->array;
    size_t pitch[3];
    adsmBox last = want->write;
    adsm_box_pitches(&array->shape, pitch);
    for (int d = 0; d < last.nd; d++)
        last.lo[d] = last.hi[d] - 1;
    *begin =
        array->origin + adsm_box_offset(&want->write, &array->shape, pitch);
    *end = array->origin + adsm_box_offset(&last, &array->shape, pitch) + 1;
}

/* Whether bytes [begin, end) of the object lie in the box that is written. */
static bool bytes_meet(const struct adsm_want *want, size_t begin, size_t end)
{
    const struct adsm_array *array = &want->array;
    size_t stop = array->origin + adsm_box_bytes(&array->shape);
    adsmBox boxes[ADSM_BOX_CUTS];
    if (begin < array->origin)
        begin = array->origin;
    if (end > stop)
        end = stop;
    if (begin >= end)
        return false;
    int n = adsm_box_of_bytes(&array->shape, begin - array->origin,
                              end - array->origin, boxes);
    for (int i = 0; i < n; i++)
        if (adsm_box_meets(&boxes[i], &want->write))
            return true;
    return false;
}

/* Boxes of arrays of different shape: row by row. */
static bool rows_meet(const struct adsm_want *a, const struct adsm_want *b)
{
    size_t begin_a, end_a, begin_b, end_b;
    hull(a, &begin_a, &end_a);
    hull(b, &begin_b, &end_b);
    if (end_a <= begin_b || end_b <= begin_a)
        return false;
    adsmBox row = a->write;
    int inner = row.nd - 1;
    for (int d = 0; d < inner; d++)
        row.hi[d] = row.lo[d] + 1;
    for (;;) {
        struct adsm_want one = {.array = a->array, .write = row};
        hull(&one, &begin_a, &end_a);
        if (bytes_meet(b, begin_a, end_a))
            return true;
        int d = inner - 1;
        for (; d >= 0; d--) {
            row.lo[d]++;
            row.hi[d]++;
            if (row.lo[d] < a->write.hi[d])
                break;
            row.lo[d] = a->write.lo[d];
            row.hi[d] = row.lo[d] + 1;
        }
        if (d < 0)
            return false;
    }
}

static bool writes_meet(const struct adsm_want *a, const struct adsm_want *b)
{
    if (adsm_box_is_empty(&a->write) || adsm_box_is_empty(&b->write))
        return false;
    return same_array(&a->array, &b->array)
               ? adsm_box_meets(&a->write, &b->write)
               : rows_meet(a, b);
}

/* Two arguments that are written in one object. */
static int check_pair(const struct adsm_operand_call *call,
                      const struct adsm_operand *a,
                      const struct adsm_operand *b,
                      const struct adsm_split_part *parts, int count)
{
    if (same_array(&a->array, &b->array) &&
        memcmp(a->dim, b->dim, sizeof a->dim) == 0 &&
        memcmp(a->per, b->per, sizeof a->per) == 0)
        return ADSM_OK; /* as disjoint as each of them */
    for (int i = 0; i < count; i++) {
        struct adsm_want wants[2];
        adsm_operand_want(a, &parts[i].box, &wants[0]);
        for (int j = 0; j < count; j++) {
            adsm_operand_want(b, &parts[j].box, &wants[1]);
            if (i != j && writes_meet(&wants[0], &wants[1]))
                return adsm_detail(ADSM_E_INVALID,
                                   "arguments %d and %d of kernel '%s' lie in "
                                   "one object, where parts %d and %d would "
                                   "write the same bytes",
                                   a->number, b->number, call->kernel, i, j);
        }
    }
    return ADSM_OK;
}

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
    if (operand->writes && follower(operand, e) < 0)
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
    for (int i = 0; i < count && rc == ADSM_OK; i++)
        for (int j = i + 1; j < count && rc == ADSM_OK; j++)
            if (operands[i].writes && operands[j].writes &&
                operands[i].array.object == operands[j].array.object)
                rc = check_pair(call, &operands[i], &operands[j], parts,
                                part_count);
    return rc;
}
