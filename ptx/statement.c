/*
 * Bodies of functions: labels, declarations, instructions.
 *
 * Owns nothing; fills parser->func. Lock: none.
 */
#include "ptx/parser.h"

#include <string.h>

#define MAX_OPERANDS 12
#define MAX_INSTS    ((size_t)1 << 22)
#define SHOWN_TEXT   64

/* "offending text" of a statement that starts at `start`: one line of it */
static int shown_length(const struct sc_parser *parser, const char *start)
{
    int n = 0;
    while (n < SHOWN_TEXT && start + n < parser->lex.end && start[n] != '\n' &&
           start[n] != ';')
        n++;
    return n;
}

static void parse_operands(struct sc_parser *parser, struct sc_inst *inst)
{
    struct sc_operand operands[MAX_OPERANDS] = {0};
    uint32_t n = 0;
    if (!sc_lex_is(&parser->lex, ';')) {
        do {
            if (n == MAX_OPERANDS)
                sc_parse_expected(parser, "at most 12 operands");
            sc_operand_parse(parser, &operands[n++]);
        } while (sc_parse_accept(parser, ','));
    }
    inst->operand_count = n;
    if (!n)
        return;
    inst->operands = sc_load_alloc(parser->load, n, sizeof *inst->operands);
    memcpy(inst->operands, operands, n * sizeof *operands);
}

static void parse_modifiers(struct sc_parser *parser, struct sc_inst *inst)
{
    const struct sc_token *token = &parser->lex.token;
    for (; token->kind == SC_TOK_DOT; sc_lex_next(&parser->lex)) {
        int type = sc_type_find(token->text + 1, token->length - 1);
        int mod = sc_modifier_find(token->text + 1, token->length - 1);
        if (type >= 0 && inst->type_count < SC_MAX_TYPES)
            inst->types[inst->type_count++] = (enum sc_type)type;
        else if (mod >= 0)
            inst->mods[mod / 64] |= (uint64_t)1 << mod % 64;
        else if (parser->load->tolerant)
            inst->odd = true;
        else
            sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, inst->line,
                         "unknown modifier '%.*s' in '%.*s'",
                         (int)token->length, token->text,
                         shown_length(parser, inst->text), inst->text);
    }
}

static struct sc_inst *new_inst(struct sc_parser *parser)
{
    struct sc_func *func = parser->func;
    if (func->inst_count >= MAX_INSTS)
        sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, parser->lex.token.line,
                     "more than %zu instructions in one function", MAX_INSTS);
    func->insts = sc_load_grow(parser->load, func->insts, func->inst_count,
                               &parser->inst_capacity, sizeof *func->insts);
    struct sc_inst *inst = &func->insts[func->inst_count];
    *inst = (struct sc_inst){.line = parser->lex.token.line,
                             .text = parser->lex.token.text};
    return inst;
}

static void parse_guard(struct sc_parser *parser, struct sc_inst *inst)
{
    if (!sc_parse_accept(parser, '@'))
        return;
    struct sc_operand guard = {0};
    inst->guarded = true;
    inst->guard_negate = sc_parse_accept(parser, '!');
    if (parser->lex.token.kind != SC_TOK_NAME ||
        !sc_operand_register(parser, &guard) || guard.kind != SC_OPERAND_REG ||
        parser->func->regs[guard.reg].type != SC_T_pred)
        sc_load_fail(parser->load, SC_LOAD_INVALID, inst->line,
                     "guard is no predicate register in '%.*s'",
                     shown_length(parser, inst->text), inst->text);
    inst->guard = guard.reg;
}

static bool begins_with(const struct sc_parser *parser,
                        const struct sc_token *name, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(parser->lex.end - name->text) > n &&
           memcmp(name->text, word, n) == 0;
}

/* What hardware has units of its own for. Forms that nobody reads are not
 * worth parsing. */
static void refuse_units(struct sc_parser *parser, const struct sc_inst *inst,
                         const struct sc_token *name)
{
    switch (inst->opcode) {
    case SC_OP_wmma:
    case SC_OP_mma:
    case SC_OP_wgmma:
    case SC_OP_ldmatrix:
    case SC_OP_stmatrix:
    case SC_OP_movmatrix:
    case SC_OP_tcgen05:
        sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, inst->line,
                     "there are no tensor cores for '%.*s'",
                     shown_length(parser, inst->text), inst->text);
    case SC_OP_cp:
        if (begins_with(parser, name, "cp.async.bulk") ||
            begins_with(parser, name, "cp.reduce.async.bulk"))
            sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, inst->line,
                         "there is no bulk copy (TMA) for '%.*s'",
                         shown_length(parser, inst->text), inst->text);
        return;
    default:
        return;
    }
}

