/*
 * Handlers that look at more than one lane: branches, barriers, warps,
 * atomics. Compiled once; their cost is not in vector arithmetic.
 *
 * Lock: none. Each takes and returns what sc_handler says.
 */
#ifndef SOFTCUDA_EXEC_CONTROL_H
#define SOFTCUDA_EXEC_CONTROL_H

#include "exec/ops.h"

#define SC_DECLARE_OP(name)                                                    \
    const struct sc_op *name(const struct sc_op *op, struct sc_strip *strip)

/* ---- control.c ---- target: index of an op; a: predicate slot ---- */
SC_DECLARE_OP(sc_op_jump);
SC_DECLARE_OP(sc_op_branch);     /* lanes whose predicate holds */
SC_DECLARE_OP(sc_op_branch_not); /* lanes whose predicate does not */
SC_DECLARE_OP(sc_op_join);       /* start of a block with several ways in */
SC_DECLARE_OP(sc_op_table);      /* a: index, imm: count; jumps follow it */
SC_DECLARE_OP(sc_op_guard);      /* run op[1] for lanes with the predicate */
SC_DECLARE_OP(sc_op_guard_not);
SC_DECLARE_OP(sc_op_exit);
SC_DECLARE_OP(sc_op_trap);
/** Lanes `taken` go to `target`, `rest` (may be none) stay at `op`. */
const struct sc_op *sc_control_part(const struct sc_op *op,
                                    struct sc_strip *strip,
                                    const uint32_t *taken, const uint32_t *rest,
                                    uint32_t target);
SC_DECLARE_OP(sc_op_fence);
SC_DECLARE_OP(sc_op_spin); /* a place where another lane may be waited for */
/* the same where that depends on what was loaded; a: address, e: its
 * register's bytes, imm: offset, d: what came, of `flags` bytes */
SC_DECLARE_OP(sc_op_ask);

/* ---- whole.c ---- a: address, imm: added; components in d, b, c, e ---- */
#define SC_WHOLE(count, size, address)                                         \
    (uint16_t)((count) | (size) << 4 | (address) << 8)
#define SC_WHOLE_COUNT(flags)   ((flags)&15u)
#define SC_WHOLE_SIZE(flags)    ((flags) >> 4 & 15u)
#define SC_WHOLE_ADDRESS(flags) ((uint32_t)(flags) >> 8)
SC_DECLARE_OP(sc_op_load_whole);
SC_DECLARE_OP(sc_op_store_whole);

/* ---- call.c ---- d: slot for the place to return to ---- */
SC_DECLARE_OP(sc_op_call);          /* target: first op of the function */
SC_DECLARE_OP(sc_op_call_indirect); /* a: the function's address */
SC_DECLARE_OP(sc_op_return);        /* a: slot with the place to return to */
SC_DECLARE_OP(sc_op_stack_begin);   /* imm: bytes of .local before the stack */
SC_DECLARE_OP(sc_op_enter);         /* target: frame that must fit */
SC_DECLARE_OP(sc_op_save);          /* target: frame to put on the stack */
SC_DECLARE_OP(sc_op_restore);       /* target: frame to take off it again */

/* ---- texop.c ---- target: index of a sc_texture_form ---- */
SC_DECLARE_OP(sc_op_tex);
SC_DECLARE_OP(sc_op_txq);
SC_DECLARE_OP(sc_op_suld);
SC_DECLARE_OP(sc_op_sust);
SC_DECLARE_OP(sc_op_sured); /* flags: enum sc_sured, imm: type is signed */
enum sc_sured {
    SC_SURED_ADD,
    SC_SURED_MIN,
    SC_SURED_MAX,
    SC_SURED_AND,
    SC_SURED_OR
};

/* a: address, e: its register's bytes, imm: offset, flags: alignment */
SC_DECLARE_OP(sc_op_align);

/* ---- barrier.c ---- b: id slot, c: count slot (imm bit 0: given) ---- */
SC_DECLARE_OP(sc_op_barrier);
SC_DECLARE_OP(sc_op_barrier_arrive);
/* d: result, a: predicate, flags: enum sc_barrier_red */
SC_DECLARE_OP(sc_op_barrier_red);
enum sc_barrier_red { SC_RED_POPC, SC_RED_AND, SC_RED_OR };
/** Lanes left for good; open what only waited for them. */
void sc_barrier_recheck(struct sc_cta *cta);

