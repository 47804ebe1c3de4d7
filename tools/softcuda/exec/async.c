/*
 * cp.async, done at once, and the stack of alloca; see exec/control.h.
 *
 * Lock: none.
 */
#include "exec/address.h"
#include "exec/control.h"

#include <string.h>

/* Where the bytes come from; NULL after a fault. */
static const char *find_source(struct sc_strip *strip, const struct sc_op *op,
                               uint64_t at, uint32_t bytes)
{
    const struct sc_cta *cta = strip->cta;
    bool aligned = !(at & (op->flags - 1u));
    if (aligned && at - cta->window_base <= cta->window_bytes - bytes)
        return (const char *)(uintptr_t)at;
    sc_machine_fault(
        strip, op, aligned ? SC_EXEC_ILLEGAL_ADDRESS : SC_EXEC_MISALIGNED, at);
    return NULL;
}

const struct sc_op *sc_op_copy(const struct sc_op *op, struct sc_strip *strip)
{
    const uint64_t *b = SC_SLOT(const uint64_t, b);
    const uint32_t *c = SC_SLOT(const uint32_t, c);
    uint32_t size = op->flags;
    strip->cta->access = op;
    for (uint32_t t = 0; t < strip->lanes; t++) {
        if (!strip->mask[t])
            continue;
        uint64_t at =
            sc_address_behind(op, strip, t, op->e, (uint64_t)(int32_t)op->imm);
        char *to = sc_address_lane(strip, SC_ADDR_SHARED, t, at, size);
        if (!to)
            return sc_address_fault(strip, op, at, size);
        uint32_t n = c[t] < size ? c[t] : size;
        const char *from =
            n ? find_source(strip, op, b[t] + (uint64_t)(op->imm >> 32), n)
              : to;
        if (!from)
            return NULL;
        memmove(to, from, n);
        memset(to + n, 0, size - n);
    }
    return op + 1;
}

const struct sc_op *sc_op_alloca(const struct sc_op *op, struct sc_strip *strip)
{
    const uint64_t *a = SC_SLOT(const uint64_t, a);
    uint64_t *stack = SC_SLOT(uint64_t, c), *d = SC_SLOT(uint64_t, d);
    uint64_t most = strip->cta->local_bytes, align = op->flags;
    for (uint32_t t = 0; t < strip->lanes; t++) {
        if (!strip->mask[t])
            continue;
        uint64_t bytes = a[t], at = (stack[t] + align - 1) & ~(align - 1);
        if (at > most || bytes > most - at)
            return sc_machine_fault(strip, op, SC_EXEC_STACK_OVERFLOW, at);
        stack[t] = (at + bytes + 15) & ~(uint64_t)15;
        d[t] = at;
    }
    return op + 1;
}

/* A place that stacksave never gave would leave the lane's memory. */
const struct sc_op *sc_op_stack_restore(const struct sc_op *op,
                                        struct sc_strip *strip)
{
    const uint64_t *a = SC_SLOT(const uint64_t, a);
    uint64_t *stack = SC_SLOT(uint64_t, c);
    for (uint32_t t = 0; t < strip->lanes; t++) {
        if (!strip->mask[t])
            continue;
        if (a[t] > stack[t] || a[t] % 16)
            return sc_machine_fault(strip, op, SC_EXEC_STACK_OVERFLOW, a[t]);
        stack[t] = a[t];
    }
    return op + 1;
}
