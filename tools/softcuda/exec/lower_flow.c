/*
 * Decodes branches, barriers, warp operations and fences; see exec/lower.h.
 *
 * Lock: none.
 */
#include "exec/lower.h"

/* Ops that may wait cannot run behind a guard (they would come back without
 * it): lanes without the predicate jump over them instead. Returns the index
 * of the branch to patch, or SC_NO_SLOT. */
uint32_t sc_lower_begin_skip(struct sc_lower *lower)
{
    if (!lower->guarded)
        return SC_NO_SLOT;
    lower->guarded = false;
    struct sc_op *op = sc_lower_emit(
        lower, lower->guard_negate ? sc_op_branch : sc_op_branch_not);
    op->a = lower->guard_slot;
    return lower->code->op_count - 1;
}

void sc_lower_end_skip(struct sc_lower *lower, uint32_t branch)
{
    if (branch == SC_NO_SLOT)
        return;
    lower->code->ops[branch].target = lower->code->op_count;
    sc_lower_emit(lower, sc_op_join);
}

static void lower_bra(struct sc_lower *lower)
{
    uint32_t block = lower->cfg.block_of[sc_lower_operand(lower, 0)->target];
    bool guarded = lower->guarded;
    sc_lower_take(lower, SC_MOD_uni);
    lower->guarded = false;
    struct sc_op *op =
        sc_lower_emit(lower, !guarded              ? sc_op_jump
                             : lower->guard_negate ? sc_op_branch_not
                                                   : sc_op_branch);
    op->a = guarded ? lower->guard_slot : 0;
    sc_lower_target(lower, block);
}

static void lower_brx(struct sc_lower *lower)
{
    sc_lower_take(lower, SC_MOD_uni);
    if (!sc_lower_take(lower, SC_MOD_idx))
        sc_lower_invalid(lower, ".idx is missing in");
    const struct sc_targets *targets = sc_lower_operand(lower, 1)->targets;
    uint32_t skip = sc_lower_begin_skip(lower);
    uint32_t a =
        sc_lower_source(lower, sc_lower_operand(lower, 0), 4, SC_T_u32);
    struct sc_op *op = sc_lower_emit(lower, sc_op_table);
    op->a = a;
    op->imm = targets->count;
    for (uint32_t i = 0; i < targets->count; i++) {
        sc_lower_emit(lower, sc_op_jump);
        sc_lower_target(lower, lower->cfg.block_of[targets->labels[i].target]);
    }
    sc_lower_end_skip(lower, skip);
}

static void lower_exit(struct sc_lower *lower)
{
    sc_lower_count(lower, 0, 0);
    sc_lower_take(lower, SC_MOD_uni);
    uint32_t skip = sc_lower_begin_skip(lower);
    bool returns = lower->inst->opcode == SC_OP_ret && !lower->func->is_entry;
    if (returns)
        sc_lower_emit(lower, sc_op_return)->a = lower->return_slot;
    else
        sc_lower_emit(lower, sc_op_exit);
    sc_lower_end_skip(lower, skip);
}

/* ---- bar, barrier ---- */

static void emit_barrier(struct sc_lower *lower, sc_handler run, uint32_t first,
                         uint32_t d, uint32_t pred, enum sc_barrier_red red,
                         bool counted)
{
    uint32_t id =
        sc_lower_source(lower, sc_lower_operand(lower, first), 4, SC_T_u32);
    uint32_t count =
        counted ? sc_lower_source(lower, sc_lower_operand(lower, first + 1), 4,
                                  SC_T_u32)
                : 0;
    struct sc_op *op = sc_lower_emit(lower, run);
    op->d = d;
    op->a = pred;
    op->b = id;
    op->c = count;
    op->imm = counted;
    op->flags = red;
    lower->code->uses_barrier = true;
}