/* ---- warp.c ---- e: member mask slot ---- */
SC_DECLARE_OP(sc_op_warp_sync);
SC_DECLARE_OP(sc_op_active);
/* imm of a vote or shfl without .sync: all active lanes take part */
#define SC_VOTE_ACTIVE 1

/* d, target: predicate slot or ~0; a value, b lane, c clamp */
SC_DECLARE_OP(sc_op_shfl_up);
SC_DECLARE_OP(sc_op_shfl_down);
SC_DECLARE_OP(sc_op_shfl_bfly);
SC_DECLARE_OP(sc_op_shfl_idx);
SC_DECLARE_OP(sc_op_vote_all);
SC_DECLARE_OP(sc_op_vote_any);
SC_DECLARE_OP(sc_op_vote_uni);
SC_DECLARE_OP(sc_op_vote_ballot);
SC_DECLARE_OP(sc_op_elect); /* d: leader, b: predicate, e: member mask */
/* flags: bytes of the value; match.all also sets predicate slot `target` */
SC_DECLARE_OP(sc_op_match_any);
SC_DECLARE_OP(sc_op_match_all);
/* flags: enum sc_redux */
SC_DECLARE_OP(sc_op_redux);
enum sc_redux {
    SC_REDUX_ADD,
    SC_REDUX_AND,
    SC_REDUX_OR,
    SC_REDUX_XOR,
    SC_REDUX_MIN_U,
    SC_REDUX_MAX_U,
    SC_REDUX_MIN_S,
    SC_REDUX_MAX_S
};
/* imm: special register; flags: bytes */
SC_DECLARE_OP(sc_op_clock);
/* a: generic address, mode: space asked about; d: predicate */
SC_DECLARE_OP(sc_op_isspace);

/* ---- atomic.c ---- */

enum sc_atomic {
    SC_ATOM_ADD,
    SC_ATOM_INC,
    SC_ATOM_DEC,
    SC_ATOM_MIN,
    SC_ATOM_MAX,
    SC_ATOM_AND,
    SC_ATOM_OR,
    SC_ATOM_XOR,
    SC_ATOM_EXCH,
    SC_ATOM_CAS,
    SC_ATOM_COUNT
};

/**
 * Handler of atom (d: old value, ~0 for red), a: address, b, c: operands,
 * e: bytes of the address register.
 *
 * Return: NULL for "no such form"
 */
sc_handler sc_atomic_find(enum sc_atomic kind, enum sc_type type);

/* ---- async.c ---- c of the last two: where the lane's stack ends */
/* a: shared address of e bytes, b: global one, c: bytes to read, flags: bytes
 * to write, imm: offsets of a (low half) and b */
SC_DECLARE_OP(sc_op_copy);
SC_DECLARE_OP(sc_op_alloca); /* d: .local address, a: bytes, flags: alignment */
SC_DECLARE_OP(sc_op_stack_restore); /* a: what the stack's end was */

/* ---- mbarrier.c ---- a: address of e bytes + imm, mode; flags: what it does;
 * b: count or state */
SC_DECLARE_OP(sc_op_mbarrier);         /* d: state before, or SC_NO_SLOT */
SC_DECLARE_OP(sc_op_mbarrier_test);    /* d: predicate */
SC_DECLARE_OP(sc_op_mbarrier_pending); /* d: number, b: state */
enum sc_mbarrier {
    SC_MBARRIER_INIT,
    SC_MBARRIER_INVAL,
    SC_MBARRIER_ARRIVE,
    SC_MBARRIER_DROP,   /* arrive, and be expected no more */
    SC_MBARRIER_EXPECT, /* bytes that will be copied */
    SC_MBARRIER_COMPLETE,
    SC_MBARRIER_KINDS,
    SC_MBARRIER_AND_ONE = 8, /* flag: of EXPECT; then arrive */
    SC_MBARRIER_AND_DROP = 16,
};
/* flags of a test: b holds the parity of a phase, not a state */
#define SC_MBARRIER_PARITY 1

/* ---- video.c ---- a, b, c; imm: struct sc_video of ptx/video.h */
SC_DECLARE_OP(sc_op_video);

#endif
