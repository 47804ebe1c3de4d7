/*
 * The head of one entry, out of a text that is not read otherwise; see
 * ptx/parse.h.
 *
 * Lock: none.
 */
#include "ptx/parse.h"
#include "ptx/parser.h"

#include <string.h>

/* To the name of the entry: what is between its words is of no interest. */
static bool seek(struct sc_lexer *lex, const char *name)
{
    while (lex->token.kind != SC_TOK_END) {
        bool is_entry = sc_lex_is_word(lex, ".entry");
        sc_lex_next(lex);
        if (is_entry && sc_lex_is_word(lex, name))
            return true;
    }
    return false;
}

const struct sc_func *sc_ptx_entry(struct sc_load *load, const char *text,
                                   size_t bytes, const char *name)
{
    struct sc_parser *parser = sc_load_alloc(load, 1, sizeof *parser);
    struct sc_func *func = sc_load_alloc(load, 1, sizeof *func);
    parser->load = load;
    parser->func = func;
    parser->anonymous = true; /* names are of no scope */
    func->is_entry = true;
    sc_lex_init(&parser->lex, load, text, strnlen(text, bytes));
    if (!seek(&parser->lex, name))
        return NULL;
    func->name = sc_load_text(load, name, strlen(name));
    func->line = parser->lex.token.line;
    sc_lex_next(&parser->lex);
    if (sc_lex_is(&parser->lex, '('))
        func->params =
            sc_parse_params(parser, &func->param_count, &func->param_bytes);
    return func;
}
