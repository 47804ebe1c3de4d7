/*
 * Texts to outermost statements; see ptx/joint_statement.h.
 *
 * Lock: none.
 */
#include "ptx/joint_statement.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    struct sc_load load; /* to come back by */
    struct sc_lexer lex;
    struct sc_joint_statement now;
};

static void note_directive(struct sc_joint_statement *s,
                           const struct sc_lexer *lex)
{
    static const struct {
        const char *word;
        enum sc_joint_kind kind;
    } kinds[] = {{".func", SC_JOINT_FUNCTION},   {".entry", SC_JOINT_ENTRY},
                 {".global", SC_JOINT_VARIABLE}, {".const", SC_JOINT_VARIABLE},
                 {".shared", SC_JOINT_VARIABLE}, {".tex", SC_JOINT_VARIABLE}};
    static const struct {
        const char *word;
        enum sc_joint_linking linking;
    } linkings[] = {{".visible", SC_JOINT_VISIBLE},
                    {".extern", SC_JOINT_EXTERN},
                    {".weak", SC_JOINT_WEAK},
                    {".common", SC_JOINT_WEAK}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (s->kind == SC_JOINT_OTHER && sc_lex_is_word(lex, kinds[i].word))
            s->kind = kinds[i].kind;
    for (size_t i = 0; i < sizeof linkings / sizeof *linkings; i++)
        if (s->linking == SC_JOINT_LOCAL &&
            sc_lex_is_word(lex, linkings[i].word)) {
            s->linking = linkings[i].linking;
            s->word = lex->token.text;
            s->word_bytes = lex->token.length;
        }
}

static void extend(struct reader *r)
{
    r->now.end = r->lex.token.text + r->lex.token.length;
}

/* Over the current token, which belongs to the statement. */
static void take(struct reader *r)
{
    extend(r);
    sc_lex_next(&r->lex);
}

/* Statements that no semicolon ends. Return: false: it is another */
static bool read_header(struct reader *r)
{
    struct sc_lexer *lex = &r->lex;
    struct sc_joint_statement *s = &r->now;
    if (sc_lex_is_word(lex, ".version")) {
        s->kind = SC_JOINT_VERSION;
        take(r);
        s->number = strtod(lex->token.text, NULL);
        take(r);
    } else if (sc_lex_is_word(lex, ".target")) {
        s->kind = SC_JOINT_TARGET;
        take(r);
        if (lex->token.length > strlen("sm_"))
            s->number = strtod(lex->token.text + strlen("sm_"), NULL);
        for (take(r); sc_lex_is(lex, ','); take(r))
            take(r);
    } else if (sc_lex_is_word(lex, ".address_size")) {
        take(r);
        take(r);
    } else if (sc_lex_is_word(lex, ".file") || sc_lex_is_word(lex, ".loc") ||
               sc_lex_is(lex, '@')) {
        sc_lex_skip_line(lex);
    } else {
        return false;
    }
    return true;
}

/* To the token that ends it. */
static void read_statement(struct reader *r)
{
    struct sc_lexer *lex = &r->lex;
    struct sc_joint_statement *s = &r->now;
    int braces = 0, parens = 0;
    while (lex->token.kind != SC_TOK_END) {
        bool outer = braces == 0 && parens == 0 && !s->name;
        bool function =
            s->kind == SC_JOINT_FUNCTION || s->kind == SC_JOINT_ENTRY;
        if (outer && lex->token.kind == SC_TOK_DOT) {
            note_directive(s, lex);
        } else if (outer && lex->token.kind == SC_TOK_NAME &&
                   (function || s->kind == SC_JOINT_VARIABLE)) {
            s->name = lex->token.text;
            s->name_bytes = lex->token.length;
        }
        parens += sc_lex_is(lex, '(') - sc_lex_is(lex, ')');
        if (sc_lex_is(lex, '{') && braces++ == 0 && function)
            s->body = lex->token.text;
        bool ends = braces <= 0 && sc_lex_is(lex, ';');
        if (sc_lex_is(lex, '}'))
            ends = --braces <= 0 && s->kind != SC_JOINT_VARIABLE;
        extend(r);
        if (ends)
            return;
        sc_lex_next(lex);
    }
}

static bool append(struct sc_joint *joint, const struct sc_joint_statement *s)
{
    if (joint->statement_count == joint->statement_capacity) {
        size_t capacity = joint->statement_capacity * 2 + 64;
        struct sc_joint_statement *grown =
            realloc(joint->statements, capacity * sizeof *grown);
        if (!grown)
            return false;
        joint->statements = grown;
        joint->statement_capacity = capacity;
    }
    joint->statements[joint->statement_count++] = *s;
    return true;
}

/* Return: false: no memory */
static bool read_all(struct reader *r, struct sc_joint *joint)
{
    const char *text = joint->texts[r->now.text];
    if (setjmp(r->load.back) != 0) {
        r->now = (struct sc_joint_statement){.start = r->now.start,
                                             .end = text + strlen(text),
                                             .text = r->now.text,
                                             .kind = SC_JOINT_BAD};
        return append(joint, &r->now);
    }
    sc_lex_init(&r->lex, &r->load, text, strlen(text));
    while (r->lex.token.kind != SC_TOK_END) {
        r->now = (struct sc_joint_statement){.start = r->lex.token.text,
                                             .end = r->lex.token.text,
                                             .text = r->now.text};
        bool header = read_header(r);
        if (!header)
            read_statement(r);
        if (!append(joint, &r->now))
            return false;
        r->now.start = r->now.end;
        if (!header)
            sc_lex_next(&r->lex);
    }
    return true;
}

bool sc_joint_read(struct sc_joint *joint, size_t number)
{
    struct reader reader = {
        .now = {.start = joint->texts[number], .text = number}};
    return read_all(&reader, joint);
}
