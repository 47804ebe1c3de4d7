/*
 * Operands of instructions: registers, numbers, names, addresses, lists.
 *
 * Owns nothing. Lock: none.
 */
#include "ptx/parser.h"

#include <string.h>

#define MAX_COMPONENTS 8

/* .b0, .h1, .b7531 … behind a register of a video instruction */
static bool parse_selector(struct sc_parser *parser, struct sc_operand *operand)
{
    const struct sc_token *token = &parser->lex.token;
    if (!parser->selects || token->kind != SC_TOK_DOT || !token->glued ||
        token->length < 3 || token->length > 6 || !strchr("bh", token->text[1]))
        return false;
    uint32_t digits = 0;
    for (uint32_t i = 2; i < token->length; i++) {
        char c = token->text[i];
        if (c < '0' || c > '7')
            sc_parse_expected(parser, "bytes or half-words of the register");
        digits = digits << 4 | (uint32_t)(c - '0');
    }
    operand->bits = SC_SELECT(token->text[1], token->length - 2, digits);
    sc_lex_next(&parser->lex);
    return true;
}

bool sc_operand_register(struct sc_parser *parser, struct sc_operand *operand)
{
    const struct sc_token *token = &parser->lex.token;
    uint32_t components;
    if (!sc_symbol_register(parser, token->text, token->length, &operand->reg,
                            &components))
        return false;
    operand->kind = SC_OPERAND_REG;
    sc_lex_next(&parser->lex);
    if (parse_selector(parser, operand))
        return true;
    if (token->kind == SC_TOK_DOT && token->glued && token->length == 2) {
        const char *place = strchr("xyzwrgba", token->text[1]);
        uint32_t index = place ? (uint32_t)(place - "xyzwrgba") % 4 : 4;
        if (index >= components)
            sc_parse_expected(parser, "a component the register has");
        operand->reg += index;
        sc_lex_next(&parser->lex);
    } else if (components > 1) {
        struct sc_operand *sub =
            sc_load_alloc(parser->load, components, sizeof *sub);
        for (uint32_t i = 0; i < components; i++)
            sub[i] = (struct sc_operand){.kind = SC_OPERAND_REG,
                                         .reg = operand->reg + i};
        *operand = (struct sc_operand){
            .kind = SC_OPERAND_VECTOR, .reg = components, .sub = sub};
    }
    return true;
}

/* Shared memory that the system keeps of each block for itself; cooperative
 * groups use the second half of it. */
#define RESERVED_BYTES 1024u

/* Where it lies: a variable of the blocks that ask for it. */
static bool find_reserved(struct sc_parser *parser, struct sc_operand *operand,
                          const struct sc_token *token)
{
    static const struct {
        const char *name;
        uint32_t at;
    } places[] = {{"%reserved_smem_offset_begin", 0},
                  {"%reserved_smem_offset_0", 0},
                  {"%reserved_smem_offset_1", RESERVED_BYTES / 2},
                  {"%reserved_smem_offset_end", RESERVED_BYTES}};
    size_t i = 0, n = sizeof places / sizeof *places;
    while (i < n && (strlen(places[i].name) != token->length ||
                     memcmp(places[i].name, token->text, token->length) != 0))
        i++;
    if (i == n)
        return false;
    if (!parser->reserved) {
        parser->reserved =
            sc_load_alloc(parser->load, 1, sizeof *parser->reserved);
        *parser->reserved = (struct sc_var){.name = "%reserved_smem",
                                            .line = token->line,
                                            .space = SC_SPACE_SHARED,
                                            .type = SC_T_b8,
                                            .align = 128,
                                            .bytes = RESERVED_BYTES};
    }
    operand->kind = SC_OPERAND_SYMBOL;
    operand->var = parser->reserved;
    operand->bits = places[i].at;
    return true;
}

/* Registers that say the same as another, or one number, on a device whose
 * clusters are single blocks. */
