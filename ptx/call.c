/*
 * What PTX says about calls: their operands, prototypes, target lists.
 *
 * Owns nothing. Lock: none.
 */
#include "ptx/parser.h"

struct operands {
    struct sc_operand *items;
    size_t count, capacity;
};

static struct sc_operand *append(struct sc_parser *parser,
                                 struct operands *operands)
{
    operands->items =
        sc_load_grow(parser->load, operands->items, operands->count,
                     &operands->capacity, sizeof *operands->items);
    struct sc_operand *operand = &operands->items[operands->count++];
    *operand = (struct sc_operand){0};
    return operand;
}

/* "( a, b, … )" behind what is there; returns how many. */
static uint32_t parse_list(struct sc_parser *parser, struct operands *operands)
{
    size_t before = operands->count;
    sc_parse_punct(parser, '(');
    while (!sc_lex_is(&parser->lex, ')')) {
        sc_operand_scalar(parser, append(parser, operands));
        if (!sc_parse_accept(parser, ','))
            break;
    }
    sc_parse_punct(parser, ')');
    return (uint32_t)(operands->count - before);
}

void sc_call_parse(struct sc_parser *parser, struct sc_inst *inst)
{
    struct sc_call *call = sc_load_alloc(parser->load, 1, sizeof *call);
    struct operands operands = {0};
    append(parser, &operands);
    if (sc_lex_is(&parser->lex, '(')) {
        call->ret_count = parse_list(parser, &operands);
        sc_parse_punct(parser, ',');
    }
    if (parser->lex.token.kind != SC_TOK_NAME)
        sc_parse_expected(parser, "a function");
    struct sc_operand callee = {0};
    sc_operand_scalar(parser, &callee);
    if (callee.kind != SC_OPERAND_FUNC && callee.kind != SC_OPERAND_REG)
        sc_load_fail(parser->load, SC_LOAD_INVALID, inst->line,
                     "call of something that is no function");
    if (sc_parse_accept(parser, ',')) {
        bool more = true;
        if (sc_lex_is(&parser->lex, '(')) {
            call->arg_count = parse_list(parser, &operands);
            more = sc_parse_accept(parser, ',');
        }
        if (more)
            sc_operand_scalar(parser, append(parser, &operands));
    }
    operands.items[0] = callee;
    inst->call = call;
    inst->operands = operands.items;
    inst->operand_count = (uint32_t)operands.count;
}

const struct sc_proto *sc_call_prototype(struct sc_parser *parser)
{
    struct sc_proto *proto = sc_load_alloc(parser->load, 1, sizeof *proto);
    uint32_t bytes;
    sc_lex_next(&parser->lex);
    parser->anonymous = true;
    if (sc_lex_is(&parser->lex, '('))
        proto->rets = sc_parse_params(parser, &proto->ret_count, &bytes);
    if (parser->lex.token.kind != SC_TOK_NAME)
        sc_parse_expected(parser, "'_'");
    sc_lex_next(&parser->lex);
    if (sc_lex_is(&parser->lex, '('))
        proto->params = sc_parse_params(parser, &proto->param_count, &bytes);
    parser->anonymous = false;
    while (parser->lex.token.kind == SC_TOK_DOT) {
        bool numbered = sc_lex_is_word(&parser->lex, ".abi_preserve") ||
                        sc_lex_is_word(&parser->lex, ".abi_preserve_control");
        if (!numbered && !sc_lex_is_word(&parser->lex, ".noreturn"))
            sc_parse_expected(parser, "';'");
        sc_lex_next(&parser->lex);
        if (numbered)
            sc_parse_integer(parser, "a number");
    }
    sc_parse_punct(parser, ';');
    return proto;
}

const struct sc_proto *sc_call_targets(struct sc_parser *parser)
{
    struct sc_proto *proto = sc_load_alloc(parser->load, 1, sizeof *proto);
    const struct sc_func *first = NULL;
    do {
        struct sc_operand operand = {0};
        sc_lex_next(&parser->lex);
        if (parser->lex.token.kind == SC_TOK_NAME)
            sc_operand_scalar(parser, &operand);
        if (operand.kind != SC_OPERAND_FUNC)
            sc_parse_expected(parser, "a function");
        operand.func->is_taken = true;
        first = first ? first : operand.func;
    } while (sc_lex_is(&parser->lex, ','));
    sc_parse_punct(parser, ';');
    proto->params = first->params;
    proto->rets = first->rets;
    proto->param_count = first->param_count;
    proto->ret_count = first->ret_count;
    return proto;
}
