/*
 * Declarations: registers, variables of every space, parameters.
 *
 * Owns nothing; adds symbols and variables to the parser's current scope.
 * Lock: none.
 */
#include "ptx/argument.h"
#include "ptx/parser.h"

#include <string.h>

#define MAX_REGISTERS ((uint64_t)1 << 20)
#define MAX_VARIABLE  ((uint64_t)1 << 40)

static enum sc_type parse_type(struct sc_parser *parser)
{
    const struct sc_token *token = &parser->lex.token;
    int type = token->kind == SC_TOK_DOT
                   ? sc_type_find(token->text + 1, token->length - 1)
                   : -1;
    if (type < 0)
        sc_parse_expected(parser, "a type such as .u32");
    sc_lex_next(&parser->lex);
    return (enum sc_type)type;
}

static uint32_t parse_vector(struct sc_parser *parser)
{
    uint32_t count = 1;
    if (sc_lex_is_word(&parser->lex, ".v2"))
        count = 2;
    else if (sc_lex_is_word(&parser->lex, ".v4"))
        count = 4;
    if (count > 1)
        sc_lex_next(&parser->lex);
    return count;
}

static uint32_t add_registers(struct sc_parser *parser, enum sc_type type,
                              uint64_t count)
{
    struct sc_func *func = parser->func;
    uint32_t first = (uint32_t)func->reg_count;
    if (count > MAX_REGISTERS - func->reg_count)
        sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, parser->lex.token.line,
                     "more than %u registers in one function",
                     (unsigned)MAX_REGISTERS);
    for (uint64_t i = 0; i < count; i++) {
        func->regs = sc_load_grow(parser->load, func->regs, func->reg_count,
                                  &parser->reg_capacity, sizeof *func->regs);
        func->regs[func->reg_count++].type = type;
    }
    return first;
}

void sc_declare_registers(struct sc_parser *parser)
{
    struct sc_lexer *lex = &parser->lex;
    sc_lex_next(lex);
    uint32_t components = parse_vector(parser);
    enum sc_type type = parse_type(parser);
    if (components == 1)
        components = parse_vector(parser);
    do {
        struct sc_token name = lex->token;
        if (name.kind != SC_TOK_NAME)
            sc_parse_expected(parser, "a register's name");
        sc_lex_next(lex);
        uint64_t count = components;
        bool range = sc_parse_accept(parser, '<');
        if (range) {
            count = sc_parse_integer(parser, "a number of registers");
            sc_parse_punct(parser, '>');
        }
        if (range && components > 1)
            sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, name.line,
                         "range of vector registers '%.*s'", (int)name.length,
                         name.text);
        uint32_t first = add_registers(parser, type, count);
        struct sc_symbol *symbol = sc_symbol_add(
            parser, name.text, name.length,
            range ? SC_SYMBOL_REG_RANGE : SC_SYMBOL_REG, name.line);
        symbol->first = first;
        symbol->count = (uint32_t)count;
    } while (sc_parse_accept(parser, ','));
    sc_parse_punct(parser, ';');
}

static const struct {
    const char *text;
    enum sc_space_kind space;
} spaces[] = {
    {".global", SC_SPACE_GLOBAL}, {".const", SC_SPACE_CONST},
    {".shared", SC_SPACE_SHARED}, {".local", SC_SPACE_LOCAL},
    {".param", SC_SPACE_PARAM},   {".tex", SC_SPACE_GLOBAL},
};

static int find_space(const struct sc_parser *parser)
{
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (sc_lex_is_word(&parser->lex, spaces[i].text))
            return (int)spaces[i].space;
    return -1;
}

bool sc_declare_is_space(const struct sc_parser *parser)
{
    return find_space(parser) >= 0;
}

static uint32_t parse_align(struct sc_parser *parser)
{
    uint32_t line = parser->lex.token.line;
    sc_lex_next(&parser->lex);
    uint64_t align = sc_parse_integer(parser, "an alignment");
    if (!align || align & (align - 1) || align > 65536)
        sc_load_fail(parser->load, SC_LOAD_INVALID, line,
                     "alignment %llu is no power of two up to 65536",
                     (unsigned long long)align);
    return (uint32_t)align;
}

