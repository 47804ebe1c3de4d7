/* Copies of parts, and what combines them; see into.h. */
#include "call/into.h"

#include "range/box.h"
#include "call/bytes.h"
#include "call/detail.h"
#include "call/operator.h"
#include "call/scratch.h"

#include <string.h>

enum { FEW = ADSM_FOLD_FEW };

/* Of one operand: row 0 is the object's, row k + 1 that of part k. */
struct rows {
    struct adsm_operand *operand;
    struct adsm_scratch *array;
    size_t bytes; /* of the object      */
    long n;       /* elements of each   */
};

struct adsm_into {
    int parts, count;
    struct rows rows[];
};

/* ---- what is asked for -------------------------------------------------------- */

int adsm_into_take(const struct adsm_task *task, const adsmArg *arg,
                   struct adsm_operand *operand)
{
    const adsmOperator *op = arg->extra;
    const char *kernel = task->kernel.name;
    operand->scatter = arg->how == ADSM_SCATTER;
    if (operand->scatter) {
        operand->into = adsm_operator_of(ADSM_XOR, ADSM_U32);
        return ADSM_OK;
    }
    if (adsm_operator_check(op) != ADSM_OK)
        return adsm_detail(ADSM_E_INVALID,
                           "argument %d of kernel '%s' is accumulated into by "
                           "%p, which is no operator: adsmOperatorOf and "
                           "adsmOperatorGet give them",
                           operand->number, kernel, (const void *)op);
    if (adsm_operator_bytes(op) != operand->array.elem)
        return adsm_detail(ADSM_E_INVALID,
                           "argument %d of kernel '%s' has elements of %zu "
                           "bytes, operator '%s' is of %zu",
                           operand->number, kernel, operand->array.elem,
                           adsm_operator_name(op), adsm_operator_bytes(op));
    operand->into = op;
    return ADSM_OK;
}

static bool bytes_meet(const struct adsm_array *a, const struct adsm_array *b)
{
    size_t a_end = a->origin + adsm_box_bytes(&a->shape);
    size_t b_end = b->origin + adsm_box_bytes(&b->shape);
    return a->object == b->object && a->origin < b_end && b->origin < a_end;
}

int adsm_into_check(const struct adsm_task *task)
{
    for (int i = 0; i < task->operand_count; i++)
        for (int k = 0; k < task->operand_count; k++) {
            const struct adsm_operand *own = &task->operands[i];
            const struct adsm_operand *other = &task->operands[k];
            if (i == k || !own->into || !bytes_meet(&own->array, &other->array))
                continue;
            return adsm_detail(ADSM_E_INVALID,
                               "argument %d of kernel '%s' lies in what "
                               "argument %d is %s: no other argument may read "
                               "or write it",
                               other->number, task->kernel.name, own->number,
                               own->scatter ? "written anywhere (adsmScatter)"
                                            : "accumulated into (adsmInto)");
        }
    return ADSM_OK;
}

/* ---- calls ---------------------------------------------------------------------- */

static adsmArg of_rows(const struct rows *rows, const void *at, adsmMode mode)
{
    return (adsmArg){.p = at,
                     .mode = mode,
                     .elem = adsm_operator_bytes(rows->operand->into)};
}

static void *row(const struct rows *rows, const struct adsm_scratch *array,
                 long k)
{
    return (char *)array->array + (size_t)k * (size_t)rows->n * array->elem;
}

static int make(const struct rows *rows, enum adsm_operator_kernel which,
                int device, adsmEvent *event, const adsmBox *range, int count,
                const adsmArg *args)
{
    /* In one piece: all of it is what each would write. */
    const adsmOpts opts = {
        .devices = UINT32_C(1) << device, .chunks = 1, .event = event};
    adsmKernel *kernel;
    int rc = adsm_operator_kernel(rows->operand->into, which, &kernel);
    return rc == ADSM_OK
               ? adsm_call_as_said(kernel, range, &opts, device, count, args)
               : rc;
}

