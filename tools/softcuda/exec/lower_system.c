/*
 * Decodes calls of functions without a body; see exec/lower.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"
#include "exec/system.h"

#include <string.h>

struct system_call {
    const char *name;
    sc_handler run;
    uint8_t ret_bytes, arg_count, arg_bytes[5];
};

static const struct system_call calls[] = {
    {"vprintf", sc_op_vprintf, 4, 2, {8, 8}},
    {"__assertfail", sc_op_assert, 0, 5, {8, 8, 4, 8, 8}},
    {"malloc", sc_op_malloc, 8, 1, {8}},
    {"free", sc_op_free, 0, 1, {8}},
};

/* It is one of them: others were refused (ptx/provided.h). */
static const struct system_call *find(const char *name)
{
    const struct system_call *call = calls;
    while (strcmp(call->name, name) != 0)
        call++;
    return call;
}

void sc_lower_system_call(struct sc_lower *lower, const struct sc_func *func)
{
    const struct system_call *call = find(func->name);
    const struct sc_inst *inst = lower->inst;
    uint32_t rets = call->ret_bytes ? 1 : 0, slots[5] = {0};
    if (inst->call->ret_count != rets ||
        inst->call->arg_count != call->arg_count)
        sc_lower_invalid(lower, "wrong number of parameters in");
    for (uint32_t i = 0; i < call->arg_count; i++) {
        uint32_t bytes = call->arg_bytes[i];
        slots[i] = sc_lower_source(lower, sc_lower_operand(lower, 1 + rets + i),
                                   bytes, bytes == 8 ? SC_T_b64 : SC_T_b32);
    }
    uint32_t d = SC_NO_SLOT;
    if (rets && sc_lower_operand(lower, 1)->kind != SC_OPERAND_SINK)
        d = sc_lower_dest(lower, sc_lower_operand(lower, 1), call->ret_bytes);
    struct sc_op *op = sc_lower_emit(lower, call->run);
    op->d = d;
    op->a = slots[0];
    op->b = slots[1];
    op->c = slots[2];
    op->e = slots[3];
}
