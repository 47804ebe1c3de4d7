/*
 * What a PTX module says, as data: variables, functions, instructions.
 *
 * Owns the type vocabulary shared by the front end and the decoder. All of it
 * lives in the arena of the load. Lock: none; read-only once parsed.
 */
#ifndef SOFTCUDA_PTX_IR_H
#define SOFTCUDA_PTX_IR_H

#include "ptx/diag.h"

enum sc_opcode {
#define X(id, text) SC_OP_##id,
#include "ptx/opcodes.def"
#undef X
    SC_OP_COUNT
};

enum sc_modifier {
#define X(id, text) SC_MOD_##id,
#include "ptx/modifiers.def"
#undef X
    SC_MOD_COUNT
};

enum sc_special {
#define X(id, text) SC_SREG_##id,
#include "ptx/specials.def"
#undef X
    SC_SREG_COUNT
};

enum sc_type {
#define X(id, bytes, class) SC_T_##id,
#include "ptx/types.def"
#undef X
    SC_T_COUNT
};

enum sc_type_class {
    SC_CLASS_BITS,
    SC_CLASS_UNSIGNED,
    SC_CLASS_SIGNED,
    SC_CLASS_FLOAT,
    SC_CLASS_PACKED,
    SC_CLASS_PRED,
};

enum sc_space_kind {
    SC_SPACE_GENERIC,
    SC_SPACE_GLOBAL,
    SC_SPACE_SHARED,
    SC_SPACE_LOCAL,
    SC_SPACE_CONST,
    SC_SPACE_PARAM,
};

/** A 64-bit address stored in an initialiser: of `var`, plus `addend`. */
struct sc_reloc {
    uint64_t offset;
    const char *name;
    uint32_t name_length, line;
    const struct sc_var *var; /* resolved at the end of the text */
    struct sc_func *func;     /* instead of var */
    int64_t addend;
    uint8_t bytes, shift; /* how much of the address, from which bit */
    bool generic;
};

struct sc_func;
struct sc_argument;

/** A .texref, .samplerref or .surfref: 8 bytes that hold a handle. */
enum sc_reference {
    SC_REFERENCE_NONE,
    SC_REFERENCE_TEXTURE,
    SC_REFERENCE_SAMPLER,
    SC_REFERENCE_SURFACE,
};

/** A variable of any space but .reg, parameters included. */
struct sc_var {
    const char *name;
    uint32_t line;
    enum sc_space_kind space;
    enum sc_type type;
    uint32_t align;
    uint64_t bytes; /* whole; 0 = extern array of unknown size */
    bool is_extern, is_weak, is_pointer, is_managed;
    enum sc_reference reference;
    uint8_t *data; /* the first data_bytes; the rest is zero */
    size_t data_bytes;
    struct sc_reloc *relocs;
    size_t reloc_count;
    uint64_t address; /* offset in its space, or device address */
    bool placed;
    const struct sc_func *owner; /* declares it in its body, or NULL */
    struct sc_var *next;         /* of the module or function it belongs to */
    /* parameter of a .func or of a call: gone after ptx/argument.c */
    struct sc_argument *argument;
    bool in_register; /* .reg parameter of a .func: it is `reg` */
    uint32_t reg;
    struct sc_var *copy; /* while ptx/inline.c copies its function */
    uint32_t copy_number;
};

struct sc_reg {
    enum sc_type type;
};

enum sc_operand_kind {
    SC_OPERAND_REG,
    SC_OPERAND_INT,
    SC_OPERAND_SINGLE,  /* bits of an f32 */
    SC_OPERAND_DOUBLE,  /* bits of an f64 */
    SC_OPERAND_SPECIAL, /* `reg` SC_SREG_COUNT: one that is not known */
    SC_OPERAND_SYMBOL,  /* address of var + bits */
    SC_OPERAND_ADDRESS, /* [sub[0] + bits], sub[0] register or symbol */
    SC_OPERAND_VECTOR,  /* {sub[0], …} */
    SC_OPERAND_PAIR,    /* sub[0]|sub[1] */
    SC_OPERAND_LABEL,   /* name, then target */
    SC_OPERAND_SINK,    /* _ */
    SC_OPERAND_FUNC,    /* a function, or its address */
    SC_OPERAND_LIST,    /* [sub[0], …] of texture and tensor instructions */
};

/** Bytes or half-words that a video instruction's register names ("%r1.b210"):
 *  `bits` of the operand, 0 = none. Digits from the right. */
#define SC_SELECT(letter, count, digits)                                       \
    ((uint64_t)(letter) << 24 | (uint64_t)(count) << 16 | (digits))
#define SC_SELECT_LETTER(bits)   ((char)((bits) >> 24))
#define SC_SELECT_COUNT(bits)    ((uint32_t)((bits) >> 16 & 0xff))
#define SC_SELECT_DIGIT(bits, i) ((uint32_t)((bits) >> 4 * (i)&15))

