/*
 * Module level of PTX: directives, entries, functions; see ptx/parse.h.
 *
 * Lock: none.
 */
#include "ptx/parse.h"
#include "ptx/argument.h"
#include "ptx/inline.h"
#include "ptx/parser.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NEWEST_VERSION 90u /* PTX ISA 9.0 */
/* Of sm_1x addresses had 32 bits, and f64 could be f32. */
#define FIRST_TARGET 20u

void sc_parse_expected(struct sc_parser *parser, const char *what)
{
    const struct sc_token *token = &parser->lex.token;
    if (token->kind == SC_TOK_END)
        sc_load_fail(parser->load, SC_LOAD_INVALID, token->line,
                     "expected %s before the end of the text", what);
    sc_load_fail(parser->load, SC_LOAD_INVALID, token->line,
                 "expected %s before '%.*s'", what,
                 (int)(token->length > 80 ? 80 : token->length), token->text);
}

void sc_parse_punct(struct sc_parser *parser, char punct)
{
    char what[] = "'?'";
    what[1] = punct;
    if (!sc_lex_is(&parser->lex, punct))
        sc_parse_expected(parser, what);
    sc_lex_next(&parser->lex);
}

bool sc_parse_accept(struct sc_parser *parser, char punct)
{
    if (!sc_lex_is(&parser->lex, punct))
        return false;
    sc_lex_next(&parser->lex);
    return true;
}

uint64_t sc_parse_integer(struct sc_parser *parser, const char *what)
{
    if (parser->lex.token.kind != SC_TOK_INT)
        sc_parse_expected(parser, what);
    uint64_t value = parser->lex.token.bits;
    sc_lex_next(&parser->lex);
    return value;
}

static void parse_version(struct sc_parser *parser)
{
    struct sc_token *token = &parser->lex.token;
    sc_lex_next(&parser->lex);
    if (token->kind != SC_TOK_FLOAT)
        sc_parse_expected(parser, "a version such as 9.0");
    double value;
    memcpy(&value, &token->bits, sizeof value);
    uint32_t version =
        value > 0 && value < 100 ? (uint32_t)(value * 10 + 0.5) : 0;
    if (version < 10 || (version > NEWEST_VERSION && !parser->load->tolerant))
        sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, token->line,
                     ".version %.*s; versions up to %u.%u are understood",
                     (int)token->length, token->text, NEWEST_VERSION / 10,
                     NEWEST_VERSION % 10);
    parser->ir->version = version;
    sc_lex_next(&parser->lex);
}

static void parse_target(struct sc_parser *parser)
{
    struct sc_token *token = &parser->lex.token;
    do {
        sc_lex_next(&parser->lex);
        if (token->kind != SC_TOK_NAME)
            sc_parse_expected(parser, "a target such as sm_80");
        if (token->length > 3 && memcmp(token->text, "sm_", 3) == 0) {
            uint32_t sm = 0;
            for (uint32_t i = 3; i < token->length && sm < 10000; i++) {
                if (!isdigit((unsigned char)token->text[i]))
                    break;
                sm = sm * 10 + (uint32_t)(token->text[i] - '0');
            }
            if (sm && sm < FIRST_TARGET)
                sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, token->line,
                             "target '%.*s' is one of PTX 1.x, which is not "
                             "supported; sm_%u and later are",
                             (int)token->length, token->text, FIRST_TARGET);
            parser->ir->sm = sm;
        } else if (!sc_lex_is_word(&parser->lex, "debug") &&
                   !sc_lex_is_word(&parser->lex, "texmode_independent") &&
                   !sc_lex_is_word(&parser->lex, "texmode_unified")) {
            sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, token->line,
                         "target '%.*s'", (int)token->length, token->text);
        }
        sc_lex_next(&parser->lex);
    } while (sc_lex_is(&parser->lex, ','));
    if (!parser->ir->sm)
        sc_parse_expected(parser, "a target such as sm_80");
}

static void parse_address_size(struct sc_parser *parser)
{
    uint32_t line = parser->lex.token.line;
    sc_lex_next(&parser->lex);
    uint64_t size = sc_parse_integer(parser, "64");
    if (size != 64)
        sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, line,
                     ".address_size %llu; only 64 is supported",
                     (unsigned long long)size);
}

/* .section name { … } of debug information */
static void skip_section(struct sc_parser *parser)
{
    struct sc_lexer *lex = &parser->lex;
    while (lex->token.kind != SC_TOK_END && !sc_lex_is(lex, '{'))
        sc_lex_next(lex);
    while (lex->token.kind != SC_TOK_END && !sc_lex_is(lex, '}'))
        sc_lex_next(lex);
    sc_parse_punct(parser, '}');
}

