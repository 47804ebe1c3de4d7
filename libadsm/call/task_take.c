/* What the pointers that a call is given lead to. */
#include "call/task.h"

#include "mm/heap/heap.h"
#include "call/argument.h"
#include "call/detail.h"
#include "call/into.h"

#include <string.h>

/* An act's, which says how many bytes it uses from there on. */
static bool is_of_bytes(const struct adsm_task *task, const adsmArg *arg)
{
    return task->kernel.act && arg->bytes > 0;
}

/* The array an argument points to, and how much there is of it. */
static int find_memory(const struct adsm_task *task, int i, const void *p,
                       struct adsm_operand_memory *memory)
{
    void *base;
    size_t bytes;
    memset(memory, 0, sizeof *memory);
    int rc = adsm_heap_range(p, &base, &bytes);
    if (rc == ADSM_OK)
        rc = adsm_spread_array(p, &memory->array);
    if (rc != ADSM_OK && rc != ADSM_E_NOT_FOUND)
        return adsm_argument_not_shared(&task->kernel, i, p);
    if (rc == ADSM_E_NOT_FOUND)
        memory->array.shape.nd = 0;
    memory->bytes = bytes - (size_t)((const char *)p - (const char *)base);
    if (is_of_bytes(task, &task->args[i]))
        memory->bytes = task->args[i].bytes;
    if (is_of_bytes(task, &task->args[i]) ||
        adsm_argument_is_flat(&task->args[i]))
        memory->array.shape.nd = 0;
    return ADSM_OK;
}

static int take_pointer(struct adsm_task *task, int i, size_t parameter)
{
    const adsmArg *arg = &task->args[i];
    adsmArg plain;
    struct adsm_operand_memory memory;
    struct adsm_operand *operand = &task->operands[task->operand_count];
    const struct adsm_operand_call about = {task->kernel.name, task->range,
                                            !task->whole, task->numbers};
    if (task->whole) {
        /* Without options only p, bytes and mode are read; `view` is what the
         * parameter is. */
        plain = (adsmArg){.p = arg->p,
                          .bytes = arg->bytes,
                          .mode = arg->mode,
                          .elem = arg->elem,
                          .how = ADSM_WHOLE,
                          .view = arg->view};
        arg = &plain;
    }
    int rc = find_memory(task, i, arg->p, &memory);
    /* A kernel that gets a pointer may go on behind the array that was said to
     * begin there, as it may at home. */
    if (task->whole &&
        (parameter ? parameter == 8 : !adsm_argument_is_view(arg)))
        memory.array.shape.nd = 0;
    if (rc == ADSM_OK)
        rc = adsm_operand_make(&about, i, arg, parameter, &memory, operand);
    if (rc == ADSM_OK && task->whole && operand->array.origin > 0 &&
        !is_of_bytes(task, arg))
        operand->reads = true; /* ADSM_OUT is of objects, from their start */
    if (rc == ADSM_OK && adsm_operand_is_copied(arg))
        rc = adsm_into_take(task, arg, operand);
    task->direct |= rc == ADSM_OK && operand->array.direct;
    if (rc == ADSM_OK)
        task->operand_of[i] = (int16_t)task->operand_count++;
    return rc;
}

int adsm_task_take(struct adsm_task *task)
{
    const struct adsm_kernel_view *kernel = &task->kernel;
    int fixed = adsm_task_fixed(task), rc = ADSM_OK;
    task->operands = adsm_task_get(task, (size_t)task->count,
                                   sizeof *task->operands, "arguments");
    if (!task->operands)
        return ADSM_E_NOMEM;
    for (int i = 0; i < task->count && rc == ADSM_OK; i++) {
        size_t bytes = adsm_kernel_parameter(kernel, fixed + i);
        task->operand_of[i] = -1;
        if (task->args[i].mode)
            rc = take_pointer(task, i, bytes);
    }
    if (rc == ADSM_OK)
        adsm_operand_give_room(task->operands, task->operand_count);
    return rc == ADSM_OK ? adsm_into_check(task) : rc;
}
