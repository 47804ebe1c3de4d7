/*
 * What the parts that write instructions share.
 *
 * Every lane-wise statement is written once for each part of the group. The
 * lanes it is for: all (gen->mask 0), those of the block ('M'), or those of
 * the block that pass a guard ('E'); the masks are the variables M0 …, E0 ….
 * Lock: none.
 */
#ifndef SOFTCUDA_NATIVE_EMIT_H
#define SOFTCUDA_NATIVE_EMIT_H

#include "native/rt.h"

/* ---- value.c ---- */

bool sc_gen_varies(const struct sc_gen *gen, uint32_t reg);
/** Whether an operand is a number, or a register that is only ever set to
 *  one; its lower 32 bits. */
bool sc_gen_is_constant(const struct sc_gen *gen,
                        const struct sc_operand *operand, uint32_t *value);
/** The linear operand of a widening, and how it is extended. */
const struct sc_operand *sc_gen_widened(const struct sc_inst *inst);
bool sc_gen_widens_signed(const struct sc_inst *inst);

/* ---- emit.c ---- */

/** Write gen->inst of gen->place, control flow apart. */
void sc_emit_inst(struct sc_gen *gen);
/** Mask of the lanes meant, as text. */
struct sc_value sc_emit_mask(const struct sc_gen *gen, uint32_t part);
/** Whether lanes that are not meant must keep what `reg` holds. */
bool sc_emit_keeps(const struct sc_gen *gen, uint32_t reg);
/** Assign a vector to a part of a varying register, minding the mask. */
void sc_emit_vector(struct sc_gen *gen, uint32_t reg, uint32_t part,
                    const char *vector);
/** Assign a uniform value to a register of any shape. */
void sc_emit_scalar(struct sc_gen *gen, uint32_t reg, const char *scalar);
/** "v32", "uint32_t" … */
const char *sc_emit_type(enum sc_lane_class class, bool vector);

/* ---- emit_memory.c ---- */

enum sc_mode {
    SC_MODE_GLOBAL, /* and const */
    SC_MODE_SHARED,
    SC_MODE_LOCAL,
    SC_MODE_PARAM,
    SC_MODE_GENERIC,
};

/** An address: lane 0 of the group, or vectors. */
struct sc_address {
    enum sc_mode mode;
    struct sc_shape shape;
    struct sc_operand base; /* a register, or a number in `offset` only */
    bool is_fixed;
    bool in_window; /* fixed: `offset` counts from there */
    enum sc_lane_class class;
    uint64_t offset;
};

/** Take an address operand apart. */
struct sc_address sc_emit_address(struct sc_gen *gen,
                                  const struct sc_operand *operand);
/** Uniform value, or lane 0, as a uint64_t. */
struct sc_value sc_emit_base(struct sc_gen *gen, const struct sc_address *at);
/** v64 of a part. */
struct sc_value sc_emit_lanes(struct sc_gen *gen, const struct sc_address *at,
                              uint32_t part);
void sc_emit_load(struct sc_gen *gen);
void sc_emit_store(struct sc_gen *gen);
void sc_emit_cvta(struct sc_gen *gen);
void sc_emit_isspacep(struct sc_gen *gen);

/* ---- bounds.c ---- */

/** Whether every thread's address is aligned to `bytes`, a power of two, and
 *  has as many of the kernel's shared variables behind it. */
bool sc_gen_is_inside(struct sc_gen *gen, const struct sc_address *at,
                      uint32_t bytes);

/* ---- emit_check.c ---- */

/** One load or store. */
struct sc_access {
    struct sc_address at;
    enum sc_element element;
    uint32_t count, bytes; /* components; of the whole */
    bool is_signed;
};

/** Where gen->inst accesses memory. */
enum sc_mode sc_emit_mode(const struct sc_inst *inst);
/** Take a load or store apart. */
struct sc_access sc_emit_access(struct sc_gen *gen,
                                const struct sc_operand *address,
                                const struct sc_operand *value);
/** Write `int fast` and `uint64_t p`, where lane 0 of the group lies, for an
 *  access that is uniform or linear. */
void sc_emit_check(struct sc_gen *gen, const struct sc_access *x);
/** Write `v64 al_part` and `int fast` for one that varies. */
void sc_emit_check_lanes(struct sc_gen *gen, const struct sc_access *x);
/** Before gen->inst: where several accesses of the place share their base
 *  register, check the range they span together. */
void sc_emit_range(struct sc_gen *gen);

/** Base register of a linear load or store that all lanes of the place do;
 *  SC_NONE: it is none. */
uint32_t sc_emit_base_of(struct sc_gen *gen, const struct sc_inst *inst);
/** Add the ranges that such accesses of the place span, by base register, for
 *  those `wanted`. Return: how many accesses they cover. */
uint32_t sc_emit_find_ranges(struct sc_gen *gen, const bool *wanted);
/** Write the checks of the ranges from number `first` on. */
void sc_emit_put_ranges(struct sc_gen *gen, uint32_t first);

/* ---- emit_whole.c ---- */

/** Write `body`, what the place does, as ever, and where that pays before it:
 *  with no checks, for all lanes and for some. It ends in a jump. */
void sc_emit_whole(struct sc_gen *gen, void (*body)(struct sc_gen *));

/* ---- emit_turn.c ---- */

/** Find which barriers groups come from; after sc_emit_plan_barriers. */
void sc_emit_plan_turns(struct sc_gen *gen);
/** When a group has come to a barrier, or with number gen->barriers + 1 to its
 *  end: go on with the next one where that waits as this one did. */
void sc_emit_turn(struct sc_gen *gen, struct sc_text *text, uint32_t barrier);
/** Write where sc_emit_turn goes; `advance` writes what is to be done when `g`
 *  has become the next group. */
void sc_emit_turns(struct sc_gen *gen, struct sc_text *text,
                   void (*advance)(struct sc_gen *, struct sc_text *));

/* ---- emit_ahead.c ---- */

/** Before a linear load of `bytes` a lane in a loop: ask for what it will load
 *  some rounds later, where the processor would not know. */
void sc_emit_ahead(struct sc_gen *gen, const struct sc_address *at,
                   uint32_t bytes);

/* ---- emit_atomic.c ---- */
void sc_emit_atomic(struct sc_gen *gen);

/* ---- emit_warp.c ---- */
void sc_emit_warp(struct sc_gen *gen);

/* ---- emit_flow.c ---- */

/** Write all places, in order. */
void sc_emit_places(struct sc_gen *gen);
/** Count the barriers and what is live behind them; before sc_emit_places. */
void sc_emit_plan_barriers(struct sc_gen *gen);
/** Whether it is a barrier of the CTA. */
bool sc_emit_is_barrier(const struct sc_inst *inst);
/** Write the type of what a group keeps while it waits at a barrier. */
void sc_emit_saved(struct sc_gen *gen, struct sc_text *text);

#endif