static void skip_statement(struct sc_parser *parser)
{
    while (parser->lex.token.kind != SC_TOK_END &&
           !sc_lex_is(&parser->lex, ';'))
        sc_lex_next(&parser->lex);
    sc_parse_punct(parser, ';');
}

struct sc_var *sc_parse_params(struct sc_parser *parser, uint32_t *count,
                               uint32_t *bytes)
{
    struct sc_var *first = NULL, **tail = &first;
    uint64_t offset = 0;
    *count = 0;
    sc_parse_punct(parser, '(');
    while (!sc_lex_is(&parser->lex, ')')) {
        struct sc_var *var = sc_declare_param(parser);
        offset = (offset + var->align - 1) & ~(uint64_t)(var->align - 1);
        var->address = offset;
        offset += var->bytes;
        if (!var->bytes || offset > 32764)
            sc_load_fail(parser->load, SC_LOAD_INVALID, var->line,
                         "parameter '%s' is empty or past 32764 bytes",
                         var->name);
        *tail = var;
        tail = &var->next;
        ++*count;
        if (!sc_parse_accept(parser, ','))
            break;
        if (sc_lex_is(&parser->lex, ')'))
            sc_parse_expected(parser, "a parameter");
    }
    sc_parse_punct(parser, ')');
    *bytes = (uint32_t)offset;
    return first;
}

static void parse_ntid(struct sc_parser *parser, uint32_t ntid[3])
{
    sc_lex_next(&parser->lex);
    for (int i = 0; i < 3; i++)
        ntid[i] = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t value = sc_parse_integer(parser, "a number of threads");
        ntid[i] = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
        if (i == 2 || !sc_parse_accept(parser, ','))
            break;
    }
}

static void parse_directives(struct sc_parser *parser, struct sc_func *func)
{
    static const char *const numbered[] = {".minnctapersm", ".maxnctapersm",
                                           ".maxnreg", ".maxclusterrank"};
    struct sc_lexer *lex = &parser->lex;
    while (lex->token.kind == SC_TOK_DOT) {
        bool known = false;
        for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
            known |= sc_lex_is_word(lex, numbered[i]);
        if (known) {
            sc_lex_next(lex);
            sc_parse_integer(parser, "a number");
        } else if (sc_lex_is_word(lex, ".maxntid")) {
            parse_ntid(parser, func->max_ntid);
        } else if (sc_lex_is_word(lex, ".reqntid")) {
            parse_ntid(parser, func->req_ntid);
        } else if (sc_lex_is_word(lex, ".pragma")) {
            skip_statement(parser);
        } else if (sc_lex_is_word(lex, ".noreturn")) {
            sc_lex_next(lex);
        } else {
            sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, lex->token.line,
                         "unknown directive '%.*s' of a function",
                         (int)lex->token.length, lex->token.text);
        }
    }
}

/* The first declaration of a name stands for all of them. */
static void add_function(struct sc_parser *parser, struct sc_func *func,
                         const struct sc_token *name)
{
    struct sc_symbol *symbol =
        sc_symbol_function(parser, name->text, name->length);
    if (!symbol->func)
        symbol->func = func;
    *parser->func_tail = func;
    parser->func_tail = &func->next;
    func->number = parser->ir->func_count++;
    if (symbol->func != func && !func->has_body)
        func->definition = symbol->func;
    if (!func->has_body)
        return;
    if (symbol->func->has_body && symbol->func != func)
        sc_load_fail(parser->load, SC_LOAD_INVALID, func->line,
                     "function '%s' is defined twice", func->name);
    if (symbol->func != func)
        symbol->func->definition = func;
    symbol->func = func;
}

static void parse_function(struct sc_parser *parser)
{
    struct sc_lexer *lex = &parser->lex;
    struct sc_func *func = sc_load_alloc(parser->load, 1, sizeof *func);
    func->is_entry = sc_lex_is_word(lex, ".entry");
    sc_lex_next(lex);
    sc_scope_open(parser);
    parser->func = func;
    parser->reg_capacity = parser->inst_capacity = 0;
    if (!func->is_entry && sc_lex_is(lex, '('))
        func->rets =
            sc_parse_params(parser, &func->ret_count, &func->ret_bytes);
    struct sc_token name = lex->token;
    if (name.kind != SC_TOK_NAME)
        sc_parse_expected(parser, "a function's name");
    func->name = sc_load_text(parser->load, name.text, name.length);
    func->line = name.line;
    sc_lex_next(lex);
    if (sc_lex_is(lex, '('))
        func->params =
            sc_parse_params(parser, &func->param_count, &func->param_bytes);
    parse_directives(parser, func);
    func->has_body = !sc_parse_accept(parser, ';');
    add_function(parser, func, &name);
    if (func->has_body)
        sc_statement_body(parser);
    parser->func = NULL;
    sc_scope_close(parser);
}