/* A part's copy of what is written anywhere, where the part runs. */
static int copy_old(const struct adsm_task *task, const struct rows *rows,
                    int device, long to)
{
    const adsmOpts opts = {
        .size = sizeof opts, .devices = UINT32_C(1) << device, .chunks = 1};
    return adsm_bytes_copy(&opts, device, row(rows, rows->array, to),
                           task->args[rows->operand->number].p, rows->bytes);
}

static int copy_all_old(const struct adsm_task *task, const struct rows *rows,
                        const struct adsm_split_part *parts, int count)
{
    int rc = ADSM_OK;
    for (int i = 0; i < count && rc == ADSM_OK; i++)
        rc = copy_old(task, rows, task->numbers[parts[i].device], i + 1);
    return rc;
}

/* Neighbours of one device together. */
static int fill(const struct adsm_task *task, const struct rows *rows,
                const struct adsm_split_part *parts, int count)
{
    const adsmArg out = of_rows(rows, rows->array->array, ADSM_OUT);
    int rc = ADSM_OK, end;
    for (int i = 0; i < count && rc == ADSM_OK; i = end) {
        for (end = i + 1; end < count && parts[end].device == parts[i].device;)
            end++;
        const adsmBox range = {1, {(i + 1) * rows->n}, {(end + 1) * rows->n}};
        rc = make(rows, ADSM_OPERATOR_NONE, task->numbers[parts[i].device],
                  NULL, &range, 1, &out);
    }
    return rc;
}

/* To `out` what up to FEW rows from `in` on make. */
static int fold(const struct rows *rows, int device, adsmEvent *event,
                adsmArg in, long count, adsmArg out)
{
    const long first = 0, next = 1;
    const adsmBox range = adsmR1(rows->n);
    const adsmArg args[] = {in,
                            out,
                            adsmVal(first),
                            adsmVal(count),
                            adsmVal(next),
                            adsmVal(rows->n)};
    return make(rows, ADSM_OPERATOR_LAST, device, event, &range, 6, args);
}

/* Rows as an argument: all that lie behind `at`, and no more. */
static adsmArg some(const struct rows *rows, const void *at, long count)
{
    adsmArg arg = of_rows(rows, at, ADSM_IN);
    arg.how = ADSM_BOXED;
    arg.text = "[:$1]";
    arg.params = 1;
    arg.param[0] = count * rows->n;
    return arg;
}

/* Groups of FEW rows from `first` on, until there is one, which makes the
 * object. */
static int fold_all(const struct rows *rows, int device, adsmEvent *event,
                    long first, long count, adsmArg object)
{
    struct adsm_scratch *from = rows->array, *to = NULL;
    int rc = ADSM_OK;
    while (rc == ADSM_OK && count > FEW) {
        long groups = (count + FEW - 1) / FEW;
        to = adsm_scratch_take(from->elem, adsmR1(groups * rows->n), &rc);
        for (long g = 0; g < groups && rc == ADSM_OK; g++) {
            long few = g < groups - 1 ? FEW : count - g * FEW;
            rc = fold(rows, device, NULL,
                      some(rows, row(rows, from, first + g * FEW), few), few,
                      of_rows(rows, row(rows, to, g), ADSM_OUT));
        }
        if (from != rows->array)
            adsm_scratch_give(from);
        from = to;
        first = 0;
        count = groups;
    }
    if (rc == ADSM_OK)
        rc = fold(rows, device, event,
                  some(rows, row(rows, from, first), count), count, object);
    if (from != rows->array)
        adsm_scratch_give(from);
    return rc;
}

static int combine(const struct adsm_task *task, const struct rows *rows,
                   int parts, struct adsm_ended *ended)
{
    const adsmArg *arg = &task->args[rows->operand->number];
    adsmArg object = of_rows(rows, arg->p, ADSM_IN);
    adsmEvent event = {0}, *asked = NULL;
    int device = task->numbers[0];
    if (adsm_call_has_followers(&task->opts))
        asked = &event;
    if (rows->operand->array.shape.nd > 1)
        object.how = ADSM_WHOLE;
    int rc = fold(rows, device, NULL, object, 1,
                  of_rows(rows, rows->array->array, ADSM_OUT));
    object.mode = ADSM_OUT;
    if (rc == ADSM_OK)
        rc = fold_all(rows, device, asked, 0, parts + 1, object);
    adsm_ended_join(ended, event);
    return rc;
}

