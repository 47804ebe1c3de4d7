/* What is told of a kernel that stored where its call does not say so. */
#include "range/check.h"
#include "call/detail.h"
#include "call/task.h"

#include <stdio.h>
#include <string.h>

enum { BOX_TEXT = 160, PART_TEXT = BOX_TEXT + 64, MAY_TEXT = 2 * BOX_TEXT + 8 };

/* "[0:10][3:7]", in elements. */
static void put_box(char text[BOX_TEXT], const adsmBox *box, size_t elem)
{
    int used = 0;
    for (int d = 0; d < box->nd; d++) {
        long unit = d == box->nd - 1 ? (long)elem : 1;
        used += snprintf(text + used, BOX_TEXT - (size_t)used, "[%ld:%ld]",
                         box->lo[d] / unit, box->hi[d] / unit);
    }
}

/* Where the first byte is. */
static void put_place(char text[BOX_TEXT], const struct adsm_check *check,
                      int nd)
{
    int used = snprintf(text, BOX_TEXT, "at index ");
    for (int d = 0; check->is_index && d < nd; d++)
        used += snprintf(text + used, BOX_TEXT - (size_t)used, "[%ld]",
                         check->index[d]);
    if (!check->is_index)
        snprintf(text, BOX_TEXT, "%zu bytes %s its copy", check->distance,
                 check->is_behind ? "behind" : "before");
}

/* Who it was, and on which indices. */
static void put_part(char text[PART_TEXT], const struct adsm_task *task,
                     const struct adsm_split_part *part, int i, int count)
{
    char bounds[BOX_TEXT] = "";
    if (!task->is_launch)
        put_box(bounds, &part->box, 1);
    snprintf(text, PART_TEXT, "part %d of %d%s%s on device %d", i, count,
             task->is_launch ? "" : ", ", bounds, task->numbers[part->device]);
}

/* Whose want it is. */
static const struct adsm_operand *
operand_of(const struct adsm_task *task, const struct adsm_part *part, int want)
{
    int k = 0;
    for (int i = 1; i <= want; i++)
        k += !part->wants[i].also;
    return &task->operands[k];
}

/* All boxes that an argument writes, as far as there is room. */
static void put_boxes(char text[MAY_TEXT], const struct adsm_part *part,
                      int want)
{
    size_t used = 0;
    while (part->wants[want].also)
        want--;
    for (int i = want; i < part->count && used < MAY_TEXT - BOX_TEXT; i++) {
        const struct adsm_want *w = &part->wants[i];
        if (i > want && !w->also)
            break;
        used += (size_t)sprintf(text + used, "%s", i > want ? " | " : "");
        put_box(text + used, &w->write, w->array.elem);
        used += strlen(text + used);
    }
}

static int tell(const struct adsm_task *task, const struct adsm_split_part *box,
                const struct adsm_part *part, int i, int count)
{
    const struct adsm_check *check = part->check;
    const struct adsm_want *want = &part->wants[check->want];
    const struct adsm_operand *operand = operand_of(task, part, check->want);
    int number = operand->number;
    char who[PART_TEXT], place[BOX_TEXT], may[MAY_TEXT];
    put_part(who, task, box, i, count);
    put_place(place, check, want->array.shape.nd);
    if (!operand->writes)
        return adsm_detail(ADSM_E_INVALID,
                           "kernel '%s', %s, changed %zu bytes of argument %d, "
                           "which it only reads, the first %s: adsmOut or "
                           "adsmInOut says that it writes there",
                           task->kernel.name, who, check->bytes, number, place);
    put_boxes(may, part, check->want);
    return adsm_detail(ADSM_E_INVALID,
                       "kernel '%s', %s, changed %zu bytes of argument %d "
                       "outside %s, which it writes, the first %s: the kernel "
                       "is to keep to its indices, or the argument to %s",
                       task->kernel.name, who, check->bytes, number, may, place,
                       operand->boxed ? "have other boxes"
                                      : "follow others (adsmAlong)");
}

int adsm_task_checked(const struct adsm_task *task,
                      const struct adsm_split_part *boxes,
                      const struct adsm_part *parts, int count)
{
    for (int i = 0; i < count; i++)
        if (parts[i].check && parts[i].check->found)
            return tell(task, &boxes[i], &parts[i], i, count);
    return ADSM_OK;
}
