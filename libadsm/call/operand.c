/* From an argument to an operand, and to the boxes of a part. */
#include "call/operand.h"

#include "range/box.h"
#include "call/argument.h"
#include "call/detail.h"

#include <string.h>

/* Elements of an operand's array in one dimension; the innermost is kept in
 * bytes. */
static long extent(const struct adsm_array *array, int d)
{
    long n = array->shape.hi[d];
    return d == array->shape.nd - 1 ? n / (long)array->elem : n;
}

static int invalid(const struct adsm_operand_call *call, int number,
                   const char *what)
{
    return adsm_detail(ADSM_E_INVALID, "argument %d of kernel '%s' %s", number,
                       call->kernel, what);
}

/* ---- shapes --------------------------------------------------------------- */

static void set_shape(struct adsm_array *array, const adsmBox *shape)
{
    array->shape = *shape;
    memset(array->shape.lo, 0, sizeof array->shape.lo);
    array->shape.hi[shape->nd - 1] *= (long)array->elem;
}

static long volume(const adsmBox *box)
{
    long n = 1;
    for (int d = 0; d < box->nd; d++)
        n *= box->hi[d];
    return n;
}

static bool begins_at_0(const adsmBox *box)
{
    return box->lo[0] == 0 && box->lo[1] == 0 && box->lo[2] == 0;
}

static bool follows_its_own(const adsmArg *arg)
{
    return arg->follow[0] == 0 && arg->follow[1] == 0 && arg->follow[2] == 0;
}

/* What of an array an index or a bound of the range stands for. */
static long element_of(long per, long index)
{
    return per > 1 ? index / per : index;
}

static long element_behind(long per, long index)
{
    return per > 1 ? index / per + (index % per > 0) : index;
}

/* The range in elements of an array that has one for so many indices. */
static adsmBox in_elements(const adsmBox *range, const adsmArg *arg)
{
    adsmBox box = *range;
    for (int d = 0; d < box.nd; d++) {
        box.lo[d] = element_of(arg->per[d], box.lo[d]);
        box.hi[d] = element_behind(arg->per[d], box.hi[d]);
    }
    return box;
}

/* The shape of an array nobody has said anything about. A row that is guessed
 * too long or too short would give wrong results and no error, so more than one
 * dimension is guessed only where the range leaves no doubt. */
static int guess_shape(const struct adsm_operand_call *call, int number,
                       const adsmArg *arg, size_t bytes,
                       struct adsm_operand *operand)
{
    struct adsm_array *array = &operand->array;
    const adsmBox in = in_elements(&call->range, arg), *range = &in;
    long elements = (long)(bytes / array->elem);
    adsmBox shape = adsmR1(elements);
    bool exact = elements == volume(range) && bytes % array->elem == 0;
    /* A table may be larger than the range, but views of it have rows. */
    bool boxed = arg->how == ADSM_BOXED;
    bool table =
        boxed || adsm_operand_is_copied(arg) ||
        (arg->how == ADSM_WHOLE && (call->several || operand->pointer));
    bool large = elements >= volume(range) && !table;
    bool edges = arg->how == ADSM_NEAR && arg->edge != ADSM_EDGE_NONE;
    if (range->nd == 1) {
        /* What lies behind the range is the array's all the same, unless the
         * array's edge is asked for. */
        if (edges && large && begins_at_0(range))
            shape = *range;
    } else if (begins_at_0(range) &&
               (exact || (large && follows_its_own(arg)))) {
        shape = *range;
    } else if (call->several && arg->how != ADSM_WHOLE && !table &&
               (!follows_its_own(arg) || large)) {
        return invalid(call, number,
                       "has no shape that the range tells: say with adsmShape "
                       "what array it is");
    }
    set_shape(array, &shape);
    return ADSM_OK;
}

static int find_shape(const struct adsm_operand_call *call, int number,
                      const adsmArg *arg,
                      const struct adsm_operand_memory *memory,
                      struct adsm_operand *operand)
{
    struct adsm_array *array = &operand->array;
    *array = memory->array;
    if (array->shape.nd > 0) {
        if (arg->elem != 0 && arg->elem != array->elem)
            return adsm_detail(ADSM_E_INVALID,
                               "argument %d of kernel '%s' points to elements "
                               "of %zu bytes, adsmShape said %zu",
                               number, call->kernel, arg->elem, array->elem);
        return ADSM_OK;
    }
    array->elem = arg->elem;
    if (arg->elem == 0) {
        if (call->several)
            return invalid(call, number,
                           "is a void pointer: cast it to its elements' type, "
                           "or say with adsmShape what array it is");
        adsmBox all = adsmR1((long)memory->bytes);
        array->elem = 1;
        set_shape(array, &all);
        return ADSM_OK;
    }
    if (memory->bytes < arg->elem)
        return invalid(call, number, "has not even one element left");
    return guess_shape(call, number, arg, memory->bytes, operand);
}