/* By way of an array of its own: elements of the object may be of any size. */
static int combine_scattered(const struct adsm_task *task,
                             const struct rows *rows, int parts,
                             struct adsm_ended *ended)
{
    adsmEvent event = {0};
    int rc, device = task->numbers[0];
    const adsmOpts opts = {
        .size = sizeof opts,
        .devices = UINT32_C(1) << device,
        .chunks = 1,
        .event = adsm_call_has_followers(&task->opts) ? &event : NULL};
    long first = parts % 2;
    struct adsm_scratch *result =
        adsm_scratch_take(rows->array->elem, adsmR1(rows->n), &rc);
    if (result && first == 0)
        rc = copy_old(task, rows, device, 0);
    if (rc == ADSM_OK)
        rc = fold_all(rows, device, NULL, first, parts + 1 - first,
                      of_rows(rows, result->array, ADSM_OUT));
    if (rc == ADSM_OK)
        rc = adsm_bytes_copy(&opts, device,
                             (void *)task->args[rows->operand->number].p,
                             result->array, rows->bytes);
    adsm_ended_join(ended, event);
    adsm_scratch_give(result);
    return rc;
}

/* ---- all operands ----------------------------------------------------------------- */

static int begin(struct adsm_task *task, const struct adsm_split_part *parts,
                 int count, struct adsm_operand *operand, struct rows *rows)
{
    struct adsm_array array;
    size_t elem = adsm_operator_bytes(operand->into);
    int rc;
    rows->operand = operand;
    rows->bytes = adsm_box_bytes(&operand->array.shape);
    rows->n = (long)((rows->bytes + elem - 1) / elem);
    size_t bytes = (size_t)rows->n * elem;
    rows->array = adsm_scratch_take(elem, adsmR1((count + 1) * rows->n), &rc);
    if (rc == ADSM_OK)
        rc = operand->scatter ? copy_all_old(task, rows, parts, count)
                              : fill(task, rows, parts, count);
    if (rc == ADSM_OK)
        rc = adsm_spread_array(rows->array->array, &array);
    if (rc != ADSM_OK)
        return rc;
    operand->array.object = array.object;
    operand->array.generation = array.generation;
    operand->array.origin = array.origin + bytes;
    operand->stride = bytes;
    return ADSM_OK;
}

int adsm_into_begin(struct adsm_task *task, struct adsm_into **into)
{
    size_t n = 0;
    int rc = ADSM_OK;
    for (int k = 0; k < task->operand_count; k++)
        n += task->operands[k].into != NULL;
    *into = NULL;
    if (n == 0 || task->part_count < 2)
        return ADSM_OK;
    *into = adsm_region_zeros(&task->region, 1,
                              sizeof **into + n * sizeof *(*into)->rows);
    if (!*into)
        return adsm_detail(ADSM_E_NOMEM, "no memory for %zu copies", n);
    (*into)->parts = task->part_count;
    for (int k = 0; k < task->operand_count && rc == ADSM_OK; k++)
        if (task->operands[k].into)
            rc = begin(task, task->parts, task->part_count, &task->operands[k],
                       &(*into)->rows[(*into)->count++]);
    if (rc != ADSM_OK)
        adsm_detail_of_inner();
    return rc;
}

int adsm_into_end(struct adsm_task *task, struct adsm_into *into, int rc)
{
    if (!into)
        return rc;
    bool made = rc == ADSM_OK;
    for (int i = 0; i < into->count && rc == ADSM_OK; i++)
        rc = (into->rows[i].operand->scatter ? combine_scattered : combine)(
            task, &into->rows[i], into->parts, &task->ended);
    if (made && rc != ADSM_OK)
        adsm_detail_of_inner();
    for (int i = 0; i < into->count; i++)
        adsm_scratch_give(into->rows[i].array);
    return rc;
}
