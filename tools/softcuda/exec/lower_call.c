/*
 * Decodes calls that were not inlined, and system calls; see exec/lower.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"

#include <string.h>

/* ---- who can be called ---- */

static void visit(struct sc_lower *lower, const struct sc_func *func,
                  bool *seen, uint32_t nesting);

static void visit_callees(struct sc_lower *lower, const struct sc_func *func,
                          bool *seen, uint32_t nesting)
{
    bool by_address = false;
    for (size_t i = 0; i < func->inst_count; i++) {
        const struct sc_inst *inst = &func->insts[i];
        if (!inst->call)
            continue;
        if (inst->operands[0].kind == SC_OPERAND_FUNC)
            visit(lower, inst->operands[0].func, seen, nesting);
        else
            by_address = true;
    }
    for (const struct sc_func *f = lower->ir->funcs; by_address && f;
         f = f->next)
        if (f->is_taken)
            visit(lower, f, seen, nesting);
}

/* Callees first, as far as the text nests reasonably; the order is only about
 * which lanes wait for which. */
static void visit(struct sc_lower *lower, const struct sc_func *func,
                  bool *seen, uint32_t nesting)
{
    if (!func->has_body || func->is_entry || seen[func->number])
        return;
    if (nesting > 1000)
        sc_load_fail(lower->load, SC_LOAD_UNSUPPORTED, func->line,
                     "calls nested deeper than 1000 functions");
    seen[func->number] = true;
    visit_callees(lower, func, seen, nesting + 1);
    lower->callees[lower->callee_count++] = func;
}

/* Whether the kernel calls; its stack is needed for its own variables, too. */
static bool look_through(struct sc_lower *lower)
{
    bool calls = false;
    for (size_t i = 0; i < lower->kernel->inst_count; i++) {
        const struct sc_inst *inst = &lower->kernel->insts[i];
        calls |= inst->call != NULL;
        lower->code->needs_stack |= inst->opcode == SC_OP_alloca ||
                                    inst->opcode == SC_OP_stacksave ||
                                    inst->opcode == SC_OP_stackrestore;
    }
    if (calls || lower->code->needs_stack)
        lower->code->stack_slot = sc_lower_slot(lower, 8);
    return calls;
}

void sc_lower_find_callees(struct sc_lower *lower)
{
    struct sc_code *code = lower->code;
    uint32_t n = lower->ir->func_count;
    if (!look_through(lower))
        return;
    bool *seen = sc_load_alloc(lower->load, n + 1, sizeof *seen);
    lower->callees = sc_load_alloc(lower->load, n, sizeof *lower->callees);
    visit_callees(lower, lower->kernel, seen, 0);
    if (!lower->callee_count && !lower->kernel->calls)
        return;
    code->entries = sc_load_alloc(lower->load, n, sizeof *code->entries);
    memset(code->entries, 0xff, n * sizeof *code->entries);
    code->entry_count = n;
    code->frames = sc_load_alloc(lower->load, n, sizeof *code->frames);
    lower->link_slot = sc_lower_slot(lower, 4);
    for (uint32_t i = 0; i < lower->callee_count; i++)
        code->needs_stack |= lower->callees[i]->calls;
    if (lower->callee_count) /* every CTA begins at op 0 */
        sc_lower_push(lower, sc_op_jump);
}

/* ---- frames ---- */

void sc_lower_kernel_start(struct sc_lower *lower)
{
    struct sc_code *code = lower->code;
    if (lower->callee_count)
        code->ops[0].target = code->op_count;
    else if (!code->needs_stack)
        return;
    struct sc_op *op = sc_lower_push(lower, sc_op_stack_begin);
    op->d = code->stack_slot;
    op->imm = (code->local_bytes + 15) & ~15u;
}

void sc_lower_function_start(struct sc_lower *lower)
{
    struct sc_code *code = lower->code;
    const struct sc_func *func = lower->func;
    code->entries[func->number] = code->op_count;
    lower->return_slot = sc_lower_slot(lower, 4);
    sc_lower_alu(lower, SC_ALU_mov, SC_T_b32, lower->return_slot,
                 lower->link_slot, 0, 0);
    if (!func->calls)
        return;
    struct sc_op *op = sc_lower_push(lower, sc_op_enter);
    op->d = code->stack_slot;
    op->target = func->number;
}