/* ---- what an argument says ------------------------------------------------- */

static int check_words(const struct adsm_operand_call *call, int number,
                       const adsmArg *arg)
{
    if (arg->how > ADSM_SCATTER || arg->how == ADSM_KEPT ||
        arg->edge > ADSM_EDGE_PAD)
        return invalid(call, number,
                       "has a `how` or `edge` that is none: make it with "
                       "adsmIn, adsmAll, adsmHalo and their like");
    if (arg->how == ADSM_BOXED &&
        (arg->edge || arg->follow[0] || arg->follow[1] || arg->follow[2]))
        return invalid(call, number,
                       "is boxed and has an edge, or follows dimensions: its "
                       "boxes are all that is said of it");
    if (adsm_operand_is_copied(arg) &&
        (arg->mode != ADSM_INOUT || arg->edge || !follows_its_own(arg) ||
         arg->per[0] || arg->per[1] || arg->per[2]))
        return invalid(call, number,
                       arg->how == ADSM_INTO
                           ? "is accumulated into and has a mode, an edge or "
                             "dimensions that it follows: adsmInto is all that "
                             "is said of it"
                           : "is written anywhere and has a mode, an edge or "
                             "dimensions that it follows: adsmScatter is all "
                             "that is said of it");
    if (arg->edge == ADSM_EDGE_PAD && arg->how == ADSM_NEAR && !arg->extra)
        return invalid(call, number,
                       "has ADSM_EDGE_PAD and no element for it: adsmPad "
                       "names one");
    for (int d = 0; d < 3; d++) {
        if (arg->follow[d] < -1 || arg->follow[d] > call->range.nd)
            return adsm_detail(ADSM_E_INVALID,
                               "argument %d of kernel '%s' follows dimension "
                               "%d of a range that has 1 to %d",
                               number, call->kernel, arg->follow[d],
                               call->range.nd);
        if (arg->per[d] < 0)
            return adsm_detail(ADSM_E_INVALID,
                               "argument %d of kernel '%s' has an element for "
                               "%ld indices; 0 or more are possible",
                               number, call->kernel, arg->per[d]);
        if (arg->how == ADSM_NEAR && arg->radius[d] < 0)
            return adsm_detail(ADSM_E_INVALID,
                               "argument %d of kernel '%s' has radius %d; 0 or "
                               "more are possible",
                               number, call->kernel, arg->radius[d]);
    }
    return ADSM_OK;
}

/* Which dimensions it follows, with what around it. */
static int follow(const struct adsm_operand_call *call, const adsmArg *arg,
                  struct adsm_operand *operand)
{
    int nd = operand->array.shape.nd;
    bool all = arg->how == ADSM_WHOLE || arg->how == ADSM_BOXED ||
               adsm_operand_is_copied(arg) ||
               (arg->elem == 0 && !call->several && operand->array.elem == 1);
    for (int d = 0; d < 3; d++) {
        int own = d < call->range.nd ? d : -1;
        operand->dim[d] = all || d >= nd        ? -1
                          : arg->follow[d] == 0 ? own
                          : arg->follow[d] > 0  ? arg->follow[d] - 1
                                                : -1;
        operand->radius[d] = arg->how == ADSM_NEAR ? arg->radius[d] : 0;
        operand->per[d] = arg->per[d] > 1 ? arg->per[d] : 1;
        if (operand->radius[d] > 0 && d >= nd)
            return adsm_detail(ADSM_E_INVALID,
                               "argument %d of kernel '%s' has a radius in "
                               "dimension %d, its array has %d: say with "
                               "adsmShape what array it is",
                               operand->number, call->kernel, d, nd);
    }
    operand->edge =
        arg->how == ADSM_NEAR ? (adsmEdge)arg->edge : ADSM_EDGE_NONE;
    operand->pad = operand->edge == ADSM_EDGE_PAD ? arg->extra : NULL;
    operand->wants = 1;
    return arg->how == ADSM_BOXED ? adsm_operand_read_boxes(call, arg, operand)
                                  : ADSM_OK;
}

static int check_inside(const struct adsm_operand_call *call,
                        const struct adsm_operand *operand)
{
    for (int d = 0; d < operand->array.shape.nd; d++) {
        int e = operand->dim[d];
        long n = extent(&operand->array, d);
        if (e >= 0 && element_behind(operand->per[d], call->range.hi[e]) > n)
            return adsm_detail(
                ADSM_E_INVALID,
                "argument %d of kernel '%s' has %ld elements in "
                "dimension %d, the range goes to %ld",
                operand->number, call->kernel, n, d,
                element_behind(operand->per[d], call->range.hi[e]));
    }
    return ADSM_OK;
}

