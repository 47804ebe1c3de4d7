/*
 * Decodes mbarrier, and what asks about clusters, which are single blocks
 * here; see exec/lower.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"

/* Orders and scopes: a block's threads see each other's writes anyway. */
static void take_order(struct sc_lower *lower)
{
    static const enum sc_modifier words[] = {SC_MOD_release, SC_MOD_acquire,
                                             SC_MOD_relaxed, SC_MOD_cta,
                                             SC_MOD_cluster};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        sc_lower_take(lower, words[i]);
}

static struct sc_op *emit(struct sc_lower *lower, sc_handler run,
                          uint32_t index)
{
    enum sc_space_kind space = sc_lower_space(lower);
    if (space != SC_SPACE_SHARED && space != SC_SPACE_GENERIC)
        sc_lower_invalid(lower, "mbarrier outside of shared memory in");
    struct sc_lower_place at =
        sc_lower_place(lower, sc_lower_operand(lower, index), space);
    struct sc_op *op = sc_lower_emit(lower, run);
    op->a = at.slot;
    op->e = at.bytes;
    op->imm = (int64_t)at.offset;
    op->mode = at.mode;
    op->d = SC_NO_SLOT;
    return op;
}

static uint32_t count_slot(struct sc_lower *lower, uint32_t index)
{
    return index < lower->inst->operand_count
               ? sc_lower_source(lower, sc_lower_operand(lower, index), 4,
                                 SC_T_u32)
               : sc_lower_constant(lower, 4, 1);
}

/* [address], or [address], count */
static void lower_word(struct sc_lower *lower, enum sc_mbarrier what)
{
    bool counts = what != SC_MBARRIER_INVAL;
    sc_lower_count(lower, counts ? 2 : 1, counts ? 2 : 1);
    uint32_t n = count_slot(lower, 1);
    struct sc_op *op = emit(lower, sc_op_mbarrier, 0);
    op->b = n;
    op->flags = what;
}

/* state, [address], or with a count; the state may be '_', or not named where
 * the word is another block's. */
static void lower_arrive(struct sc_lower *lower, bool drops)
{
    bool expects = sc_lower_take(lower, SC_MOD_expect_tx);
    bool named = sc_lower_operand(lower, 0)->kind != SC_OPERAND_ADDRESS;
    sc_lower_take(lower, SC_MOD_noComplete);
    sc_lower_count(lower, (uint32_t)named + 1 + expects, (uint32_t)named + 2);
    uint32_t d = named && sc_lower_operand(lower, 0)->kind != SC_OPERAND_SINK
                     ? sc_lower_dest(lower, sc_lower_operand(lower, 0), 8)
                     : SC_NO_SLOT;
    uint32_t n = count_slot(lower, (uint32_t)named + 1);
    struct sc_op *op = emit(lower, sc_op_mbarrier, named);
    op->d = d;
    op->b = n;
    op->flags = drops ? SC_MBARRIER_DROP : SC_MBARRIER_ARRIVE;
    if (expects)
        op->flags = (uint16_t)(SC_MBARRIER_EXPECT | SC_MBARRIER_AND_ONE |
                               (drops ? SC_MBARRIER_AND_DROP : 0));
}

/* predicate, [address], state or parity; how long it may wait is a hint. */
static void lower_test(struct sc_lower *lower, bool may_wait)
{
    bool parity = sc_lower_take(lower, SC_MOD_parity);
    sc_lower_count(lower, 3, may_wait ? 4 : 3);
    uint32_t d = sc_lower_predicate_dest(lower, sc_lower_operand(lower, 0));
    uint32_t b = sc_lower_source(lower, sc_lower_operand(lower, 2),
                                 parity ? 4 : 8, parity ? SC_T_u32 : SC_T_b64);
    struct sc_op *op = emit(lower, sc_op_mbarrier_test, 1);
    op->d = d;
    op->b = b;
    op->flags = parity ? SC_MBARRIER_PARITY : 0;
}

static void lower_pending(struct sc_lower *lower)
{
    sc_lower_count(lower, 2, 2);
    uint32_t b =
        sc_lower_source(lower, sc_lower_operand(lower, 1), 8, SC_T_b64);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    struct sc_op *op = sc_lower_emit(lower, sc_op_mbarrier_pending);
    op->d = d;
    op->b = b;
}

static void lower_mbarrier(struct sc_lower *lower)
{
    take_order(lower);
    if (lower->inst->type_count != 1 || lower->inst->types[0] != SC_T_b64)
        sc_lower_invalid(lower, ".b64 is missing in");
    if (sc_lower_take(lower, SC_MOD_init))
        lower_word(lower, SC_MBARRIER_INIT);
    else if (sc_lower_take(lower, SC_MOD_inval))
        lower_word(lower, SC_MBARRIER_INVAL);
    else if (sc_lower_take(lower, SC_MOD_complete_tx))
        lower_word(lower, SC_MBARRIER_COMPLETE);
    else if (sc_lower_take(lower, SC_MOD_arrive))
        lower_arrive(lower, false);
    else if (sc_lower_take(lower, SC_MOD_arrive_drop))
        lower_arrive(lower, true);
    else if (sc_lower_take(lower, SC_MOD_expect_tx))
        lower_word(lower, SC_MBARRIER_EXPECT);
    else if (sc_lower_take(lower, SC_MOD_test_wait))
        lower_test(lower, false);
    else if (sc_lower_take(lower, SC_MOD_try_wait))
        lower_test(lower, true);
    else if (sc_lower_take(lower, SC_MOD_pending_count))
        lower_pending(lower);
    else
        sc_lower_invalid(lower, "operation such as .init is missing in");
}

/* Without .noinc the arrival is one more than the phase expects. */
void sc_lower_copies_arrive(struct sc_lower *lower)
{
    bool counts = sc_lower_take(lower, SC_MOD_noinc);
    if (!sc_lower_take(lower, SC_MOD_arrive) || lower->inst->type_count != 1 ||
        lower->inst->types[0] != SC_T_b64)
        sc_lower_refuse(lower, "unsupported form");
    sc_lower_count(lower, 1, 1);
    uint32_t n = sc_lower_constant(lower, 4, counts);
    struct sc_op *op = emit(lower, sc_op_mbarrier, 0);
    op->b = n;
    op->flags = SC_MBARRIER_ARRIVE;
}

/* The address of a variable in block 0 of the cluster, which is this one. */
static void lower_mapa(struct sc_lower *lower)
{
    uint32_t bytes = sc_type_bytes(sc_lower_type(lower));
    sc_lower_take(lower, SC_MOD_shared__cluster);
    sc_lower_count(lower, 3, 3);
    uint32_t a = sc_lower_source(lower, sc_lower_operand(lower, 1), bytes,
                                 sc_lower_bits(bytes));
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), bytes);
    sc_lower_alu(lower, SC_ALU_mov, sc_lower_bits(bytes), d, a, 0, 0);
}

static void lower_rank(struct sc_lower *lower)
{
    sc_lower_type(lower);
    sc_lower_take(lower, SC_MOD_shared__cluster);
    sc_lower_count(lower, 2, 2);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    sc_lower_alu(lower, SC_ALU_mov, SC_T_b32, d, sc_lower_constant(lower, 4, 0),
                 0, 0);
}

bool sc_lower_mbarrier(struct sc_lower *lower)
{
    switch (lower->inst->opcode) {
    case SC_OP_mbarrier:
        return lower_mbarrier(lower), true;
    case SC_OP_mapa:
        return lower_mapa(lower), true;
    case SC_OP_getctarank:
        return lower_rank(lower), true;
    default:
        return false;
    }
}
