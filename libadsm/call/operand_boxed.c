/* Operands that name their boxes; see operand.h. */
#include "call/operand.h"

#include "range/box.h"
#include "call/detail.h"

#include <string.h>

static struct adsm_expression_values
values_of(const struct adsm_operand *operand, const adsmBox *part)
{
    const struct adsm_array *array = &operand->array;
    struct adsm_expression_values values = {.part = part,
                                            .nd = array->shape.nd,
                                            .param = operand->boxed->param,
                                            .params = operand->boxed->params};
    memcpy(values.extent, array->shape.hi, sizeof values.extent);
    values.extent[values.nd - 1] /= (long)array->elem;
    return values;
}

/* As a text says. Return: whether it is right */
static bool read_text(const struct adsm_operand *operand, const adsmBox *part,
                      struct adsm_expression *boxes)
{
    struct adsm_expression_values values = values_of(operand, part);
    return adsm_expression_read(operand->boxed->text, &values, boxes);
}

/* What the program's function says of a part: boxes->count, which may be what it
 * must not. */
static void ask(const struct adsm_operand *operand,
                const struct adsm_split_part *part,
                struct adsm_expression *boxes)
{
    const adsmPart about = {.box = part->box,
                            .whole = operand->range,
                            .index = part->index,
                            .count = part->count,
                            .device = operand->numbers
                                          ? operand->numbers[part->device]
                                          : part->device};
    memset(boxes->box, 0, sizeof boxes->box);
    boxes->count =
        operand->boxed->boxes(&about, (void *)(uintptr_t)operand->boxed->extra,
                              boxes->box, ADSM_EXPRESSION_BOXES);
    for (int i = 0; i < ADSM_EXPRESSION_BOXES; i++)
        for (int d = operand->array.shape.nd; d < 3; d++)
            boxes->box[i].lo[d] = boxes->box[i].hi[d] = 0;
}

static int wrong_text(const struct adsm_operand_call *call,
                      const struct adsm_operand *operand,
                      const struct adsm_expression *boxes)
{
    return adsm_detail(ADSM_E_INVALID,
                       "argument %d of kernel '%s', \"%.120s\", column %d: "
                       "expected %s; the array has %d dimensions, the range "
                       "%d, parameters are %d",
                       operand->number, call->kernel, operand->boxed->text,
                       boxes->column, boxes->expected, operand->array.shape.nd,
                       call->range.nd, operand->boxed->params);
}

int adsm_operand_read_boxes(const struct adsm_operand_call *call,
                            const adsmArg *arg, struct adsm_operand *operand)
{
    struct adsm_expression boxes;
    operand->boxed = arg;
    operand->range = call->range;
    operand->numbers = call->numbers;
    if (arg->boxes) {
        /* It may follow any dimension, by rows as likely as not. */
        operand->follows[0] = 7;
        operand->wants = ADSM_EXPRESSION_BOXES;
        return ADSM_OK;
    }
    if (!arg->text || arg->params < 0 ||
        arg->params > ADSM_EXPRESSION_PARAMETERS)
        return adsm_detail(ADSM_E_INVALID,
                           "argument %d of kernel '%s' is boxed with %s and %d "
                           "parameters: 0 to %d are possible",
                           operand->number, call->kernel,
                           arg->text ? "a text" : "no text", arg->params,
                           ADSM_EXPRESSION_PARAMETERS);
    if (!read_text(operand, &call->range, &boxes))
        return wrong_text(call, operand, &boxes);
    memcpy(operand->follows, boxes.follows, sizeof operand->follows);
    operand->wants = boxes.count;
    operand->passing = boxes.has_params && adsm_operand_is_whole(operand);
    return ADSM_OK;
}

/* What a function must not say. */
static int check_answer(const struct adsm_operand_call *call,
                        const struct adsm_operand *operand,
                        const struct adsm_split_part *part,
                        const struct adsm_expression *boxes)
{
    int n = boxes->count, nd = operand->array.shape.nd;
    if (n < 0)
        return adsm_detail(ADSM_E_INVALID,
                           "argument %d of kernel '%s': its function refused "
                           "part %d of %d with %d",
                           operand->number, call->kernel, part->index,
                           part->count, n);
    if (n > ADSM_EXPRESSION_BOXES)
        return adsm_detail(ADSM_E_INVALID,
                           "argument %d of kernel '%s': its function has %d "
                           "boxes of part %d of %d, %d are possible",
                           operand->number, call->kernel, n, part->index,
                           part->count, ADSM_EXPRESSION_BOXES);
    for (int i = 0; i < n; i++)
        if (boxes->box[i].nd != nd)
            return adsm_detail(ADSM_E_INVALID,
                               "argument %d of kernel '%s': box %d of part %d "
                               "of %d has %d dimensions, its array %d",
                               operand->number, call->kernel, i, part->index,
                               part->count, boxes->box[i].nd, nd);
    return ADSM_OK;
}