static void lower_bar_red(struct sc_lower *lower)
{
    enum sc_barrier_red red = SC_RED_POPC;
    if (sc_lower_take(lower, SC_MOD_and))
        red = SC_RED_AND;
    else if (sc_lower_take(lower, SC_MOD_or))
        red = SC_RED_OR;
    else if (!sc_lower_take(lower, SC_MOD_popc))
        sc_lower_invalid(lower, ".popc, .and or .or is missing in");
    uint32_t n = lower->inst->operand_count;
    sc_lower_count(lower, 3, 4);
    uint32_t pred = sc_lower_predicate(lower, sc_lower_operand(lower, n - 1));
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    emit_barrier(lower, sc_op_barrier_red, 1, d, pred, red, n == 4);
}

static void lower_warp_barrier(struct sc_lower *lower)
{
    sc_lower_count(lower, 1, 1);
    uint32_t members =
        sc_lower_source(lower, sc_lower_operand(lower, 0), 4, SC_T_u32);
    sc_lower_emit(lower, sc_op_warp_sync)->e = members;
}

static void lower_bar(struct sc_lower *lower)
{
    uint32_t skip = sc_lower_begin_skip(lower);
    uint32_t n = lower->inst->operand_count;
    sc_lower_take(lower, SC_MOD_aligned);
    sc_lower_take(lower, SC_MOD_cta);
    bool warp = sc_lower_take(lower, SC_MOD_warp);
    if (sc_lower_take(lower, SC_MOD_cluster))
        sc_lower_refuse(lower, "clusters have no barriers here for");
    if (sc_lower_take(lower, SC_MOD_red)) {
        lower_bar_red(lower);
    } else if (sc_lower_take(lower, SC_MOD_arrive)) {
        sc_lower_count(lower, 2, 2);
        emit_barrier(lower, sc_op_barrier_arrive, 0, 0, 0, SC_RED_POPC, true);
    } else if (!sc_lower_take(lower, SC_MOD_sync)) {
        sc_lower_invalid(lower, ".sync, .arrive or .red is missing in");
    } else if (warp) {
        lower_warp_barrier(lower);
    } else {
        sc_lower_count(lower, 1, 2);
        emit_barrier(lower, sc_op_barrier, 0, 0, 0, SC_RED_POPC, n == 2);
    }
    if (lower->inst->type_count > 1)
        sc_lower_invalid(lower, "too many types in");
    sc_lower_end_skip(lower, skip);
}

/* ---- warps ---- */

/* Whether .sync is there, as it must be since lanes go their own ways. */
static bool take_sync(struct sc_lower *lower)
{
    bool sync = sc_lower_take(lower, SC_MOD_sync);
    if (!sync && lower->ir->version >= 64 && lower->ir->sm >= 70)
        sc_lower_invalid(lower, "on sm_70 and later PTX 6.4 and later wants "
                                ".sync and a mask of lanes in");
    return sync;
}

/* Member mask: operand `index`, or all lanes for the forms without .sync. */
static uint32_t members(struct sc_lower *lower, bool sync, uint32_t index)
{
    if (!sync)
        return sc_lower_constant(lower, 4, 0);
    return sc_lower_source(lower, sc_lower_operand(lower, index), 4, SC_T_b32);
}

static uint32_t pair_dest(struct sc_lower *lower, uint32_t *pred)
{
    const struct sc_operand *d = sc_lower_operand(lower, 0);
    *pred = SC_NO_SLOT;
    if (d->kind != SC_OPERAND_PAIR)
        return sc_lower_dest(lower, d, 4);
    if (d->sub[1].kind != SC_OPERAND_SINK)
        *pred = sc_lower_dest(lower, &d->sub[1], 4);
    return sc_lower_dest(lower, &d->sub[0], 4);
}

static void lower_shfl(struct sc_lower *lower)
{
    uint32_t skip = sc_lower_begin_skip(lower);
    bool sync = take_sync(lower);
    sc_handler run = sc_lower_take(lower, SC_MOD_up)     ? sc_op_shfl_up
                     : sc_lower_take(lower, SC_MOD_down) ? sc_op_shfl_down
                     : sc_lower_take(lower, SC_MOD_bfly) ? sc_op_shfl_bfly
                     : sc_lower_take(lower, SC_MOD_idx)  ? sc_op_shfl_idx
                                                         : NULL;
    sc_lower_count(lower, sync ? 5 : 4, sync ? 5 : 4);
    uint32_t s[3], pred;
    for (uint32_t i = 0; i < 3; i++)
        s[i] =
            sc_lower_source(lower, sc_lower_operand(lower, i + 1), 4, SC_T_b32);
    uint32_t e = members(lower, sync, 4);
    uint32_t d = pair_dest(lower, &pred);
    struct sc_op *op = sc_lower_emit(lower, run);
    op->d = d;
    op->a = s[0];
    op->b = s[1];
    op->c = s[2];
    op->e = e;
    op->target = pred;
    op->imm = sync ? 0 : SC_VOTE_ACTIVE;
    sc_lower_end_skip(lower, skip);
}