/* The opcode `name` has been consumed. */
static void finish_inst(struct sc_parser *parser, struct sc_inst *inst,
                        const struct sc_token *name)
{
    int opcode = sc_opcode_find(name->text, name->length);
    if (opcode < 0)
        sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, inst->line,
                     "unknown opcode '%.*s'", shown_length(parser, name->text),
                     name->text);
    inst->opcode = (enum sc_opcode)opcode;
    if (!parser->load->tolerant)
        refuse_units(parser, inst, name);
    parse_modifiers(parser, inst);
    parser->selects = name->text[0] == 'v' && opcode != SC_OP_vote;
    if (opcode == SC_OP_call)
        sc_call_parse(parser, inst);
    else
        parse_operands(parser, inst);
    if (!sc_lex_is(&parser->lex, ';'))
        sc_parse_expected(parser, "';'");
    inst->text_length = (uint32_t)(parser->lex.token.text - inst->text);
    sc_lex_next(&parser->lex);
    parser->func->inst_count++;
}

static struct sc_targets *parse_targets(struct sc_parser *parser)
{
    struct sc_targets *targets =
        sc_load_alloc(parser->load, 1, sizeof *targets);
    size_t capacity = 0;
    sc_lex_next(&parser->lex);
    do {
        targets->labels =
            sc_load_grow(parser->load, targets->labels, targets->count,
                         &capacity, sizeof *targets->labels);
        struct sc_operand *label = &targets->labels[targets->count++];
        if (parser->lex.token.kind == SC_TOK_NAME)
            sc_operand_scalar(parser, label);
        if (label->kind != SC_OPERAND_LABEL)
            sc_parse_expected(parser, "a label");
    } while (sc_parse_accept(parser, ','));
    sc_parse_punct(parser, ';');
    return targets;
}

static void parse_label(struct sc_parser *parser, const struct sc_token *name)
{
    struct sc_lexer *lex = &parser->lex;
    struct sc_targets *targets = NULL;
    const struct sc_proto *proto = NULL;
    if (sc_lex_is_word(lex, ".branchtargets"))
        targets = parse_targets(parser);
    else if (sc_lex_is_word(lex, ".callprototype"))
        proto = sc_call_prototype(parser);
    else if (sc_lex_is_word(lex, ".calltargets"))
        proto = sc_call_targets(parser);
    struct sc_label *label =
        sc_label_add(parser, name->text, name->length, name->line);
    label->targets = targets;
    label->proto = proto;
}

static void parse_body_directive(struct sc_parser *parser)
{
    struct sc_lexer *lex = &parser->lex;
    if (sc_lex_is_word(lex, ".reg")) {
        sc_declare_registers(parser);
    } else if (sc_declare_is_space(parser)) {
        sc_declare_variable(parser, false, false);
    } else if (sc_lex_is_word(lex, ".loc") || sc_lex_is_word(lex, ".file")) {
        sc_lex_skip_line(lex);
    } else if (sc_lex_is_word(lex, ".pragma")) {
        while (lex->token.kind != SC_TOK_END && !sc_lex_is(lex, ';'))
            sc_lex_next(lex);
        sc_parse_punct(parser, ';');
    } else {
        sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, lex->token.line,
                     "unknown directive '%.*s' in a function",
                     (int)lex->token.length, lex->token.text);
    }
}

static void parse_understood(struct sc_parser *parser)
{
    struct sc_lexer *lex = &parser->lex;
    if (lex->token.kind == SC_TOK_DOT) {
        parse_body_directive(parser);
        return;
    }
    struct sc_inst *inst = new_inst(parser);
    bool guarded = sc_lex_is(lex, '@');
    parse_guard(parser, inst);
    struct sc_token name = lex->token;
    if (name.kind != SC_TOK_NAME)
        sc_parse_expected(parser, "an instruction");
    sc_lex_next(lex);
    if (!guarded && sc_parse_accept(parser, ':'))
        parse_label(parser, &name);
    else
        finish_inst(parser, inst, &name);
}

/* One that is not understood ends at its semicolon, and something stands where
 * it was. */