static const struct {
    const char *name, *same; /* NULL: it is `value` */
    uint32_t value;
} aliases[] = {
    {"%clusterid.x", "%ctaid.x", 0},
    {"%clusterid.y", "%ctaid.y", 0},
    {"%clusterid.z", "%ctaid.z", 0},
    {"%nclusterid.x", "%nctaid.x", 0},
    {"%nclusterid.y", "%nctaid.y", 0},
    {"%nclusterid.z", "%nctaid.z", 0},
    {"%cluster_ctaid.x", NULL, 0},
    {"%cluster_ctaid.y", NULL, 0},
    {"%cluster_ctaid.z", NULL, 0},
    {"%cluster_nctaid.x", NULL, 1},
    {"%cluster_nctaid.y", NULL, 1},
    {"%cluster_nctaid.z", NULL, 1},
    {"%cluster_ctarank", NULL, 0},
    {"%cluster_nctarank", NULL, 1},
    {"%is_explicit_cluster", NULL, 0},
    {"%aggr_smem_size", "%total_smem_size", 0},
    {"%current_graph_exec", NULL, 0},
    {"%reserved_smem_offset_cap", NULL, RESERVED_BYTES},
};

static bool find_alias(struct sc_operand *operand, const struct sc_token *token)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (strlen(aliases[i].name) != token->length ||
            memcmp(aliases[i].name, token->text, token->length) != 0)
            continue;
        const char *same = aliases[i].same;
        operand->kind = same ? SC_OPERAND_SPECIAL : SC_OPERAND_INT;
        operand->bits = aliases[i].value;
        if (same)
            operand->reg = (uint32_t)sc_special_find(same, strlen(same));
        return true;
    }
    return false;
}

/* %pm0 … %pm7, with _64: counters that nobody started */
static bool is_counter(const struct sc_token *token)
{
    return token->length >= 4 && memcmp(token->text, "%pm", 3) == 0 &&
           token->text[3] >= '0' && token->text[3] <= '7' &&
           (token->length == 4 ||
            (token->length == 7 && memcmp(token->text + 4, "_64", 3) == 0));
}

static void parse_special(struct sc_parser *parser, struct sc_operand *operand)
{
    struct sc_token token = parser->lex.token;
    sc_lex_next(&parser->lex);
    const struct sc_token *dot = &parser->lex.token;
    if (dot->kind == SC_TOK_DOT && dot->glued) {
        token.length += dot->length;
        sc_lex_next(&parser->lex);
    }
    int special = sc_special_find(token.text, token.length);
    if (is_counter(&token)) {
        operand->kind = SC_OPERAND_INT;
        return;
    }
    if (special < 0 && parser->load->tolerant)
        special = SC_SREG_COUNT;
    if (special < 0 &&
        (find_alias(operand, &token) || find_reserved(parser, operand, &token)))
        return;
    if (special < 0)
        sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, token.line,
                     "unknown register '%.*s'", (int)token.length, token.text);
    operand->kind = SC_OPERAND_SPECIAL;
    operand->reg = (uint32_t)special;
}

static int64_t parse_addend(struct sc_parser *parser)
{
    bool minus = sc_lex_is(&parser->lex, '-');
    if (!minus && !sc_lex_is(&parser->lex, '+'))
        return 0;
    sc_lex_next(&parser->lex);
    minus ^= sc_parse_accept(parser, '-');
    uint64_t value = sc_parse_integer(parser, "an offset");
    return (int64_t)(minus ? 0 - value : value);
}

static void parse_name(struct sc_parser *parser, struct sc_operand *operand)
{
    struct sc_token token = parser->lex.token;
    if (sc_operand_register(parser, operand))
        return;
    if (token.text[0] == '%') {
        parse_special(parser, operand);
        return;
    }
    const struct sc_symbol *symbol =
        sc_symbol_find(parser, token.text, token.length);
    sc_lex_next(&parser->lex);
    if (symbol && symbol->kind == SC_SYMBOL_FUNC) {
        operand->kind = SC_OPERAND_FUNC;
        operand->func = symbol->func;
    } else if (symbol && symbol->var) {
        operand->kind = SC_OPERAND_SYMBOL;
        operand->var = symbol->var;
        operand->bits = (uint64_t)parse_addend(parser);
    } else if (token.length == 1 && token.text[0] == '_') {
        operand->kind = SC_OPERAND_SINK;
    } else if (token.length == 7 && memcmp(token.text, "WARP_SZ", 7) == 0) {
        operand->kind = SC_OPERAND_INT;
        operand->bits = 32;
    } else {
        operand->kind = SC_OPERAND_LABEL;
        operand->name = token.text;
        operand->length = token.length;
        operand->scope = parser->scope;
        operand->bits = token.line;
    }
}