static void lower_vote(struct sc_lower *lower)
{
    uint32_t skip = sc_lower_begin_skip(lower);
    bool sync = take_sync(lower);
    sc_handler run = sc_lower_take(lower, SC_MOD_all)      ? sc_op_vote_all
                     : sc_lower_take(lower, SC_MOD_any)    ? sc_op_vote_any
                     : sc_lower_take(lower, SC_MOD_uni)    ? sc_op_vote_uni
                     : sc_lower_take(lower, SC_MOD_ballot) ? sc_op_vote_ballot
                                                           : NULL;
    sc_lower_count(lower, sync ? 3 : 2, sync ? 3 : 2);
    uint32_t a = sc_lower_predicate(lower, sc_lower_operand(lower, 1));
    uint32_t e = members(lower, sync, 2);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    struct sc_op *op = sc_lower_emit(lower, run);
    op->d = d;
    op->a = a;
    op->e = e;
    op->imm = sync ? 0 : SC_VOTE_ACTIVE;
    sc_lower_end_skip(lower, skip);
}

static void lower_match(struct sc_lower *lower)
{
    uint32_t skip = sc_lower_begin_skip(lower);
    bool all = sc_lower_take(lower, SC_MOD_all);
    bool any = sc_lower_take(lower, SC_MOD_any);
    bool sync = sc_lower_take(lower, SC_MOD_sync);
    if (all == any || !sync || lower->inst->type_count != 1)
        sc_lower_invalid(lower, ".any.sync or .all.sync is missing in");
    uint32_t bytes = sc_type_bytes(lower->inst->types[0]), pred;
    sc_lower_count(lower, 3, 3);
    if (bytes != 4 && bytes != 8)
        sc_lower_refuse(lower, "unsupported type in");
    uint32_t a = sc_lower_source(lower, sc_lower_operand(lower, 1), bytes,
                                 lower->inst->types[0]);
    uint32_t e = members(lower, sync, 2);
    uint32_t d = pair_dest(lower, &pred);
    struct sc_op *op =
        sc_lower_emit(lower, all ? sc_op_match_all : sc_op_match_any);
    op->d = d;
    op->a = a;
    op->e = e;
    op->target = pred;
    op->flags = (uint16_t)bytes;
    sc_lower_end_skip(lower, skip);
}

static int take_redux(struct sc_lower *lower, enum sc_type type)
{
    bool is_signed = type == SC_T_s32, is_bits = type == SC_T_b32;
    if (sc_lower_take(lower, SC_MOD_add) && !is_bits)
        return SC_REDUX_ADD;
    if (sc_lower_take(lower, SC_MOD_min) && !is_bits)
        return is_signed ? SC_REDUX_MIN_S : SC_REDUX_MIN_U;
    if (sc_lower_take(lower, SC_MOD_max) && !is_bits)
        return is_signed ? SC_REDUX_MAX_S : SC_REDUX_MAX_U;
    if (sc_lower_take(lower, SC_MOD_and) && is_bits)
        return SC_REDUX_AND;
    if (sc_lower_take(lower, SC_MOD_or) && is_bits)
        return SC_REDUX_OR;
    if (sc_lower_take(lower, SC_MOD_xor) && is_bits)
        return SC_REDUX_XOR;
    return -1;
}

