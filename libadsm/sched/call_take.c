/* What a call is given: devices, values, operands. */
#include "sched/task.h"

#include "mm/heap/heap.h"
#include "sched/argument.h"
#include "sched/detail.h"
#include "sched/into.h"

#include <stdlib.h>
#include <string.h>

int adsm_task_keep(struct adsm_task *task, const void *value, size_t bytes,
                   size_t *at)
{
    size_t begin = (task->values_used + 15) & ~(size_t)15;
    if (begin > ADSM_CALL_VALUES || bytes > ADSM_CALL_VALUES - begin)
        return adsm_detail(ADSM_E_LIMIT,
                           "the arguments of kernel '%s' take more than %d "
                           "bytes",
                           task->kernel.name, ADSM_CALL_VALUES);
    memcpy(task->values + begin, value, bytes);
    task->values_used = begin + bytes;
    *at = begin;
    return ADSM_OK;
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
                          .mode = arg->mode,
                          .elem = arg->elem,
                          .how = ADSM_WHOLE,
                          .view = arg->view};
        arg = &plain;
    }
    int rc = adsm_argument_check_pointer(&task->kernel, i, arg);
    if (rc == ADSM_OK)
        rc = find_memory(task, i, arg->p, &memory);
    /* A kernel that gets a pointer may go on behind the array that was said to
     * begin there, as it may at home. */
    if (task->whole && (parameter ? parameter == 8 : !arg->view))
        memory.array.shape.nd = 0;
    if (rc == ADSM_OK)
        rc = adsm_operand_make(&about, i, arg, parameter, &memory, operand);
    if (rc == ADSM_OK && task->whole && operand->array.origin > 0)
        operand->reads = true; /* ADSM_OUT is of objects, from their start */
    if (rc == ADSM_OK && arg->how == ADSM_INTO)
        rc = adsm_into_take(task, arg, operand);
    if (rc == ADSM_OK && operand->pad) {
        size_t at = 0;
        rc = adsm_task_keep(task, operand->pad, operand->array.elem, &at);
        operand->pad = task->values + at;
    }
    task->direct |= rc == ADSM_OK && operand->array.direct;
    if (rc == ADSM_OK)
        task->operand_of[i] = (int16_t)task->operand_count++;
    return rc;
}

static int take_value(struct adsm_task *task, int i, int fixed)
{
    const adsmArg *arg = &task->args[i];
    size_t at = 0;
    int rc = adsm_argument_check_value(&task->kernel, i, fixed, task->args,
                                       task->count);
    if (rc == ADSM_OK)
        rc = adsm_task_keep(task, adsm_argument_value(arg), arg->bytes, &at);
    task->value_at[i] = (uint16_t)at;
    task->operand_of[i] = -1;
    return rc;
}

int adsm_task_take(struct adsm_task *task)
{
    const struct adsm_kernel_view *kernel = &task->kernel;
    int fixed = task->is_launch ? 0 : 2 * task->range.nd;
    int rc = ADSM_OK;
    task->operands = malloc((size_t)task->count * sizeof *task->operands + 1);
    if (!task->operands)
        rc = adsm_detail(ADSM_E_NOMEM,
                         "no memory for the arguments of kernel '%s'",
                         kernel->name);
    for (int i = 0; i < task->count && rc == ADSM_OK; i++) {
        size_t bytes = adsm_kernel_parameter(kernel, fixed + i);
        rc = task->args[i].mode ? take_pointer(task, i, bytes)
                                : take_value(task, i, fixed);
    }
    if (rc == ADSM_OK)
        adsm_operand_give_room(task->operands, task->operand_count);
    return rc == ADSM_OK ? adsm_into_check(task) : rc;
}

static int take_device(struct adsm_task *task, int number)
{
    int i = task->devices++;
    task->numbers[i] = number;
    int rc = adsm_accel_open(number, &task->accels[i]);
    if (rc != ADSM_OK)
        return adsm_detail_cause(rc, "device %d", number);
    return adsm_kernel_on(&task->kernel, task->accels[i], &task->handles[i]);
}

int adsm_task_devices(struct adsm_task *task, int device)
{
    uint32_t set = task->opts.devices;
    int there = adsm_accel_devices(), rc = ADSM_OK;
    int first = adsm_accel_device(task->kernel.accel);
    if (set == 0 && (device < 0 || device == first)) {
        /* As most calls have it: nothing to be looked up. */
        task->devices = 1;
        task->numbers[0] = first;
        task->accels[0] = task->kernel.accel;
        task->handles[0] = task->kernel.handle;
        return ADSM_OK;
    }
    if (set == 0)
        return take_device(task, device);
    for (int d = 0; d < ADSM_SPLIT_DEVICES && rc == ADSM_OK; d++) {
        if (!(set >> d & 1))
            continue;
        if (d < there)
            rc = take_device(task, d);
        else if (set != ADSM_ALL_DEVICES)
            rc = adsm_detail(ADSM_E_INVALID,
                             "the call of kernel '%s' names device %d: there "
                             "are 0 to %d",
                             task->kernel.name, d, there - 1);
    }
    return rc;
}