static struct sc_func *find_function(struct sc_parser *parser)
{
    const struct sc_token *token = &parser->lex.token;
    const struct sc_symbol *symbol =
        sc_symbol_find(parser, token->text, token->length);
    if (!symbol || symbol->kind != SC_SYMBOL_FUNC)
        sc_parse_expected(parser, "a function");
    sc_lex_next(&parser->lex);
    return symbol->func;
}

/* .alias f, g; */
static void parse_alias(struct sc_parser *parser)
{
    uint32_t line = parser->lex.token.line;
    sc_lex_next(&parser->lex);
    struct sc_func *alias = find_function(parser);
    sc_parse_punct(parser, ',');
    struct sc_func *meant = find_function(parser);
    sc_parse_punct(parser, ';');
    if (alias->has_body || alias->is_entry || alias == meant)
        sc_load_fail(parser->load, SC_LOAD_INVALID, line,
                     "'%s' cannot be an alias", alias->name);
    alias->definition = meant;
}

/* Linking directives, then what they apply to. */
static void parse_linked(struct sc_parser *parser)
{
    struct sc_lexer *lex = &parser->lex;
    bool is_extern = false, is_weak = false;
    for (;;) {
        if (sc_lex_is_word(lex, ".extern"))
            is_extern = true;
        else if (sc_lex_is_word(lex, ".weak") || sc_lex_is_word(lex, ".common"))
            is_weak = true;
        else if (!sc_lex_is_word(lex, ".visible"))
            break;
        sc_lex_next(lex);
    }
    if (sc_lex_is_word(lex, ".entry") || sc_lex_is_word(lex, ".func"))
        parse_function(parser);
    else if (sc_declare_is_space(parser) && !sc_lex_is_word(lex, ".param"))
        sc_declare_variable(parser, is_extern, is_weak);
    else if (lex->token.kind == SC_TOK_DOT)
        sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, lex->token.line,
                     "unknown directive '%.*s'", (int)lex->token.length,
                     lex->token.text);
    else
        sc_parse_expected(parser, "a directive");
}

static void parse_module_item(struct sc_parser *parser)
{
    struct sc_lexer *lex = &parser->lex;
    if (sc_lex_is_word(lex, ".file") || sc_lex_is_word(lex, ".loc") ||
        sc_lex_is(lex, '@'))
        sc_lex_skip_line(lex);
    else if (sc_lex_is_word(lex, ".section"))
        skip_section(parser);
    else if (sc_lex_is_word(lex, ".pragma"))
        skip_statement(parser);
    else if (sc_lex_is_word(lex, ".alias"))
        parse_alias(parser);
    else if (!sc_parse_accept(parser, ';'))
        parse_linked(parser);
}

static void resolve_relocs(struct sc_parser *parser)
{
    for (struct sc_var *var = parser->ir->vars; var; var = var->next) {
        for (size_t i = 0; i < var->reloc_count; i++) {
            struct sc_reloc *reloc = &var->relocs[i];
            const struct sc_symbol *symbol =
                sc_symbol_find(parser, reloc->name, reloc->name_length);
            if (symbol && symbol->kind == SC_SYMBOL_FUNC)
                reloc->func = symbol->func;
            else if (symbol && symbol->var)
                reloc->var = symbol->var;
            else
                sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, reloc->line,
                             "address of '%.*s', which is neither variable "
                             "nor function",
                             (int)reloc->name_length, reloc->name);
        }
    }
}

struct sc_ir *sc_ptx_parse(struct sc_load *load, const char *text, size_t bytes)
{
    const char *nul = memchr(text, 0, bytes);
    if (nul)
        bytes = (size_t)(nul - text);
    struct sc_parser *parser = sc_load_alloc(load, 1, sizeof *parser);
    parser->load = load;
    parser->ir = sc_load_alloc(load, 1, sizeof *parser->ir);
    parser->var_tail = &parser->ir->vars;
    parser->func_tail = &parser->ir->funcs;
    parser->scope_parent =
        sc_load_grow(load, NULL, 0, &parser->scope_capacity, sizeof(uint32_t));
    parser->scope_count = 1; /* scope 0, its own parent, is the module */
    sc_lex_init(&parser->lex, load, text, bytes);
    if (!sc_lex_is_word(&parser->lex, ".version"))
        sc_parse_expected(parser, ".version (is this PTX text?)");
    parse_version(parser);
    if (!sc_lex_is_word(&parser->lex, ".target"))
        sc_parse_expected(parser, ".target");
    parse_target(parser);
    if (sc_lex_is_word(&parser->lex, ".address_size"))
        parse_address_size(parser);
    while (parser->lex.token.kind != SC_TOK_END)
        parse_module_item(parser);
    resolve_relocs(parser);
    sc_ptx_inline(load, parser->ir);
    sc_ptx_arguments(load, parser->ir);
    return parser->ir;
}