/* .ptr with its optional space and alignment of what is pointed to */
static void parse_ptr(struct sc_parser *parser)
{
    sc_lex_next(&parser->lex);
    if (find_space(parser) >= 0)
        sc_lex_next(&parser->lex);
    if (sc_lex_is_word(&parser->lex, ".align"))
        parse_align(parser);
}

/* .attribute(.managed), .attribute(.unified(a, b)) */
static void parse_attribute(struct sc_parser *parser, struct sc_var *var)
{
    uint32_t line = parser->lex.token.line;
    sc_lex_next(&parser->lex);
    sc_parse_punct(parser, '(');
    if (!sc_lex_is_word(&parser->lex, ".managed"))
        sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, line,
                     ".attribute of a unified variable is not supported");
    if (var->space != SC_SPACE_GLOBAL)
        sc_load_fail(parser->load, SC_LOAD_INVALID, line,
                     ".managed of a variable that is not .global");
    var->is_managed = true;
    sc_lex_next(&parser->lex);
    sc_parse_punct(parser, ')');
}

static enum sc_reference find_reference(const struct sc_parser *parser)
{
    return sc_lex_is_word(&parser->lex, ".texref")       ? SC_REFERENCE_TEXTURE
           : sc_lex_is_word(&parser->lex, ".samplerref") ? SC_REFERENCE_SAMPLER
           : sc_lex_is_word(&parser->lex, ".surfref")    ? SC_REFERENCE_SURFACE
                                                         : SC_REFERENCE_NONE;
}

/* .space [.align n] .type [.vN] — what stands before the names */
static void parse_head(struct sc_parser *parser, struct sc_var *var,
                       uint32_t *components)
{
    struct sc_lexer *lex = &parser->lex;
    if (sc_lex_is_word(lex, ".tex"))
        var->reference = SC_REFERENCE_TEXTURE;
    var->space = (enum sc_space_kind)find_space(parser);
    sc_lex_next(lex);
    bool typed = false;
    *components = 1;
    while (lex->token.kind == SC_TOK_DOT) {
        uint32_t vector = parse_vector(parser);
        if (vector > 1) {
            *components = vector;
        } else if (sc_lex_is_word(lex, ".align")) {
            var->align = parse_align(parser);
        } else if (sc_lex_is_word(lex, ".ptr")) {
            var->is_pointer = true;
            parse_ptr(parser);
        } else if (sc_lex_is_word(lex, ".attribute")) {
            parse_attribute(parser, var);
        } else if (find_reference(parser)) {
            var->reference = find_reference(parser);
            var->type = SC_T_u64;
            typed = true;
            sc_lex_next(lex);
        } else {
            var->type = parse_type(parser);
            typed = true;
        }
    }
    if (!typed)
        sc_parse_expected(parser, "a type such as .u32");
    if (!var->align)
        var->align = sc_type_bytes(var->type) * *components;
}

static uint32_t parse_dims(struct sc_parser *parser, uint64_t *dims)
{
    uint32_t count = 0;
    while (sc_parse_accept(parser, '[')) {
        if (count == SC_MAX_DIMS)
            sc_parse_expected(parser, "at most 8 dimensions");
        dims[count] = 0;
        if (!sc_lex_is(&parser->lex, ']'))
            dims[count] = sc_parse_integer(parser, "a number of elements");
        else if (count > 0)
            sc_parse_expected(parser, "a number of elements");
        count++;
        sc_parse_punct(parser, ']');
    }
    return count;
}

static void set_bytes(struct sc_parser *parser, struct sc_var *var,
                      uint32_t components, const uint64_t *dims, uint32_t n)
{
    uint64_t bytes = sc_type_bytes(var->type) * (uint64_t)components;
    for (uint32_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(bytes, dims[i], &bytes))
            bytes = UINT64_MAX;
    if (bytes > MAX_VARIABLE)
        sc_load_fail(parser->load, SC_LOAD_INVALID, var->line,
                     "'%s' is too large", var->name);
    var->bytes = bytes;
}