static void lower_redux(struct sc_lower *lower)
{
    uint32_t skip = sc_lower_begin_skip(lower);
    enum sc_type type =
        lower->inst->type_count == 1 ? lower->inst->types[0] : SC_T_pred;
    int kind = take_redux(lower, type);
    bool integer = type == SC_T_u32 || type == SC_T_s32 || type == SC_T_b32;
    if (!sc_lower_take(lower, SC_MOD_sync) || kind < 0 || !integer)
        sc_lower_refuse(lower, "unsupported form");
    sc_lower_count(lower, 3, 3);
    uint32_t a =
        sc_lower_source(lower, sc_lower_operand(lower, 1), 4, SC_T_b32);
    uint32_t e = members(lower, true, 2);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    struct sc_op *op = sc_lower_emit(lower, sc_op_redux);
    op->d = d;
    op->a = a;
    op->e = e;
    op->flags = (uint16_t)kind;
    sc_lower_end_skip(lower, skip);
}

static void lower_elect(struct sc_lower *lower)
{
    uint32_t skip = sc_lower_begin_skip(lower);
    const struct sc_operand *to = sc_lower_operand(lower, 0);
    if (!sc_lower_take(lower, SC_MOD_sync) || to->kind != SC_OPERAND_PAIR)
        sc_lower_invalid(lower, ".sync or d|p is missing in");
    sc_lower_count(lower, 2, 2);
    uint32_t e = members(lower, true, 1);
    uint32_t d = sc_lower_dest(lower, &to->sub[0], 4);
    uint32_t p = sc_lower_predicate_dest(lower, &to->sub[1]);
    struct sc_op *op = sc_lower_emit(lower, sc_op_elect);
    op->d = d;
    op->b = p;
    op->e = e;
    sc_lower_end_skip(lower, skip);
}

/* ---- fences and what has no effect here ---- */

static void lower_fence(struct sc_lower *lower)
{
    static const enum sc_modifier kinds[] = {
        SC_MOD_cta,           SC_MOD_gl,      SC_MOD_sys,
        SC_MOD_gpu,           SC_MOD_cluster, SC_MOD_sc,
        SC_MOD_acq_rel,       SC_MOD_acquire, SC_MOD_release,
        SC_MOD_mbarrier_init, SC_MOD_proxy,   SC_MOD_async,
        SC_MOD_alias};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        sc_lower_take(lower, kinds[i]);
    sc_lower_emit(lower, sc_op_fence);
}

static void lower_nothing(struct sc_lower *lower)
{
    for (uint32_t w = 0; w < SC_MOD_WORDS; w++)
        lower->left[w] = 0;
}

static void lower_activemask(struct sc_lower *lower)
{
    sc_lower_count(lower, 1, 1);
    uint32_t d = sc_lower_dest(lower, sc_lower_operand(lower, 0), 4);
    sc_lower_emit(lower, sc_op_active)->d = d;
}

bool sc_lower_flow(struct sc_lower *lower)
{
    switch (lower->inst->opcode) {
    case SC_OP_bra:
        return lower_bra(lower), true;
    case SC_OP_brx:
        return lower_brx(lower), true;
    case SC_OP_ret:
    case SC_OP_exit:
        return lower_exit(lower), true;
    case SC_OP_trap:
    case SC_OP_brkpt: /* there is no debugger to stop in */
        return sc_lower_emit(lower, sc_op_trap), true;
    case SC_OP_bar:
    case SC_OP_barrier:
        return lower_bar(lower), true;
    case SC_OP_shfl:
        return lower_shfl(lower), true;
    case SC_OP_vote:
        return lower_vote(lower), true;
    case SC_OP_match:
        return lower_match(lower), true;
    case SC_OP_redux:
        return lower_redux(lower), true;
    case SC_OP_elect:
        return lower_elect(lower), true;
    case SC_OP_activemask:
        return lower_activemask(lower), true;
    case SC_OP_membar:
    case SC_OP_fence:
        return lower_fence(lower), true;
    case SC_OP_nanosleep:
        return sc_lower_emit(lower, sc_op_spin), true;
    case SC_OP_prefetch:
    case SC_OP_prefetchu:
    case SC_OP_pmevent:
    case SC_OP_applypriority:
    case SC_OP_griddepcontrol: /* a grid starts when the one before has ended */
        return lower_nothing(lower), true;
    default:
        return false;
    }
}
