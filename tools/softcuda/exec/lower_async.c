/*
 * Decodes copies that may run behind the program's back, which run at once
 * here, and memory taken from the stack; see exec/lower.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"
#include "exec/touched.h"

/* ---- cp.async ---- */

/* Bytes that are read, of `size`: all, a number, or none where a predicate is
 * set; the others become 0. */
static uint32_t read_slot(struct sc_lower *lower, uint32_t size)
{
    uint32_t all = sc_lower_constant(lower, 4, size);
    if (lower->inst->operand_count == 3)
        return all;
    const struct sc_operand *last = sc_lower_operand(lower, 3);
    bool ignores = last->kind == SC_OPERAND_REG &&
                   lower->func->regs[last->reg].type == SC_T_pred;
    if (!ignores)
        return sc_lower_source(lower, last, 4, SC_T_u32);
    uint32_t ignore = sc_lower_predicate(lower, last);
    uint32_t slot = sc_lower_temp(lower, 4);
    sc_lower_alu(lower, SC_ALU_selp, SC_T_b32, slot,
                 sc_lower_constant(lower, 4, 0), all, ignore);
    return slot;
}

static void lower_copy(struct sc_lower *lower)
{
    static const enum sc_modifier hints[] = {SC_MOD_L2__64B, SC_MOD_L2__128B,
                                             SC_MOD_L2__256B};
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        sc_lower_take(lower, hints[i]);
    bool whole = sc_lower_take(lower, SC_MOD_cg);
    bool level = sc_lower_take(lower, SC_MOD_ca) != whole;
    bool shared = sc_lower_take(lower, SC_MOD_shared) ||
                  sc_lower_take(lower, SC_MOD_shared__cta);
    if (!level || !shared || !sc_lower_take(lower, SC_MOD_global))
        sc_lower_refuse(lower, "unsupported form");
    sc_lower_count(lower, 3, 4);
    const struct sc_operand *size = sc_lower_operand(lower, 2);
    if (size->kind != SC_OPERAND_INT ||
        (size->bits != 16 && (whole || (size->bits != 4 && size->bits != 8))))
        sc_lower_invalid(lower, "size that cannot be copied in");
    struct sc_lower_place to =
        sc_lower_place(lower, sc_lower_operand(lower, 0), SC_SPACE_SHARED);
    struct sc_lower_place from =
        sc_lower_place(lower, sc_lower_operand(lower, 1), SC_SPACE_GLOBAL);
    sc_touched_lower(lower, &from, (uint32_t)size->bits);
    uint32_t c = read_slot(lower, (uint32_t)size->bits);
    struct sc_op *op = sc_lower_emit(lower, sc_op_copy);
    op->a = to.slot;
    op->b = from.slot;
    op->c = c;
    op->e = to.bytes;
    op->flags = (uint16_t)size->bits;
    op->imm = (int64_t)(from.offset << 32 | (uint32_t)to.offset);
}

static void lower_cp(struct sc_lower *lower)
{
    bool async = sc_lower_take(lower, SC_MOD_async);
    if (async && sc_lower_take(lower, SC_MOD_mbarrier)) {
        sc_lower_copies_arrive(lower);
        return;
    }
    if (!async || lower->inst->type_count)
        sc_lower_refuse(lower, "unsupported form");
    if (sc_lower_take(lower, SC_MOD_commit_group) ||
        sc_lower_take(lower, SC_MOD_wait_all))
        sc_lower_count(lower, 0, 0);
    else if (sc_lower_take(lower, SC_MOD_wait_group))
        sc_lower_count(lower, 1, 1);
    else
        lower_copy(lower);
}

/* ---- alloca, stacksave, stackrestore ---- */

static void lower_alloca(struct sc_lower *lower)
{
    sc_lower_count(lower, 2, 3);
    uint64_t align = 8;
    if (lower->inst->operand_count == 3) {
        const struct sc_operand *last = sc_lower_operand(lower, 2);
        align = last->kind == SC_OPERAND_INT ? last->bits : 0;
    }
    if (!align || align & (align - 1) || align > 4096)
        sc_lower_invalid(lower, "alignment that is no power of two in");
    uint32_t a =
        sc_lower_source(lower, sc_lower_operand(lower, 1), 8, SC_T_u64);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 8);
    struct sc_op *op = sc_lower_emit(lower, sc_op_alloca);
    op->d = d;
    op->a = a;
    op->c = lower->code->stack_slot;
    op->flags = (uint16_t)align;
}

static void lower_stack(struct sc_lower *lower)
{
    /* a function gives its frame back at a place it knows before it runs */
    if (!lower->func->is_entry)
        sc_lower_refuse(lower, "only inlined functions can have");
    if (sc_lower_type(lower) != SC_T_u64)
        sc_lower_refuse(lower, "unsupported type in");
    if (lower->inst->opcode == SC_OP_alloca) {
        lower_alloca(lower);
        return;
    }
    sc_lower_count(lower, 1, 1);
    bool saves = lower->inst->opcode == SC_OP_stacksave;
    const struct sc_operand *o = sc_lower_operand(lower, 0);
    uint32_t stack = lower->code->stack_slot;
    if (saves) {
        sc_lower_alu(lower, SC_ALU_mov, SC_T_b64, sc_lower_dest(lower, o, 8),
                     stack, 0, 0);
        return;
    }
    uint32_t a = sc_lower_source(lower, o, 8, SC_T_u64);
    sc_lower_emit(lower, sc_op_stack_restore)->a = a;
    lower->code->ops[lower->code->op_count - 1].c = stack;
}

bool sc_lower_async(struct sc_lower *lower)
{
    switch (lower->inst->opcode) {
    case SC_OP_cp:
        return lower_cp(lower), true;
    case SC_OP_alloca:
    case SC_OP_stacksave:
    case SC_OP_stackrestore:
        return lower_stack(lower), true;
    default:
        return false;
    }
}
