/*
 * Constant expressions of integers in parentheses, as an instruction's operand.
 *
 * C's operators and precedence on 64-bit values, signed. Owns nothing.
 * Lock: none.
 */
#include "ptx/parser.h"

enum { MAX_DEPTH = 64, LOWEST = 1 };

struct infix {
    const char *text;
    int precedence;
};

/* Two-character operators before those they start with. */
static const struct infix operators[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8},
    {"<=", 7}, {">=", 7}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
    {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

static uint64_t parse_binary(struct sc_parser *parser, int least, int depth);

static uint64_t parse_choice(struct sc_parser *parser, int depth)
{
    uint64_t value = parse_binary(parser, LOWEST, depth);
    if (!sc_parse_accept(parser, '?'))
        return value;
    uint64_t yes = parse_choice(parser, depth + 1);
    sc_parse_punct(parser, ':');
    uint64_t no = parse_choice(parser, depth + 1);
    return value ? yes : no;
}

static uint64_t parse_unary(struct sc_parser *parser, int depth)
{
    if (depth > MAX_DEPTH)
        sc_parse_expected(parser, "a less deeply nested expression");
    if (sc_parse_accept(parser, '-'))
        return 0 - parse_unary(parser, depth + 1);
    if (sc_parse_accept(parser, '+'))
        return parse_unary(parser, depth + 1);
    if (sc_parse_accept(parser, '~'))
        return ~parse_unary(parser, depth + 1);
    if (sc_parse_accept(parser, '!'))
        return !parse_unary(parser, depth + 1);
    if (!sc_parse_accept(parser, '('))
        return sc_parse_integer(parser, "an integer");
    uint64_t value = parse_choice(parser, depth + 1);
    sc_parse_punct(parser, ')');
    return value;
}

/* A lone '%' comes as a name, since registers start with it. */
static bool is_mark(const struct sc_lexer *lex, char mark)
{
    const struct sc_token *token = &lex->token;
    if (mark == '%')
        return token->kind == SC_TOK_NAME && token->length == 1 &&
               token->text[0] == '%';
    return sc_lex_is(lex, mark);
}

static const struct infix *next_operator(const struct sc_parser *parser)
{
    const struct sc_lexer *lex = &parser->lex;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const char *text = operators[i].text;
        if (is_mark(lex, text[0]) &&
            (!text[1] || (lex->at < lex->end && *lex->at == text[1])))
            return &operators[i];
    }
    return NULL;
}

static uint64_t divided(struct sc_parser *parser, char how, int64_t x,
                        int64_t y)
{
    if (y == 0)
        sc_parse_expected(parser, "no division by zero");
    if (y == -1)
        return how == '/' ? 0 - (uint64_t)x : 0;
    return (uint64_t)(how == '/' ? x / y : x % y);
}

static uint64_t applied(struct sc_parser *parser, const char *text, uint64_t x,
                        uint64_t y)
{
    int64_t a = (int64_t)x, b = (int64_t)y;
    bool twice = text[1] == text[0];
    switch (text[0]) {
    case '|':
        return twice ? x || y : x | y;
    case '&':
        return twice ? x && y : x & y;
    case '^':
        return x ^ y;
    case '=':
        return x == y;
    case '!':
        return x != y;
    case '<':
        return twice ? x << (y & 63) : text[1] ? a <= b : a < b;
    case '>':
        return twice ? (uint64_t)(a >> (y & 63)) : text[1] ? a >= b : a > b;
    case '+':
        return x + y;
    case '-':
        return x - y;
    case '*':
        return x * y;
    default:
        return divided(parser, text[0], a, b);
    }
}

static uint64_t parse_binary(struct sc_parser *parser, int least, int depth)
{
    uint64_t value = parse_unary(parser, depth);
    const struct infix *op;
    while ((op = next_operator(parser)) && op->precedence >= least) {
        sc_lex_next(&parser->lex);
        if (op->text[1])
            sc_lex_next(&parser->lex);
        uint64_t right = parse_binary(parser, op->precedence + 1, depth + 1);
        value = applied(parser, op->text, value, right);
    }
    return value;
}

uint64_t sc_constant_parse(struct sc_parser *parser)
{
    return parse_choice(parser, 0);
}