static int check_inside(const struct adsm_operand_call *call,
                        const struct adsm_operand *operand,
                        const struct adsm_split_part *part, const adsmBox *box,
                        int number)
{
    struct adsm_expression_values values = values_of(operand, &part->box);
    for (int d = 0; d < box->nd && !adsm_box_is_empty(box); d++)
        if (box->lo[d] < 0 || box->hi[d] > values.extent[d])
            return adsm_detail(ADSM_E_INVALID,
                               "argument %d of kernel '%s': box %d of part %d "
                               "of %d goes from %ld to %ld in dimension %d, "
                               "its array from 0 to %ld",
                               operand->number, call->kernel, number,
                               part->index, part->count, box->lo[d], box->hi[d],
                               d, values.extent[d]);
    return ADSM_OK;
}

int adsm_operand_check_boxes(const struct adsm_operand_call *call,
                             const struct adsm_operand *operand,
                             const struct adsm_split_part *part)
{
    struct adsm_expression boxes;
    int rc = ADSM_OK;
    if (operand->boxed->boxes) {
        ask(operand, part, &boxes);
        rc = check_answer(call, operand, part, &boxes);
    } else if (!read_text(operand, &part->box, &boxes)) {
        rc = wrong_text(call, operand, &boxes);
    }
    for (int i = 0; rc == ADSM_OK && i < boxes.count; i++)
        rc = check_inside(call, operand, part, &boxes.box[i], i);
    return rc;
}

/* What of each box there is, in bytes; boxes that have nothing go. */
static void clip(const struct adsm_operand *operand,
                 struct adsm_expression *boxes)
{
    const struct adsm_array *array = &operand->array;
    int inner = array->shape.nd - 1, n = 0;
    long elem = (long)array->elem;
    adsmBox all = array->shape;
    all.hi[inner] /= elem;
    for (int i = 0; i < boxes->count && i < ADSM_EXPRESSION_BOXES; i++) {
        if (boxes->box[i].nd != all.nd)
            continue; /* a function that has not said so when it was checked */
        adsmBox box = adsm_box_meet(&boxes->box[i], &all);
        if (adsm_box_is_empty(&box))
            continue;
        box.lo[inner] *= elem;
        box.hi[inner] *= elem;
        boxes->box[n++] = box;
    }
    boxes->count = n;
}

int adsm_operand_want_boxes(const struct adsm_operand *operand,
                            const struct adsm_split_part *part,
                            struct adsm_want *wants)
{
    struct adsm_expression boxes;
    adsmBox none = {.nd = operand->array.shape.nd};
    if (operand->boxed->boxes)
        ask(operand, part, &boxes);
    else if (!read_text(operand, &part->box, &boxes))
        boxes.count = 0;
    clip(operand, &boxes);
    struct adsm_want want = {.array = operand->array,
                             .read = none,
                             .write = none,
                             .around = none,
                             .rows = operand->pointer,
                             .passing = operand->passing};
    if (boxes.count == 0) {
        /* A kernel gets a pointer all the same: to the first element. */
        for (int d = 0; d < none.nd; d++)
            want.around.hi[d] = d == none.nd - 1 ? (long)want.array.elem : 1;
        wants[0] = want;
        return 1;
    }
    want.around = boxes.box[0];
    for (int i = 1; i < boxes.count; i++)
        want.around = adsm_box_hull(&want.around, &boxes.box[i]);
    for (int i = 0; i < boxes.count; i++) {
        wants[i] = want;
        wants[i].also = i > 0;
        if (operand->reads)
            wants[i].read = boxes.box[i];
        if (operand->writes)
            wants[i].write = boxes.box[i];
    }
    return boxes.count;
}

double adsm_operand_bytes_of_boxes(const struct adsm_operand *operand,
                                   const adsmBox *part)
{
    struct adsm_expression boxes;
    double bytes = 0;
    if (operand->boxed->boxes || !read_text(operand, part, &boxes))
        return 0;
    clip(operand, &boxes);
    for (int i = 0; i < boxes.count; i++)
        bytes += (double)adsm_box_bytes(&boxes.box[i]);
    return bytes;
}
