/* What a call is given: devices, values, operands. */
#include "sched/call_parts.h"

#include "mm/heap/heap.h"
#include "sched/argument.h"
#include "sched/detail.h"
#include "sched/into.h"

#include <stdlib.h>
#include <string.h>

int adsm_range_call_keep(struct adsm_range_call *call, const void *value,
                         size_t bytes, size_t *at)
{
    size_t begin = (call->values_used + 15) & ~(size_t)15;
    if (begin > ADSM_CALL_VALUES || bytes > ADSM_CALL_VALUES - begin)
        return adsm_detail(ADSM_E_LIMIT,
                           "the arguments of kernel '%s' take more than %d "
                           "bytes",
                           call->kernel.name, ADSM_CALL_VALUES);
    memcpy(call->values + begin, value, bytes);
    call->values_used = begin + bytes;
    *at = begin;
    return ADSM_OK;
}

/* The array an argument points to, and how much there is of it. */
static int find_memory(const struct adsm_range_call *call, int i, const void *p,
                       struct adsm_operand_memory *memory)
{
    void *base;
    size_t bytes;
    memset(memory, 0, sizeof *memory);
    int rc = adsm_heap_range(p, &base, &bytes);
    if (rc == ADSM_OK)
        rc = adsm_spread_array(p, &memory->array);
    if (rc != ADSM_OK && rc != ADSM_E_NOT_FOUND)
        return adsm_argument_not_shared(&call->kernel, i, p);
    if (rc == ADSM_E_NOT_FOUND)
        memory->array.shape.nd = 0;
    memory->bytes = bytes - (size_t)((const char *)p - (const char *)base);
    return ADSM_OK;
}

static int take_pointer(struct adsm_range_call *call, int i, size_t parameter)
{
    const adsmArg *arg = &call->args[i];
    adsmArg plain;
    struct adsm_operand_memory memory;
    struct adsm_operand *operand = &call->operands[call->operand_count];
    const struct adsm_operand_call about = {call->kernel.name, call->range,
                                            !call->whole, call->numbers};
    if (call->whole) {
        /* Without options only p, bytes and mode are read; `view` is what the
         * parameter is. */
        plain = (adsmArg){.p = arg->p,
                          .mode = arg->mode,
                          .elem = arg->elem,
                          .how = ADSM_WHOLE,
                          .view = arg->view};
        arg = &plain;
    }
    int rc = adsm_argument_check_pointer(&call->kernel, i, arg);
    if (rc == ADSM_OK)
        rc = find_memory(call, i, arg->p, &memory);
    /* A kernel that gets a pointer may go on behind the array that was said to
     * begin there, as it may at home. */
    if (call->whole && (parameter ? parameter == 8 : !arg->view))
        memory.array.shape.nd = 0;
    if (rc == ADSM_OK)
        rc = adsm_operand_make(&about, i, arg, parameter, &memory, operand);
    if (rc == ADSM_OK && call->whole && operand->array.origin > 0)
        operand->reads = true; /* ADSM_OUT is of objects, from their start */
    if (rc == ADSM_OK && arg->how == ADSM_INTO)
        rc = adsm_into_take(call, arg, operand);
    if (rc == ADSM_OK && operand->pad) {
        size_t at = 0;
        rc = adsm_range_call_keep(call, operand->pad, operand->array.elem, &at);
        operand->pad = call->values + at;
    }
    call->direct |= rc == ADSM_OK && operand->array.direct;
    if (rc == ADSM_OK)
        call->operand_of[i] = (int16_t)call->operand_count++;
    return rc;
}

static int take_value(struct adsm_range_call *call, int i, int fixed)
{
    const adsmArg *arg = &call->args[i];
    size_t at = 0;
    int rc = adsm_argument_check_value(&call->kernel, i, fixed, call->args,
                                       call->count);
    if (rc == ADSM_OK)
        rc = adsm_range_call_keep(call, adsm_argument_value(arg), arg->bytes,
                                  &at);
    call->value_at[i] = (uint16_t)at;
    call->operand_of[i] = -1;
    return rc;
}

int adsm_range_call_take(struct adsm_range_call *call)
{
    const struct adsm_kernel_view *kernel = &call->kernel;
    int fixed = call->is_launch ? 0 : 2 * call->range.nd;
    int rc = ADSM_OK;
    call->operands = malloc((size_t)call->count * sizeof *call->operands + 1);
    if (!call->operands)
        rc = adsm_detail(ADSM_E_NOMEM,
                         "no memory for the arguments of kernel '%s'",
                         kernel->name);
    for (int i = 0; i < call->count && rc == ADSM_OK; i++) {
        size_t bytes = adsm_kernel_parameter(kernel, fixed + i);
        rc = call->args[i].mode ? take_pointer(call, i, bytes)
                                : take_value(call, i, fixed);
    }
    if (rc == ADSM_OK)
        adsm_operand_give_room(call->operands, call->operand_count);
    return rc == ADSM_OK ? adsm_into_check(call) : rc;
}

static int take_device(struct adsm_range_call *call, int number)
{
    int i = call->devices++;
    call->numbers[i] = number;
    int rc = adsm_accel_open(number, &call->accels[i]);
    if (rc != ADSM_OK)
        return adsm_detail_cause(rc, "device %d", number);
    return adsm_kernel_on(&call->kernel, call->accels[i], &call->handles[i]);
}

int adsm_range_call_devices(struct adsm_range_call *call, int device)
{
    uint32_t set = call->opts.devices;
    int there = adsm_accel_devices(), rc = ADSM_OK;
    int first = adsm_accel_device(call->kernel.accel);
    if (set == 0 && (device < 0 || device == first)) {
        /* As most calls have it: nothing to be looked up. */
        call->devices = 1;
        call->numbers[0] = first;
        call->accels[0] = call->kernel.accel;
        call->handles[0] = call->kernel.handle;
        return ADSM_OK;
    }
    if (set == 0)
        return take_device(call, device);
    for (int d = 0; d < ADSM_SPLIT_DEVICES && rc == ADSM_OK; d++) {
        if (!(set >> d & 1))
            continue;
        if (d < there)
            rc = take_device(call, d);
        else if (set != ADSM_ALL_DEVICES)
            rc = adsm_detail(ADSM_E_INVALID,
                             "the call of kernel '%s' names device %d: there "
                             "are 0 to %d",
                             call->kernel.name, d, there - 1);
    }
    return rc;
}