static uint32_t variable_bytes(const struct sc_lower *lower)
{
    uint64_t end = 0;
    for (const struct sc_var *v = lower->func->vars; v; v = v->next)
        if (sc_lower_in_frame(lower, v) && v->placed &&
            v->address + v->bytes > end)
            end = v->address + v->bytes;
    return (uint32_t)((end + 15) & ~(uint64_t)15);
}

static void add_save(struct sc_frame *frame, uint32_t slot, uint32_t bytes)
{
    frame->bytes = (frame->bytes + bytes - 1) & ~(bytes - 1);
    frame->saves[frame->count++] =
        (struct sc_save){.slot = slot, .bytes = bytes, .offset = frame->bytes};
    frame->bytes += bytes;
}

/* Registers that get a value before the kernel starts keep it. */
void sc_lower_function_end(struct sc_lower *lower)
{
    const struct sc_func *func = lower->func;
    if (func->is_entry || !func->calls)
        return;
    struct sc_frame *frame = &lower->code->frames[func->number];
    frame->saves =
        sc_load_alloc(lower->load, func->reg_count + 1, sizeof *frame->saves);
    frame->bytes = variable_bytes(lower);
    add_save(frame, lower->return_slot, 4);
    for (uint32_t r = 0; r < func->reg_count; r++) {
        uint32_t bytes = sc_type_bytes(func->regs[r].type);
        if (lower->reg_slot[r] != SC_NO_SLOT && !lower->reg_constant[r])
            add_save(frame, lower->reg_slot[r], bytes == 1 ? 2 : bytes);
    }
    frame->bytes = (frame->bytes + 15) & ~15u;
}

void sc_lower_kernel_end(struct sc_lower *lower)
{
    struct sc_code *code = lower->code;
    for (size_t i = 0; i < lower->call_fixup_count; i++) {
        struct sc_op *op = &code->ops[lower->call_fixups[i]];
        op->target = code->entries[op->target];
    }
}

static struct sc_op *emit_frame(struct sc_lower *lower, sc_handler run)
{
    struct sc_op *op = sc_lower_emit(lower, run);
    op->d = lower->code->stack_slot;
    op->target = lower->func->number;
    return op;
}

static void lower_real_call(struct sc_lower *lower,
                            const struct sc_operand *callee)
{
    uint32_t skip = sc_lower_begin_skip(lower), a = 0;
    bool direct = callee->kind == SC_OPERAND_FUNC;
    bool saves = !lower->func->is_entry;
    if (!direct)
        a = sc_lower_source(lower, callee, 8, SC_T_u64);
    if (saves)
        emit_frame(lower, sc_op_save);
    struct sc_op *op =
        sc_lower_emit(lower, direct ? sc_op_call : sc_op_call_indirect);
    op->d = lower->link_slot;
    op->a = a;
    if (direct) {
        op->target = callee->func->number;
        lower->call_fixups = sc_load_grow(
            lower->load, lower->call_fixups, lower->call_fixup_count,
            &lower->call_fixup_capacity, sizeof *lower->call_fixups);
        lower->call_fixups[lower->call_fixup_count++] =
            lower->code->op_count - 1;
    }
    sc_lower_emit(lower, sc_op_join);
    if (saves)
        emit_frame(lower, sc_op_restore);
    sc_lower_end_skip(lower, skip);
}

bool sc_lower_call(struct sc_lower *lower)
{
    if (lower->inst->opcode != SC_OP_call)
        return false;
    const struct sc_operand *callee = sc_lower_operand(lower, 0);
    sc_lower_take(lower, SC_MOD_uni);
    if (callee->kind == SC_OPERAND_FUNC && !callee->func->has_body)
        sc_lower_system_call(lower, callee->func);
    else
        lower_real_call(lower, callee);
    return true;
}
