/* Arrays that skeletons are given. */
#include "call/detail.h"
#include "call/skeleton_parts.h"

#include "mm/heap/heap.h"
#include "range/spread.h"

struct seen {
    long elements; /* behind the pointer; of an array with a shape, all   */
    int nd;        /* 0: nobody has said                                  */
    long extent[3];
};

static int look(const struct adsm_skeleton *skeleton, const char *name,
                const void *p, struct seen *seen)
{
    struct adsm_array array;
    size_t elem = adsm_operator_bytes(skeleton->op), bytes;
    void *base;
    int rc = adsm_heap_range(p, &base, &bytes);
    if (rc == ADSM_OK)
        rc = adsm_spread_array(p, &array);
    if (rc != ADSM_OK && rc != ADSM_E_NOT_FOUND)
        return adsm_detail(ADSM_E_NOT_SHARED,
                           "`%s` (%p) is no shared pointer: allocate it with "
                           "adsmAlloc",
                           name, p);
    size_t align = adsm_operator_align(skeleton->op);
    if ((uintptr_t)p % align != 0)
        return adsm_detail(ADSM_E_INVALID,
                           "`%s` (%p) is not aligned to %zu bytes, as elements "
                           "of operator '%s' are",
                           name, p, align, adsm_operator_name(skeleton->op));
    seen->nd = rc == ADSM_OK ? array.shape.nd : 0;
    bytes -= (size_t)((const char *)p - (const char *)base);
    seen->elements = (long)(bytes / elem);
    if (seen->nd > 0 && array.elem != elem)
        return adsm_detail(ADSM_E_INVALID,
                           "`%s` has elements of %zu bytes, operator '%s' is "
                           "of %zu",
                           name, array.elem, adsm_operator_name(skeleton->op),
                           elem);
    for (int d = 0; d < seen->nd; d++)
        seen->extent[d] = d < seen->nd - 1 ? array.shape.hi[d]
                                           : array.shape.hi[d] / (long)elem;
    return ADSM_OK;
}

/* In an array that nobody has named a range of two dimensions is all of it. */
static int check_unnamed(const struct seen *seen, const adsmBox *range)
{
    double wanted = 1;
    for (int d = 0; d < range->nd; d++)
        wanted *= (double)range->hi[d];
    if (range->nd > 1 && (range->lo[0] > 0 || range->lo[1] > 0))
        return adsm_detail(ADSM_E_INVALID,
                           "`in` has no shape that the range tells: say with "
                           "adsmShape what array it is");
    if (wanted > (double)seen->elements)
        return adsm_detail(ADSM_E_INVALID,
                           "`in` has %ld elements, the range is of %.0f",
                           seen->elements, wanted);
    return ADSM_OK;
}

int adsm_skeleton_check_in(const struct adsm_skeleton *skeleton, const void *in,
                           const adsmBox *range)
{
    struct seen seen = {.nd = 0};
    int rc = look(skeleton, "in", in, &seen);
    if (rc != ADSM_OK || seen.nd == 0)
        return rc == ADSM_OK ? check_unnamed(&seen, range) : rc;
    if (seen.nd != range->nd)
        return adsm_detail(ADSM_E_INVALID,
                           "`in` is an array of %d dimensions, the range has "
                           "%d",
                           seen.nd, range->nd);
    for (int d = 0; d < range->nd; d++)
        if (range->hi[d] > seen.extent[d])
            return adsm_detail(ADSM_E_INVALID,
                               "`in` has %ld elements in dimension %d, the "
                               "range goes to %ld",
                               seen.extent[d], d, range->hi[d]);
    return ADSM_OK;
}

int adsm_skeleton_check_result(const struct adsm_skeleton *skeleton,
                               const char *name, const void *result, long count)
{
    struct seen seen = {.nd = 0};
    int rc = look(skeleton, name, result, &seen);
    if (rc != ADSM_OK)
        return rc;
    if (seen.nd > 1)
        return adsm_detail(ADSM_E_INVALID,
                           "`%s` is an array of %d dimensions, it is to have "
                           "one",
                           name, seen.nd);
    long room = seen.nd == 1 ? seen.extent[0] : seen.elements;
    if (room < count)
        return adsm_detail(ADSM_E_INVALID,
                           "`%s` has room for %ld elements of %zu bytes, there "
                           "are %ld",
                           name, room, adsm_operator_bytes(skeleton->op),
                           count);
    return ADSM_OK;
}

int adsm_skeleton_check_apart(const struct adsm_skeleton *skeleton,
                              const void *in, const adsmBox *range,
                              const char *name, const void *result, long count)
{
    size_t elem = adsm_operator_bytes(skeleton->op);
    struct seen seen = {.nd = 0};
    int rc = look(skeleton, "in", in, &seen);
    if (rc != ADSM_OK)
        return rc;
    /* Whole rows: what lies between the range's is not worth a rule. */
    size_t row =
        range->nd < 2 ? 1 : (size_t)(seen.nd ? seen.extent[1] : range->hi[1]);
    uintptr_t from = (uintptr_t)in, to = (uintptr_t)result;
    uintptr_t end = from + (size_t)range->hi[0] * row * elem;
    if (to < end && from < to + (size_t)count * elem)
        return adsm_detail(ADSM_E_INVALID,
                           "`%s` (%p) lies in what is read of `in`, or the "
                           "other way round",
                           name, result);
    return ADSM_OK;
}
