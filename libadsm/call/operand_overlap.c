/*
 * Whether two parts of a call would write the same byte; see operand.h.
 *
 * Boxes that are written are put in the order of their first bytes, so that each
 * is compared with those only that begin before it ends.
 */
#include "call/operand.h"

#include "base/region.h"
#include "range/box.h"
#include "call/detail.h"

#include <stdlib.h>
#include <string.h>

/* A box that a part writes. */
struct written {
    const struct adsm_operand *operand;
    int part;
    adsmBox box;
    size_t begin, end; /* of its first and last byte, in the object */
};

static bool same_array(const struct adsm_array *a, const struct adsm_array *b)
{
    return a->origin == b->origin && a->shape.nd == b->shape.nd &&
           adsm_box_equal(&a->shape, &b->shape);
}

/* Where a box begins and ends in its object. */
static void find_bytes(const struct adsm_array *array, const adsmBox *box,
                       size_t *begin, size_t *end)
{
    size_t pitch[3];
    adsmBox last = *box;
    adsm_box_pitches(&array->shape, pitch);
    for (int d = 0; d < last.nd; d++)
        last.lo[d] = last.hi[d] - 1;
    *begin = array->origin + adsm_box_offset(box, &array->shape, pitch);
    *end = array->origin + adsm_box_offset(&last, &array->shape, pitch) + 1;
}

/* Whether bytes [begin, end) of the object lie in a box that is written. */
static bool bytes_meet(const struct written *w, size_t begin, size_t end)
{
    const struct adsm_array *array = &w->operand->array;
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
        if (adsm_box_meets(&boxes[i], &w->box))
            return true;
    return false;
}

/* Boxes of arrays of different shape: row by row. */
static bool rows_meet(const struct written *a, const struct written *b)
{
    size_t begin, end;
    adsmBox row = a->box;
    int inner = row.nd - 1;
    for (int d = 0; d < inner; d++)
        row.hi[d] = row.lo[d] + 1;
    for (;;) {
        find_bytes(&a->operand->array, &row, &begin, &end);
        if (bytes_meet(b, begin, end))
            return true;
        int d = inner - 1;
        for (; d >= 0; d--) {
            row.lo[d]++;
            row.hi[d]++;
            if (row.lo[d] < a->box.hi[d])
                break;
            row.lo[d] = a->box.lo[d];
            row.hi[d] = row.lo[d] + 1;
        }
        if (d < 0)
            return false;
    }
}

static bool boxes_meet(const struct written *a, const struct written *b)
{
    return same_array(&a->operand->array, &b->operand->array)
               ? adsm_box_meets(&a->box, &b->box)
               : rows_meet(a, b);
}

/* Add what the parts write of an operand. Return: how many there are then */
static int collect(const struct adsm_operand *operand,
                   const struct adsm_split_part *parts, int count,
                   struct written *list, int n)
{
    for (int i = 0; i < count; i++) {
        struct adsm_want wants[ADSM_OPERAND_WANTS];
        int boxes = adsm_operand_want(operand, &parts[i], wants);
        for (int k = 0; k < boxes; k++) {
            struct written *w = &list[n];
            if (adsm_box_is_empty(&wants[k].write))
                continue;
            *w = (struct written){operand, i, wants[k].write, 0, 0};
            find_bytes(&operand->array, &w->box, &w->begin, &w->end);
            n++;
        }
    }
    return n;
}

static int by_begin(const void *a, const void *b)
{
    const struct written *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->part - y->part;
}

static void print(const struct written *w, char text[ADSM_EXPRESSION_PRINTED])
{
    adsmBox box = w->box;
    long elem = (long)w->operand->array.elem;
    box.lo[box.nd - 1] /= elem;
    box.hi[box.nd - 1] /= elem;
    adsm_expression_print(&box, text);
}

static int say_twice(const struct adsm_operand_call *call,
                     const struct written *x, const struct written *y)
{
    char by_low[ADSM_EXPRESSION_PRINTED], by_high[ADSM_EXPRESSION_PRINTED];
    const struct written *low = x, *high = y;
    if (x->operand->number > y->operand->number) {
        low = y;
        high = x;
    }
    print(low, by_low);
    print(high, by_high);
    if (x->operand == y->operand)
        return adsm_detail(ADSM_E_INVALID,
                           "parts %d and %d of kernel '%s' would write the "
                           "same bytes of argument %d: %s and %s",
                           low->part, high->part, call->kernel,
                           low->operand->number, by_low, by_high);
    return adsm_detail(ADSM_E_INVALID,
                       "arguments %d and %d of kernel '%s' lie in one object, "
                       "where parts %d and %d would write the same bytes: %s "
                       "and %s",
                       low->operand->number, high->operand->number,
                       call->kernel, low->part, high->part, by_low, by_high);
}

/* Boxes of two operands, or where `same` is true of one. */
static int sweep(const struct adsm_operand_call *call, struct written *list,
                 int n, bool same)
{
    qsort(list, (size_t)n, sizeof *list, by_begin);
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n && list[k].begin < list[i].end; k++)
            if (list[i].part != list[k].part &&
                (list[i].operand == list[k].operand) == same &&
                boxes_meet(&list[i], &list[k]))
                return say_twice(call, &list[i], &list[k]);
    return ADSM_OK;
}

int adsm_operand_check_writes(const struct adsm_operand_call *call,
                              const struct adsm_operand *a,
                              const struct adsm_operand *b,
                              const struct adsm_split_part *parts, int count)
{
    bool same = a == b;
    if (!a->writes || !b->writes || a->array.object != b->array.object ||
        (same && !a->boxed))
        return ADSM_OK;
    if (!a->boxed && !b->boxed && same_array(&a->array, &b->array) &&
        memcmp(a->dim, b->dim, sizeof a->dim) == 0 &&
        memcmp(a->per, b->per, sizeof a->per) == 0)
        return ADSM_OK; /* as disjoint as each of them */
    size_t most = (size_t)count * (size_t)(a->wants + b->wants);
    struct adsm_region region = {NULL, NULL, NULL};
    struct written *list = adsm_region_get(&region, most, sizeof *list);
    if (!list)
        return adsm_detail(ADSM_E_NOMEM, "no memory for %zu boxes", most);
    int n = collect(a, parts, count, list, 0);
    if (!same)
        n = collect(b, parts, count, list, n);
    int rc = sweep(call, list, n, same);
    adsm_region_end(&region);
    return rc;
}
