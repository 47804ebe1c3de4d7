/*
 * From IR to ops: what the parts of the decoder share.
 *
 * lower.c walks blocks and owns slots and operands; the other lower_*.c know
 * the opcodes. Every function jumps back
 * through lower->load on PTX that is wrong or not supported. Lock: none.
 */
#ifndef SOFTCUDA_EXEC_LOWER_H
#define SOFTCUDA_EXEC_LOWER_H

#include "exec/control.h"
#include "ptx/cfg.h"

#define SC_TEMPS 24u

struct sc_lower {
    struct sc_load *load;
    const struct sc_ir *ir;
    const struct sc_func *kernel;
    const struct sc_func *func; /* being decoded: the kernel or one it calls */
    const struct sc_space *space;
    const struct sc_isa *isa;
    struct sc_cfg cfg;
    struct sc_code *code;
    size_t op_capacity, fill_capacity;
    uint32_t *reg_slot;    /* by register; SC_NO_SLOT = not used yet */
    bool *reg_constant;    /* slot is filled before the CTA starts */
    uint32_t *reg_defs;    /* writes in the text */
    uint32_t *block_start; /* by block: index of its first op */
    uint32_t *fixups;      /* ops whose target is still a block */
    size_t fixup_count, fixup_capacity;
    uint32_t *fill_buckets, *fill_next; /* look-up of fills, by index + 1 */
    size_t fill_next_capacity;
    uint32_t temps[3][SC_TEMPS]; /* slots of 2, 4, 8 bytes */
    uint32_t temp_used[3];
    uint32_t carry; /* slot of the condition code */
    /* of real calls: who can be called, callees first; where calls leave the
     * place to return to; ops whose target is still a function's number */
    const struct sc_func **callees;
    uint32_t callee_count;
    uint32_t link_slot, return_slot;
    uint32_t *call_fixups;
    size_t call_fixup_count, call_fixup_capacity;
    size_t texture_capacity;
    uint32_t frame_count, frame_bytes; /* bytes: variables of this function */
    const struct sc_inst *inst;
    uint64_t left[SC_MOD_WORDS]; /* modifiers not yet accounted for */
    uint32_t types_left;
    bool guarded, guard_negate;
    uint32_t guard_slot;
    bool *param_is_pointer;
};

/* ---- lower.c ---- */

/** "line N: why 'text of the instruction'"; unsupported rather than wrong. */
_Noreturn void sc_lower_refuse(struct sc_lower *lower, const char *why);
_Noreturn void sc_lower_invalid(struct sc_lower *lower, const char *why);

/** Whether the instruction has the modifier; counts it as understood. */
bool sc_lower_take(struct sc_lower *lower, enum sc_modifier modifier);

/** Append an op (behind its guard, if any); SC_NO_HANDLER is refused. */
struct sc_op *sc_lower_emit(struct sc_lower *lower, sc_handler run)
    __attribute__((returns_nonnull));

/** Handler of an arithmetic kind; refuses the instruction when none. */
sc_handler sc_lower_find(struct sc_lower *lower, enum sc_alu kind,
                         enum sc_type type);

/** Emit kind d, a, b, c. */
struct sc_op *sc_lower_alu(struct sc_lower *lower, enum sc_alu kind,
                           enum sc_type type, uint32_t d, uint32_t a,
                           uint32_t b, uint32_t c);

/** b16, b32 or b64. */
enum sc_type sc_lower_bits(uint32_t bytes);

/** A slot of its own; a temporary lives until the end of the instruction. */
uint32_t sc_lower_slot(struct sc_lower *lower, uint32_t bytes);
uint32_t sc_lower_temp(struct sc_lower *lower, uint32_t bytes);
uint32_t sc_lower_constant(struct sc_lower *lower, uint32_t bytes,
                           uint64_t value);
uint32_t sc_lower_fill(struct sc_lower *lower, struct sc_fill fill);

/** The instruction's operand; refuses when it has fewer. */
const struct sc_operand *sc_lower_operand(struct sc_lower *lower,
                                          uint32_t index);
void sc_lower_count(struct sc_lower *lower, uint32_t least, uint32_t most);

/** Slot with the value of a source of that size. */
uint32_t sc_lower_source(struct sc_lower *lower,
                         const struct sc_operand *operand, uint32_t bytes,
                         enum sc_type type);
/** Slot of a destination of that size; a temporary for '_'. */
uint32_t sc_lower_dest(struct sc_lower *lower, const struct sc_operand *operand,
                       uint32_t bytes);
/** Slot of a predicate source, !p included. */
uint32_t sc_lower_predicate(struct sc_lower *lower,
                            const struct sc_operand *operand);

/** Slot of a predicate that is written; refuses other registers. */
uint32_t sc_lower_predicate_dest(struct sc_lower *lower,
                                 const struct sc_operand *operand);
