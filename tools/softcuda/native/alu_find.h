/*
 * What the parts of the instruction look-up share; see alu.h.
 *
 * alu_find.c walks operands and names functions; alu_int.c, alu_logic.c,
 * alu_real.c, alu_cmp.c, alu_cvt.c and alu_video.c know the opcodes. Lock: none.
 */
#ifndef SOFTCUDA_NATIVE_ALU_FIND_H
#define SOFTCUDA_NATIVE_ALU_FIND_H

#include "native/alu.h"

struct sc_alu_find {
    const struct sc_func *func;
    const struct sc_inst *inst;
    struct sc_alu_call *call;
    uint64_t left[SC_MOD_WORDS]; /* modifiers not yet accounted for */
    enum sc_type type;           /* of the text; the first, SC_T_pred if none */
    bool too_long;               /* a template or name that did not fit */
    bool raw;                    /* as sc_alu_find_raw */
};

/** Whether the instruction has the modifier; counts it as understood. */
bool sc_alu_take(struct sc_alu_find *find, enum sc_modifier modifier);

/** Class of a register of that type. */
enum sc_lane_class sc_alu_class(enum sc_type type);

/** Add argument `operand` (NULL: condition code). */
void sc_alu_arg(struct sc_alu_find *find, enum sc_type type,
                const struct sc_operand *operand);

/** Add a result with its template; `_` is left out. */
void sc_alu_result(struct sc_alu_find *find, enum sc_type type,
                   const struct sc_operand *operand, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Operand of the instruction, NULL when it has fewer. */
const struct sc_operand *sc_alu_operand(struct sc_alu_find *find,
                                        uint32_t index);

/** Operands 1 … n of one type as arguments. Return: whether there are n. */
bool sc_alu_args(struct sc_alu_find *find, enum sc_type type, uint32_t n);

/** Append to the names of all functions. */
void sc_alu_name(struct sc_alu_find *find, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Bits of one value of the type. */
uint32_t sc_alu_bits(enum sc_type type);

/** Rounding, .ftz and friends; `flags` as exec/ops.h has them. */
struct sc_alu_rounding {
    unsigned mode, flags; /* mode: enum sc_round */
    bool ftz, sat, relu;
};

/** Take them. Return: whether this host can round so. */
bool sc_alu_rounding(struct sc_alu_find *find, struct sc_alu_rounding *r);

/** Text around an operation that must run in a rounding mode; values pass
 *  through T_pin… between the two when `pinned`. */
struct sc_alu_pins {
    char before[48];
    const char *after;
    bool pinned;
};
void sc_alu_pins(const struct sc_alu_rounding *r, struct sc_alu_pins *pins);

/* Each: whether the opcode is known there and the form is supported. */
bool sc_alu_find_int(struct sc_alu_find *find);
bool sc_alu_find_logic(struct sc_alu_find *find);
bool sc_alu_find_real(struct sc_alu_find *find);
bool sc_alu_find_half(struct sc_alu_find *find);
bool sc_alu_find_compare(struct sc_alu_find *find);
bool sc_alu_find_convert(struct sc_alu_find *find);
bool sc_alu_find_video(struct sc_alu_find *find);

#endif