static void parse_number(struct sc_parser *parser, struct sc_operand *operand)
{
    bool minus = false;
    if (sc_lex_is(&parser->lex, '(') || sc_lex_is(&parser->lex, '~')) {
        operand->kind = SC_OPERAND_INT;
        operand->bits = sc_constant_parse(parser);
        return;
    }
    while (sc_lex_is(&parser->lex, '-') || sc_lex_is(&parser->lex, '+')) {
        minus ^= sc_lex_is(&parser->lex, '-');
        sc_lex_next(&parser->lex);
    }
    struct sc_token token = parser->lex.token;
    operand->bits = token.bits;
    if (token.kind == SC_TOK_INT) {
        operand->kind = SC_OPERAND_INT;
        operand->bits = minus ? 0 - token.bits : token.bits;
    } else if (token.kind == SC_TOK_SINGLE) {
        operand->kind = SC_OPERAND_SINGLE;
        operand->bits ^= minus ? (uint64_t)1 << 31 : 0;
    } else if (token.kind == SC_TOK_FLOAT) {
        operand->kind = SC_OPERAND_DOUBLE;
        operand->bits ^= minus ? (uint64_t)1 << 63 : 0;
    } else {
        sc_parse_expected(parser, "an operand");
    }
    sc_lex_next(&parser->lex);
}

void sc_operand_scalar(struct sc_parser *parser, struct sc_operand *operand)
{
    operand->negate = sc_parse_accept(parser, '!');
    if (parser->lex.token.kind == SC_TOK_NAME)
        parse_name(parser, operand);
    else
        parse_number(parser, operand);
}

static void parse_vector(struct sc_parser *parser, struct sc_operand *operand)
{
    struct sc_operand *sub =
        sc_load_alloc(parser->load, MAX_COMPONENTS, sizeof *sub);
    uint32_t n = 0;
    sc_lex_next(&parser->lex);
    do {
        if (n == MAX_COMPONENTS)
            sc_parse_expected(parser, "at most 8 components");
        sc_operand_scalar(parser, &sub[n++]);
    } while (sc_parse_accept(parser, ','));
    sc_parse_punct(parser, '}');
    operand->kind = SC_OPERAND_VECTOR;
    operand->reg = n;
    operand->sub = sub;
}

/* "[base, {x, y}]": the rest of it behind the first comma */
static void parse_list(struct sc_parser *parser, struct sc_operand *operand,
                       const struct sc_operand *base)
{
    struct sc_operand *sub =
        sc_load_alloc(parser->load, MAX_COMPONENTS, sizeof *sub);
    uint32_t n = 0;
    sub[n++] = *base;
    do {
        if (n == MAX_COMPONENTS)
            sc_parse_expected(parser, "at most 8 items");
        if (sc_lex_is(&parser->lex, '{'))
            parse_vector(parser, &sub[n++]);
        else
            sc_operand_scalar(parser, &sub[n++]);
    } while (sc_parse_accept(parser, ','));
    *operand =
        (struct sc_operand){.kind = SC_OPERAND_LIST, .reg = n, .sub = sub};
}

static void parse_address(struct sc_parser *parser, struct sc_operand *operand)
{
    struct sc_operand *base = sc_load_alloc(parser->load, 1, sizeof *base);
    sc_lex_next(&parser->lex);
    sc_operand_scalar(parser, base);
    operand->kind = SC_OPERAND_ADDRESS;
    operand->sub = base;
    operand->bits = (uint64_t)parse_addend(parser);
    if (sc_parse_accept(parser, ','))
        parse_list(parser, operand, base);
    sc_parse_punct(parser, ']');
}

void sc_operand_parse(struct sc_parser *parser, struct sc_operand *operand)
{
    if (sc_lex_is(&parser->lex, '[')) {
        parse_address(parser, operand);
        return;
    }
    if (sc_lex_is(&parser->lex, '{'))
        parse_vector(parser, operand);
    else
        sc_operand_scalar(parser, operand);
    if (sc_parse_accept(parser, '|')) {
        struct sc_operand *sub = sc_load_alloc(parser->load, 2, sizeof *sub);
        sub[0] = *operand;
        sc_operand_scalar(parser, &sub[1]);
        *operand =
            (struct sc_operand){.kind = SC_OPERAND_PAIR, .reg = 2, .sub = sub};
    }
}