/* Whether what its parameter is does for the array. */
static int check_view(const struct adsm_operand_call *call, size_t bytes,
                      const struct adsm_operand *operand)
{
    int nd = operand->array.shape.nd;
    if (bytes == 16 && nd == 3)
        return invalid(call, operand->number,
                       "is an array of 3 dimensions: its parameter is to be "
                       "an adsm_view3");
    for (int d = 1; d < nd && operand->pointer; d++)
        if (operand->radius[d] > 0 && operand->edge != ADSM_EDGE_NONE)
            return invalid(call, operand->number,
                           "has elements beyond the ends of its rows, which a "
                           "pointer cannot reach: its parameter is to be an "
                           "adsm_view2 or adsm_view3");
    return ADSM_OK;
}

int adsm_operand_make(const struct adsm_operand_call *call, int number,
                      const adsmArg *arg, size_t parameter_bytes,
                      const struct adsm_operand_memory *memory,
                      struct adsm_operand *operand)
{
    memset(operand, 0, sizeof *operand);
    operand->number = number;
    operand->pointer =
        parameter_bytes ? parameter_bytes == 8 : !adsm_argument_is_view(arg);
    operand->reads = arg->mode & ADSM_IN;
    operand->writes = arg->mode & ADSM_OUT;
    int rc = check_words(call, number, arg);
    if (rc == ADSM_OK)
        rc = find_shape(call, number, arg, memory, operand);
    if (rc == ADSM_OK)
        rc = follow(call, arg, operand);
    if (rc == ADSM_OK)
        rc = check_inside(call, operand);
    if (rc == ADSM_OK)
        rc = check_view(call, parameter_bytes, operand);
    return rc;
}

static bool is_cut_alike(const struct adsm_operand *a,
                         const struct adsm_operand *b)
{
    return a->array.shape.nd == b->array.shape.nd &&
           adsm_box_equal(&a->array.shape, &b->array.shape) &&
           a->array.elem == b->array.elem &&
           memcmp(a->dim, b->dim, sizeof a->dim) == 0 &&
           memcmp(a->per, b->per, sizeof a->per) == 0;
}

void adsm_operand_give_room(struct adsm_operand *operands, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) {
            struct adsm_operand *out = &operands[i];
            const struct adsm_operand *in = &operands[k];
            /* What is beyond an edge is a margin, which is for one want. */
            if (!out->writes || out->reads || out->boxed || in->writes ||
                in->boxed || in->edge != ADSM_EDGE_NONE ||
                !is_cut_alike(out, in))
                continue;
            for (int d = 0; d < 3; d++)
                if (out->radius[d] < in->radius[d])
                    out->radius[d] = in->radius[d];
        }
}

/* ---- the boxes of a part ---------------------------------------------------- */

static long least(long a, long b)
{
    return a < b ? a : b;
}

static long most(long a, long b)
{
    return a > b ? a : b;
}

int adsm_operand_want(const struct adsm_operand *operand,
                      const struct adsm_split_part *part,
                      struct adsm_want *wants)
{
    if (operand->boxed)
        return adsm_operand_want_boxes(operand, part, wants);
    const adsmBox *shape = &operand->array.shape;
    adsmBox own = *shape, near = *shape, grown = *shape, none = {.nd = own.nd};
    for (int d = 0; d < shape->nd; d++) {
        int e = operand->dim[d];
        long unit = d == shape->nd - 1 ? (long)operand->array.elem : 1;
        long radius = operand->radius[d] * unit;
        if (e >= 0) {
            long per = operand->per[d];
            own.lo[d] = element_of(per, part->box.lo[e]) * unit;
            own.hi[d] = element_behind(per, part->box.hi[e]) * unit;
        }
        grown.lo[d] = own.lo[d] - radius;
        grown.hi[d] = own.hi[d] + radius;
        near.lo[d] = most(grown.lo[d], 0);
        near.hi[d] = least(grown.hi[d], shape->hi[d]);
    }
    wants[0] = (struct adsm_want){
        .array = operand->array,
        .read = operand->reads ? near : none,
        .write = operand->writes ? own : none,
        .around = operand->edge == ADSM_EDGE_NONE ? near : grown,
        .edge = operand->edge,
        .pad = operand->pad,
        .rows = operand->pointer,
    };
    wants[0].array.origin += (size_t)part->index * operand->stride;
    return 1;
}
