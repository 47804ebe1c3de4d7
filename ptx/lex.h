/*
 * PTX text to tokens.
 *
 * Owns the cursor and the current token. Knows nothing of grammar, except
 * that ".loc"-like lines end at the newline (sc_lex_skip_line). Lock: none.
 */
#ifndef SOFTCUDA_PTX_LEX_H
#define SOFTCUDA_PTX_LEX_H

#include "ptx/diag.h"

enum sc_token_kind {
    SC_TOK_END,
    SC_TOK_NAME,   /* add, %r1, $L__BB0_2, _sink */
    SC_TOK_DOT,    /* .global, .L2::128B; text starts with the dot */
    SC_TOK_INT,    /* 12, 0x1F, 017, 0b11, with optional U */
    SC_TOK_FLOAT,  /* 1.5, 0d…: value is a double */
    SC_TOK_SINGLE, /* 0f…: bits are an f32 */
    SC_TOK_STRING,
    SC_TOK_PUNCT,
};

struct sc_token {
    enum sc_token_kind kind;
    const char *text; /* inside the source */
    uint32_t length, line;
    char punct;    /* of SC_TOK_PUNCT, else 0 */
    bool glued;    /* no white space before it */
    uint64_t bits; /* integer value, or bits of the f32/f64 */
};

struct sc_lexer {
    struct sc_load *load;
    const char *at, *end;
    uint32_t line;
    struct sc_token token; /* current, not yet consumed */
};

/** Point at the first token of text[0..bytes). */
void sc_lex_init(struct sc_lexer *lexer, struct sc_load *load, const char *text,
                 size_t bytes);

/** Step to the next token; jumps back through `load` on bad text. */
void sc_lex_next(struct sc_lexer *lexer);

/** Drop the rest of the current token's line, step to what follows. */
void sc_lex_skip_line(struct sc_lexer *lexer);

/** Whether the current token is that punctuation mark. */
bool sc_lex_is(const struct sc_lexer *lexer, char punct);

/** Whether the current token's text is exactly `word`. */
bool sc_lex_is_word(const struct sc_lexer *lexer, const char *word);

#endif
