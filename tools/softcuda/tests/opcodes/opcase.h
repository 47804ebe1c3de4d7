/*
 * One opcode case: a line of PTX, its operand kinds, and what it must compute.
 *
 * Signature strings name the destination's register kind, a blank, and then
 * two letters per source, kind and input class:
 *   kinds    H 16 bits, W 32 bits, D 64 bits, P predicate
 *   classes  i integers, s shift counts, p bit positions and lengths,
 *            f float of that width, b bf16, F two f16, B two bf16,
 *            t angles, n float numbers near integers, q truth values
 * The text calls the destination %d and the sources %a %b %c %e; scratch
 * registers are %s0-7 (32 bits), %l0-7 (64), %h0-7 (16) and %q0-7 (predicate).
 * Owns no state.
 */
#ifndef TESTS_OPCODES_OPCASE_H
#define TESTS_OPCODES_OPCASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softfp.h"

enum { OP_SOURCES = 4 };

/* PTX fundamental types; the type field of op_case.arg. */
enum op_type {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    F16,
    BF16,
    F32,
    F64,
    B16,
    B32,
    B64,
    OP_TYPES
};

/* Fields of op_case.arg. */
#define ROUND(r) ((unsigned)(r) << 5)
#define RN       ROUND(SFP_RN)
#define RZ       ROUND(SFP_RZ)
#define RM       ROUND(SFP_RM)
#define RP       ROUND(SFP_RP)
#define RNA      ROUND(SFP_RNA)
#define FTZ      (1u << 8)
#define SAT      (1u << 9)
#define NANS     (1u << 10) /* .NaN */
#define XORSIGN  (1u << 11)
#define RELU     (1u << 12)
#define HI       (1u << 13)
#define WIDE     (1u << 14)
#define INTEGRAL (1u << 15) /* .rni and its kin */
#define FROM(t)  ((unsigned)(t) << 16)
#define EXTRA(x) ((unsigned)(x) << 20)

#define ARG_TYPE(c)  ((enum op_type)((c)->arg & 31))
#define ARG_ROUND(c) ((enum sfp_round)((c)->arg >> 5 & 7))
#define ARG_FROM(c)  ((enum op_type)((c)->arg >> 16 & 15))
#define ARG_EXTRA(c) ((c)->arg >> 20)

/* How a result is compared; NaN stands for every NaN of that format. */
enum op_compare {
    CMP_BITS,
    CMP_F16,
    CMP_BF16,
    CMP_F32,
    CMP_F64,
    CMP_F16X2,
    CMP_BF16X2,
    CMP_CLOSE /* within op_case.bound of the exact value: see op_close */
};

struct op_case;
typedef uint64_t op_reference(const struct op_case *c, const uint64_t *in);

struct op_case {
    const char *text;
    const char *signature;
    op_reference *reference;
    unsigned arg;
    enum op_compare compare;
    double bound;
};

struct op_table {
    const char *name;
    struct op_case *cases;
    size_t count, room;
};

/**
 * Append a case whose text is formatted from `format`.
 *
 * @table grows as needed; @c every field but the text; @format as printf
 * Return: nothing; out of memory ends the test. Thread: one. Signal: never
 */
void op_emit(struct op_table *table, struct op_case c, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Append copies of `count` cases. Thread: one. Signal: never */
void op_append(struct op_table *table, const struct op_case *cases,
               size_t count);

/** Free the cases and their texts. Thread: one. Signal: never */
void op_free(struct op_table *table);

/** Name without the dot, as in "u32". Thread: any. Signal: never */
const char *op_type_name(enum op_type type);

/** Width in bits. Thread: any. Signal: never */
int op_type_bits(enum op_type type);

/** Register kind letter that holds the type (8 bits live in H). */
char op_type_kind(enum op_type type);

bool op_type_is_signed(enum op_type type);
bool op_type_is_float(enum op_type type);
const struct sfp_format *op_type_format(enum op_type type);
enum op_compare op_type_compare(enum op_type type);

/** Integer value of the low bits of `bits` read as `type`. */
sfp_i128 op_int(enum op_type type, uint64_t bits);

/** `value` wrapped to the type's width, without extension. */
uint64_t op_wrap(enum op_type type, sfp_i128 value);

/** `value` clamped to the type's range. */
sfp_i128 op_clamp(enum op_type type, sfp_i128 value);
sfp_i128 op_type_min(enum op_type type);
sfp_i128 op_type_max(enum op_type type);

/** Flags of sfp_pack held in a case's arg. */
int op_pack_flags(const struct op_case *c);

/* The tables, one function per file; each fills `table` from empty. */
void table_integer(struct op_table *table);
void table_extended(struct op_table *table);
void table_bits(struct op_table *table);
void table_float(struct op_table *table);
void table_half(struct op_table *table);
void table_approx(struct op_table *table);
void table_compare(struct op_table *table);
void table_convert(struct op_table *table);
void table_move(struct op_table *table);
void table_video(struct op_table *table);
void table_sweep(struct op_table *table);

#endif