static void parse_statement(struct sc_parser *parser)
{
    struct sc_load *load = parser->load;
    struct sc_lexer start = parser->lex;
    jmp_buf outer;
    if (!load->tolerant) {
        parse_understood(parser);
        return;
    }
    memcpy(outer, load->back, sizeof outer);
    int error = setjmp(load->back);
    if (!error)
        parse_understood(parser);
    memcpy(load->back, outer, sizeof outer);
    if (error == SC_LOAD_NOMEM)
        longjmp(load->back, error);
    if (!error)
        return;
    parser->lex = start;
    parser->anonymous = false;
    new_inst(parser)->opcode = SC_OP_COUNT;
    parser->func->inst_count++;
    while (parser->lex.token.kind != SC_TOK_END &&
           !sc_lex_is(&parser->lex, ';'))
        sc_lex_next(&parser->lex);
    sc_parse_punct(parser, ';');
}

static _Noreturn void nothing_called(struct sc_parser *parser,
                                     const struct sc_operand *operand)
{
    sc_load_fail(parser->load, SC_LOAD_INVALID, (uint32_t)operand->bits,
                 "nothing is called '%.*s' here", (int)operand->length,
                 operand->name);
}

static const struct sc_label *label_of(struct sc_parser *parser,
                                       const struct sc_operand *operand)
{
    const struct sc_label *label =
        sc_label_find(parser, operand->name, operand->length, operand->scope);
    if (!label)
        nothing_called(parser, operand);
    return label;
}

static void resolve(struct sc_parser *parser, struct sc_operand *operand,
                    bool wants_targets)
{
    const struct sc_label *label = label_of(parser, operand);
    if ((label->targets != NULL) != wants_targets || label->proto)
        nothing_called(parser, operand);
    if (label->targets)
        operand->targets = label->targets;
    else
        operand->target = label->inst;
}

/* The list at the end of a call by address is no operand of the call. */
static void resolve_prototype(struct sc_parser *parser, struct sc_inst *inst)
{
    struct sc_operand *last = &inst->operands[inst->operand_count - 1];
    if (!inst->call || last->kind != SC_OPERAND_LABEL)
        return;
    inst->call->proto = label_of(parser, last)->proto;
    if (!inst->call->proto || inst->operands[0].kind != SC_OPERAND_REG)
        nothing_called(parser, last);
    inst->operand_count--;
}

/* No part of an operand may be a label, but the whole of a branch's. */
static void resolve_parts(struct sc_parser *parser,
                          const struct sc_operand *operand)
{
    if (operand->kind == SC_OPERAND_LABEL)
        nothing_called(parser, operand);
    for (uint32_t i = 0; i < sc_operand_parts(operand); i++)
        resolve_parts(parser, &operand->sub[i]);
}

static void resolve_operand(struct sc_parser *parser,
                            const struct sc_inst *inst,
                            struct sc_operand *operand)
{
    bool branches = inst->opcode == SC_OP_bra || inst->opcode == SC_OP_brx;
    if (operand->kind == SC_OPERAND_LABEL && branches)
        resolve(parser, operand, inst->opcode == SC_OP_brx);
    else
        resolve_parts(parser, operand);
}

static void resolve_labels(struct sc_parser *parser)
{
    struct sc_func *func = parser->func;
    for (size_t i = 0; i < func->inst_count; i++) {
        struct sc_inst *inst = &func->insts[i];
        if (inst->operand_count)
            resolve_prototype(parser, inst);
        for (uint32_t k = 0; k < inst->operand_count; k++)
            resolve_operand(parser, inst, &inst->operands[k]);
    }
    for (struct sc_label *l = parser->newest_label; l; l = l->older)
        for (uint32_t k = 0; l->targets && k < l->targets->count; k++)
            resolve(parser, &l->targets->labels[k], false);
    sc_label_forget(parser);
}

void sc_statement_body(struct sc_parser *parser)
{
    uint32_t outer = parser->depth;
    sc_parse_punct(parser, '{');
    sc_scope_open(parser);
    while (parser->depth > outer) {
        if (sc_parse_accept(parser, '{')) {
            sc_scope_open(parser);
        } else if (sc_parse_accept(parser, '}')) {
            sc_scope_close(parser);
        } else if (!sc_parse_accept(parser, ';')) {
            if (parser->lex.token.kind == SC_TOK_END)
                sc_parse_expected(parser, "'}'");
            parse_statement(parser);
        }
    }
    resolve_labels(parser);
}
