/*
 * Calls that were not inlined: places to return to, frames of registers.
 *
 * A lane's stack lies behind its .local variables and grows upwards. Only
 * functions that call have frames there; everything else of a function has
 * one fixed place, since it cannot be entered twice. Lock: none.
 */
#include "exec/control.h"

#include <string.h>

/* The lanes that go where the first of them goes, the rest stays at `op`. */
static const struct sc_op *go_together(const struct sc_op *op,
                                       struct sc_strip *strip,
                                       const uint64_t *wide,
                                       const uint32_t *narrow, uint64_t value,
                                       uint32_t target)
{
    uint32_t taken[SC_WORDS] = {0}, rest[SC_WORDS] = {0};
    for (uint32_t t = 0; t < strip->lanes; t++) {
        uint32_t bit = strip->bits[t / 32] & 1u << t % 32;
        bool same = (wide ? wide[t] : narrow[t]) == value;
        taken[t / 32] |= same ? bit : 0;
        rest[t / 32] |= same ? 0 : bit;
    }
    return sc_control_part(op, strip, taken, rest, target);
}

static uint32_t first_lane(const struct sc_strip *strip)
{
    uint32_t lane = 0;
    while (!(strip->bits[lane / 32] >> lane % 32 & 1))
        lane++;
    return lane;
}

static void leave_link(const struct sc_op *op, struct sc_strip *strip)
{
    uint32_t *link = SC_SLOT(uint32_t, d);
    uint32_t next = (uint32_t)(op - strip->code) + 1;
    for (uint32_t t = 0; t < strip->padded; t++)
        link[t] = strip->mask[t] ? next : link[t];
}

const struct sc_op *sc_op_call(const struct sc_op *op, struct sc_strip *strip)
{
    leave_link(op, strip);
    return sc_op_jump(op, strip);
}

const struct sc_op *sc_op_call_indirect(const struct sc_op *op,
                                        struct sc_strip *strip)
{
    const struct sc_code *code = strip->cta->code;
    const uint64_t *a = SC_SLOT(const uint64_t, a);
    uint64_t value = a[first_lane(strip)];
    uint64_t number = (value - SC_FUNC_BASE) / 16;
    if (value % 16 || value < SC_FUNC_BASE || number >= code->entry_count ||
        code->entries[number] == ~0u)
        return sc_machine_fault(strip, op, SC_EXEC_ILLEGAL_INSTRUCTION, value);
    leave_link(op, strip);
    return go_together(op, strip, a, NULL, value, code->entries[number]);
}

const struct sc_op *sc_op_return(const struct sc_op *op, struct sc_strip *strip)
{
    const uint32_t *a = SC_SLOT(const uint32_t, a);
    uint32_t target = a[first_lane(strip)];
    return go_together(op, strip, NULL, a, target, target);
}

const struct sc_op *sc_op_stack_begin(const struct sc_op *op,
                                      struct sc_strip *strip)
{
    uint64_t *stack = SC_SLOT(uint64_t, d);
    for (uint32_t t = 0; t < strip->padded; t++)
        stack[t] = (uint64_t)op->imm;
    return op + 1;
}

/* Frames move by whole multiples of 16, so slots stay aligned. */
static char *frame_of(const struct sc_strip *strip, uint32_t lane, uint64_t at)
{
    const struct sc_cta *cta = strip->cta;
    return cta->local + (size_t)(strip->first + lane) * cta->local_bytes + at;
}

const struct sc_op *sc_op_enter(const struct sc_op *op, struct sc_strip *strip)
{
    const struct sc_code *code = strip->cta->code;
    const uint64_t *stack = SC_SLOT(const uint64_t, d);
    uint64_t most = strip->cta->local_bytes - code->frames[op->target].bytes;
    bool fits = strip->cta->local_bytes >= code->frames[op->target].bytes;
    for (uint32_t t = 0; t < strip->lanes; t++)
        fits &= !strip->mask[t] || stack[t] <= most;
    return fits ? op + 1
                : sc_machine_fault(strip, op, SC_EXEC_STACK_OVERFLOW, 0);
}

const struct sc_op *sc_op_save(const struct sc_op *op, struct sc_strip *strip)
{
    const struct sc_frame *frame = &strip->cta->code->frames[op->target];
    uint64_t *stack = SC_SLOT(uint64_t, d);
    for (uint32_t t = 0; t < strip->lanes; t++) {
        if (!strip->mask[t])
            continue;
        char *to = frame_of(strip, t, stack[t]);
        for (uint32_t i = 0; i < frame->count; i++) {
            const struct sc_save *s = &frame->saves[i];
            memcpy(to + s->offset, strip->file + s->slot + t * s->bytes,
                   s->bytes);
        }
        stack[t] += frame->bytes;
    }
    return op + 1;
}

const struct sc_op *sc_op_restore(const struct sc_op *op,
                                  struct sc_strip *strip)
{
    const struct sc_frame *frame = &strip->cta->code->frames[op->target];
    uint64_t *stack = SC_SLOT(uint64_t, d);
    for (uint32_t t = 0; t < strip->lanes; t++) {
        if (!strip->mask[t])
            continue;
        stack[t] -= frame->bytes;
        const char *from = frame_of(strip, t, stack[t]);
        for (uint32_t i = 0; i < frame->count; i++) {
            const struct sc_save *s = &frame->saves[i];
            memcpy(strip->file + s->slot + t * s->bytes, from + s->offset,
                   s->bytes);
        }
    }
    return op + 1;
}