static void parse_declarator(struct sc_parser *parser, struct sc_var *var,
                             uint32_t components)
{
    struct sc_token name = parser->lex.token;
    if (name.kind != SC_TOK_NAME)
        sc_parse_expected(parser, "a variable's name");
    var->name = sc_load_text(parser->load, name.text, name.length);
    var->line = name.line;
    sc_lex_next(&parser->lex);
    uint64_t dims[SC_MAX_DIMS + 1];
    uint32_t n = parse_dims(parser, dims);
    set_bytes(parser, var, components, dims, n);
    if (components > 1)
        dims[n++] = components;
    bool constant =
        var->space == SC_SPACE_GLOBAL || var->space == SC_SPACE_CONST;
    if (sc_lex_is(&parser->lex, '=')) {
        if (!constant || n > SC_MAX_DIMS)
            sc_parse_expected(parser, "no initialiser in this space");
        sc_lex_next(&parser->lex);
        sc_initial_parse(parser, var, dims, n);
        if (components > 1)
            n--;
        set_bytes(parser, var, components, dims, n);
    }
    if (parser->anonymous)
        return;
    struct sc_symbol *symbol =
        sc_symbol_add(parser, name.text, name.length, SC_SYMBOL_VAR, name.line);
    symbol->var = var;
}

static void append_var(struct sc_parser *parser, struct sc_var *var)
{
    bool of_function = parser->func && (var->space == SC_SPACE_SHARED ||
                                        var->space == SC_SPACE_LOCAL);
    var->owner = parser->func;
    if (of_function) {
        var->next = parser->func->vars;
        parser->func->vars = var;
    } else if (var->space != SC_SPACE_PARAM) {
        *parser->var_tail = var;
        parser->var_tail = &var->next;
    }
}

void sc_declare_variable(struct sc_parser *parser, bool is_extern, bool is_weak)
{
    struct sc_var head = {.is_extern = is_extern, .is_weak = is_weak};
    uint32_t components;
    parse_head(parser, &head, &components);
    do {
        struct sc_var *var = sc_load_alloc(parser->load, 1, sizeof *var);
        *var = head;
        parse_declarator(parser, var, components);
        append_var(parser, var);
        if (var->space == SC_SPACE_PARAM)
            var->argument = sc_argument_new(parser->load);
        bool dynamic = var->space == SC_SPACE_SHARED && is_extern;
        if (!var->bytes && !is_extern)
            sc_load_fail(parser->load, SC_LOAD_INVALID, var->line,
                         "'%s' has no size", var->name);
        if (is_extern && !dynamic)
            sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, var->line,
                         ".extern variable '%s': modules are not linked "
                         "together",
                         var->name);
    } while (sc_parse_accept(parser, ','));
    sc_parse_punct(parser, ';');
}

/* .reg .type name of a parameter list */
static struct sc_var *parse_register_param(struct sc_parser *parser)
{
    struct sc_var *var = sc_load_alloc(parser->load, 1, sizeof *var);
    sc_lex_next(&parser->lex);
    var->type = parse_type(parser);
    var->space = SC_SPACE_PARAM;
    var->in_register = true;
    var->bytes = var->align = sc_type_bytes(var->type);
    struct sc_token name = parser->lex.token;
    if (name.kind != SC_TOK_NAME)
        sc_parse_expected(parser, "a register's name");
    var->name = sc_load_text(parser->load, name.text, name.length);
    var->line = name.line;
    sc_lex_next(&parser->lex);
    if (parser->anonymous)
        return var;
    var->reg = add_registers(parser, var->type, 1);
    struct sc_symbol *symbol =
        sc_symbol_add(parser, name.text, name.length, SC_SYMBOL_REG, name.line);
    symbol->first = var->reg;
    symbol->count = 1;
    return var;
}

struct sc_var *sc_declare_param(struct sc_parser *parser)
{
    bool of_entry = parser->func && parser->func->is_entry;
    if (sc_lex_is_word(&parser->lex, ".reg") && !of_entry)
        return parse_register_param(parser);
    if (!sc_lex_is_word(&parser->lex, ".param"))
        sc_parse_expected(parser, "a .param");
    struct sc_var *var = sc_load_alloc(parser->load, 1, sizeof *var);
    uint32_t components;
    parse_head(parser, var, &components);
    parse_declarator(parser, var, components);
    if (!of_entry || parser->anonymous)
        var->argument = sc_argument_new(parser->load);
    return var;
}