struct sc_operand {
    enum sc_operand_kind kind;
    bool negate;  /* !p */
    uint32_t reg; /* register, special register, or number of subs */
    uint64_t bits;
    union {
        const struct sc_var *var;
        struct sc_operand *sub;
        struct {
            const char *name; /* of a label, until it is resolved */
            uint32_t length, scope;
        };
        uint32_t target; /* of a label: index of an instruction */
        struct sc_targets *targets;
        struct sc_func *func;
    };
};

/** Number of operands in sub. */
static inline uint32_t sc_operand_parts(const struct sc_operand *operand)
{
    switch (operand->kind) {
    case SC_OPERAND_ADDRESS:
        return 1;
    case SC_OPERAND_VECTOR:
    case SC_OPERAND_PAIR:
    case SC_OPERAND_LIST:
        return operand->reg;
    default:
        return 0;
    }
}

/** A .branchtargets list. */
struct sc_targets {
    uint32_t count;
    struct sc_operand *labels;
};

/** What a call by address passes and takes: a .callprototype. */
struct sc_proto {
    struct sc_var *params, *rets;
    uint32_t param_count, ret_count;
};

/**
 * A call: operand 0 is the callee, a function or a register, then come the
 * results, then the arguments. After the load only two forms are left:
 * functions without a body (system calls) with registers and constants as
 * results and arguments, and calls whose operands are all in the variable
 * sc_ir.arguments, which have the callee alone.
 */
struct sc_call {
    uint32_t ret_count, arg_count;
    const struct sc_proto *proto; /* of a callee in a register */
};

#define SC_MOD_WORDS ((SC_MOD_COUNT + 63) / 64)
#define SC_MAX_TYPES 4

struct sc_inst {
    enum sc_opcode opcode;
    uint32_t line;
    const char *text; /* whole statement, inside the source */
    uint32_t text_length;
    uint64_t mods[SC_MOD_WORDS];
    enum sc_type types[SC_MAX_TYPES]; /* in order of the text */
    uint8_t type_count;
    bool guarded, guard_negate;
    bool odd;       /* has modifiers that are not known (sc_load.tolerant) */
    uint32_t guard; /* register of @p */
    uint32_t operand_count;
    struct sc_operand *operands;
    struct sc_call *call; /* of SC_OP_call */
};

struct sc_func {
    const char *name;
    uint32_t line;
    uint32_t number; /* in the module, from 0 */
    bool is_entry, has_body;
    bool is_taken;        /* its address is: calls by address may mean it */
    bool is_called;       /* by a call that was not inlined */
    bool calls;           /* such a call is in its body */
    uint8_t inline_state; /* of ptx/inline.c */
    struct sc_func *definition; /* other function that is meant, or NULL */
    struct sc_var *params, *rets;
    uint32_t param_count, param_bytes, ret_count, ret_bytes;
    struct sc_var *vars; /* .shared and .local of the body */
    struct sc_reg *regs;
    size_t reg_count;
    struct sc_inst *insts;
    size_t inst_count;
    uint32_t max_ntid[3], req_ntid[3]; /* 0 = not given */
    struct sc_func *next;
};

struct sc_ir {
    uint32_t version; /* 10 × major + minor */
    uint32_t sm;
    struct sc_var *vars;
    struct sc_func *funcs;
    uint32_t func_count;
    /* .local of every thread through which calls that stay calls pass
     * arguments and results; NULL = there are none */
    struct sc_var *arguments;
    uint64_t window_base; /* of the device the variables are placed in */
};

/** Value of a function's address; never a device address. */
#define SC_FUNC_BASE 0x10000u
static inline uint64_t sc_func_address(const struct sc_func *func)
{
    return SC_FUNC_BASE + (uint64_t)func->number * 16;
}

/** Names for messages. */
const char *sc_opcode_name(enum sc_opcode opcode);
const char *sc_modifier_name(enum sc_modifier modifier);
const char *sc_type_name(enum sc_type type);

/** Bytes one value of the type takes in a register. */
uint32_t sc_type_bytes(enum sc_type type);
enum sc_type_class sc_type_class(enum sc_type type);

/**
 * Find a name of the generated lists; `text` needs no NUL.
 *
 * Return: enum value, -1 unknown
 */
int sc_opcode_find(const char *text, size_t length);
int sc_modifier_find(const char *text, size_t length);
int sc_type_find(const char *text, size_t length);
int sc_special_find(const char *text, size_t length);

/** Whether the instruction has the modifier. */
static inline bool sc_inst_has(const struct sc_inst *inst, enum sc_modifier m)
{
    return inst->mods[m / 64] >> m % 64 & 1;
}

#endif
