/*
 * What the parts of the parser share: module level (parse.c), variables and
 * registers (declare.c), instructions (statement.c), names (symbol.c).
 *
 * Lock: none. Every function here jumps back through parser->load on error.
 */
#ifndef SOFTCUDA_PTX_PARSER_H
#define SOFTCUDA_PTX_PARSER_H

#include "ptx/ir.h"
#include "ptx/lex.h"

/* texts of a few megabytes name some hundred thousand things */
#define SC_SYMBOL_BUCKETS 4096u
#define SC_MAX_DEPTH      64u

enum sc_symbol_kind {
    SC_SYMBOL_REG,
    SC_SYMBOL_REG_RANGE,
    SC_SYMBOL_VAR,
    SC_SYMBOL_FUNC,
};

struct sc_symbol {
    const char *name;
    uint32_t length, depth;
    enum sc_symbol_kind kind;
    uint32_t first, count; /* registers; count of components for one */
    struct sc_func *func;  /* the first declaration of a function */
    const struct sc_var *var;
    struct sc_symbol *next, *older; /* of the bucket; by time */
};

struct sc_label {
    const char *name;
    uint32_t length, scope, inst;
    struct sc_targets *targets;    /* of a .branchtargets, else NULL */
    const struct sc_proto *proto;  /* of a .callprototype or .calltargets */
    struct sc_label *next, *older; /* of the bucket; by time */
};

struct sc_parser {
    struct sc_load *load;
    struct sc_lexer lex;
    struct sc_ir *ir;
    struct sc_symbol *buckets[SC_SYMBOL_BUCKETS];
    struct sc_symbol *newest;
    struct sc_label *labels[SC_SYMBOL_BUCKETS];
    struct sc_label *newest_label; /* of the function being parsed */
    uint32_t depth;                /* of braces; 0 = module */
    uint32_t scope;                /* number of the innermost scope */
    uint32_t *scope_parent;        /* by scope number */
    size_t scope_count, scope_capacity;
    struct sc_func *func; /* being parsed, or NULL */
    bool anonymous;       /* parameters of a prototype declare no names */
    bool selects;         /* registers may name bytes: video instructions */
    size_t reg_capacity, inst_capacity;
    struct sc_var *reserved; /* shared memory of the system, or NULL */
    struct sc_var **var_tail;
    struct sc_func **func_tail;
};

/* ---- symbol.c ---- */

uint32_t sc_symbol_hash(const char *name, size_t length);

/** Declare a name in the current scope; a second one there is an error. */
struct sc_symbol *sc_symbol_add(struct sc_parser *parser, const char *name,
                                uint32_t length, enum sc_symbol_kind kind,
                                uint32_t line);

/** Innermost symbol of that name that is not a range; NULL = none. */
const struct sc_symbol *sc_symbol_find(const struct sc_parser *parser,
                                       const char *name, size_t length);

/** Register number of a name, ranges included. Return: false = none. */
bool sc_symbol_register(const struct sc_parser *parser, const char *name,
                        size_t length, uint32_t *reg, uint32_t *components);

/**
 * Declare a function in the module's scope, whatever the current one is.
 *
 * Return: the symbol, new or of an earlier declaration
 */
struct sc_symbol *sc_symbol_function(struct sc_parser *parser, const char *name,
                                     uint32_t length);

void sc_scope_open(struct sc_parser *parser);
void sc_scope_close(struct sc_parser *parser);

struct sc_label *sc_label_add(struct sc_parser *parser, const char *name,
                              uint32_t length, uint32_t line);

/** Forget the labels of the function that ends. */
void sc_label_forget(struct sc_parser *parser);

/** Label visible from `scope`; NULL = none. */
const struct sc_label *sc_label_find(const struct sc_parser *parser,
                                     const char *name, uint32_t length,
                                     uint32_t scope);

/* ---- parse.c ---- */

_Noreturn void sc_parse_expected(struct sc_parser *parser, const char *what);
void sc_parse_punct(struct sc_parser *parser, char punct);
bool sc_parse_accept(struct sc_parser *parser, char punct);
uint64_t sc_parse_integer(struct sc_parser *parser, const char *what);

/** "( … )": parameters laid out one behind the other. */
struct sc_var *sc_parse_params(struct sc_parser *parser, uint32_t *count,
                               uint32_t *bytes);

/* ---- declare.c ---- */

/** ".reg …;" of the current scope. */
void sc_declare_registers(struct sc_parser *parser);

/** One ".space …" declaration up to its semicolon. */
void sc_declare_variable(struct sc_parser *parser, bool is_extern,
                         bool is_weak);

/** One ".param …" or ".reg …" of a parameter list. */
struct sc_var *sc_declare_param(struct sc_parser *parser);

/** Whether the current token names a state space that holds variables. */
bool sc_declare_is_space(const struct sc_parser *parser);

/* ---- initial.c ---- */

#define SC_MAX_DIMS 8

/** "= …" of a variable; `dims` outermost first, dims[0] 0 = unknown. */
void sc_initial_parse(struct sc_parser *parser, struct sc_var *var,
                      uint64_t *dims, uint32_t dim_count);

/* ---- constant.c ---- */

/** Integer expression that starts at the current token, up to its end. */
uint64_t sc_constant_parse(struct sc_parser *parser);

/* ---- operand.c ---- */

/** Register `name`, with a component if one follows. Return: false = none. */
bool sc_operand_register(struct sc_parser *parser, struct sc_operand *operand);

/** Name or number, with '!' in front or not. */
void sc_operand_scalar(struct sc_parser *parser, struct sc_operand *operand);

/** Any operand of an instruction. */
void sc_operand_parse(struct sc_parser *parser, struct sc_operand *operand);

/* ---- call.c ---- */

/** Operands of a call; the current token follows its modifiers. */
void sc_call_parse(struct sc_parser *parser, struct sc_inst *inst);

/** ".callprototype …" or ".calltargets …", the word itself consumed. */
const struct sc_proto *sc_call_prototype(struct sc_parser *parser);
const struct sc_proto *sc_call_targets(struct sc_parser *parser);

/* ---- statement.c ---- */

/** Body of a function from its '{' to its '}'. */
void sc_statement_body(struct sc_parser *parser);

#endif