/** Bytes of a register operand, 0 for anything else. */
uint32_t sc_lower_reg_bytes(const struct sc_lower *lower,
                            const struct sc_operand *operand);
uint32_t sc_lower_reg(struct sc_lower *lower, uint32_t reg);

/** Address of a variable as the PTX value `mov` gives. */
uint64_t sc_lower_address(struct sc_lower *lower, const struct sc_var *var,
                          bool generic);

/** Note that op `index`'s target is a block. */
void sc_lower_target(struct sc_lower *lower, uint32_t block);

/** Slot with the address of a variable + addend, in its space or generic. */
uint32_t sc_lower_address_slot(struct sc_lower *lower, const struct sc_var *var,
                               bool generic, uint64_t addend);

/** Whether the variable lies in the frame of the function being decoded. */
bool sc_lower_in_frame(const struct sc_lower *lower, const struct sc_var *var);

/** Append an op without a guard. */
struct sc_op *sc_lower_push(struct sc_lower *lower, sc_handler run)
    __attribute__((returns_nonnull));

/** Decode one kernel into `code`, everything in the load's arena. */
void sc_lower_kernel(struct sc_load *load, const struct sc_ir *ir,
                     const struct sc_func *func, const struct sc_space *space,
                     const struct sc_isa *isa, struct sc_code *code,
                     bool *param_is_pointer);

/* ---- lower_flow.c ---- */

/** Jump over what follows when the guard fails. Return: for the end. */
uint32_t sc_lower_begin_skip(struct sc_lower *lower);
void sc_lower_end_skip(struct sc_lower *lower, uint32_t branch);

/* ---- lower_call.c ---- */

/** Find what the kernel may call; callees come before their callers. */
void sc_lower_find_callees(struct sc_lower *lower);

/** First ops of a kernel with calls, and of a function. */
void sc_lower_kernel_start(struct sc_lower *lower);
void sc_lower_function_start(struct sc_lower *lower);

/** Frame of the function just decoded. */
void sc_lower_function_end(struct sc_lower *lower);
/** Last: calls of functions that were decoded later. */
void sc_lower_kernel_end(struct sc_lower *lower);

/* ---- lower_alu.c ---- */

/** The one type of the instruction; refuses when it has none or several. */
enum sc_type sc_lower_type(struct sc_lower *lower);
/** Whether values of the type are floating point, packed pairs included. */
bool sc_lower_is_real(enum sc_type type);
/** Rounding, .ftz, .sat and .relu as SC_FLAG_…; `named` receives whether a
 *  rounding, .approx or .full was given. */
unsigned sc_lower_float_flags(struct sc_lower *lower, bool *named);

/* ---- lower_convert.c ---- */

/** Refuse moving a value as f16, bf16, tf32 or a packed pair. */
void sc_lower_check_moved(struct sc_lower *lower, enum sc_type type);

/* ---- lower_rule.c ---- */

/** Refuse floating-point arithmetic with modifiers that its type lacks. */
void sc_lower_check_real(struct sc_lower *lower);

/* ---- lower_system.c ---- */

/** Call of a function without a body: vprintf, malloc and their like. */
void sc_lower_system_call(struct sc_lower *lower, const struct sc_func *func);

/* ---- lower_mbarrier.c ---- */

/** cp.async.mbarrier.arrive: the copies before it are done. */
void sc_lower_copies_arrive(struct sc_lower *lower);

/* ---- lower_memory.c ---- */

/** An address operand: slot with the base, bytes of it, what is added. */
struct sc_lower_place {
    uint32_t slot, bytes;
    uint64_t offset;
    enum sc_address_mode mode;
};

/** Take an address operand apart; refuses one of another space. */
struct sc_lower_place sc_lower_place(struct sc_lower *lower,
                                     const struct sc_operand *operand,
                                     enum sc_space_kind space);

/* ---- each of the lower_*.c files: false = not mine ---- */
bool sc_lower_arithmetic(struct sc_lower *lower);
bool sc_lower_compare(struct sc_lower *lower);
bool sc_lower_convert(struct sc_lower *lower);
bool sc_lower_memory(struct sc_lower *lower);
bool sc_lower_flow(struct sc_lower *lower);
bool sc_lower_call(struct sc_lower *lower);
bool sc_lower_video(struct sc_lower *lower);
bool sc_lower_async(struct sc_lower *lower);
bool sc_lower_mbarrier(struct sc_lower *lower);
bool sc_lower_texture(struct sc_lower *lower);
/** Value the instruction computes once for the launch, if it does. */
bool sc_lower_absorb(struct sc_lower *lower, const struct sc_inst *inst);
/** Space named by the instruction's modifiers. */
enum sc_space_kind sc_lower_space(struct sc_lower *lower);

#endif
