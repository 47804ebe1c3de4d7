/*
 * PTX text to tokens; see ptx/lex.h.
 *
 * Lock: none.
 */
#include "ptx/lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NUMBER 63

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool is_name_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static char peek(const struct sc_lexer *lexer, size_t offset)
{
    return (size_t)(lexer->end - lexer->at) > offset ? lexer->at[offset] : 0;
}

static void skip_block_comment(struct sc_lexer *lexer)
{
    uint32_t start = lexer->line;
    for (lexer->at += 2; lexer->at < lexer->end; lexer->at++) {
        if (peek(lexer, 0) == '*' && peek(lexer, 1) == '/') {
            lexer->at += 2;
            return;
        }
        lexer->line += *lexer->at == '\n';
    }
    sc_load_fail(lexer->load, SC_LOAD_INVALID, start, "comment without end");
}

static void skip_line(struct sc_lexer *lexer)
{
    while (lexer->at < lexer->end && *lexer->at != '\n')
        lexer->at++;
}

static void skip_blank(struct sc_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        if (c == '/' && peek(lexer, 1) == '/') {
            skip_line(lexer);
        } else if (c == '/' && peek(lexer, 1) == '*') {
            skip_block_comment(lexer);
        } else if (isspace((unsigned char)c)) {
            lexer->line += c == '\n';
            lexer->at++;
        } else {
            return;
        }
    }
}

static void read_name(struct sc_lexer *lexer)
{
    lexer->at++;
    while (is_name_part(peek(lexer, 0)))
        lexer->at++;
    lexer->token.kind = SC_TOK_NAME;
}

static void read_dot(struct sc_lexer *lexer)
{
    lexer->at++;
    while (is_name_part(peek(lexer, 0)) ||
           (peek(lexer, 0) == ':' && peek(lexer, 1) == ':')) {
        lexer->at += peek(lexer, 0) == ':' ? 2 : 1;
    }
    lexer->token.kind = SC_TOK_DOT;
}

static void read_string(struct sc_lexer *lexer)
{
    for (lexer->at++; lexer->at < lexer->end; lexer->at++) {
        if (*lexer->at == '\\' && peek(lexer, 1))
            lexer->at++;
        else if (*lexer->at == '"')
            break;
        lexer->line += *lexer->at == '\n';
    }
    if (lexer->at >= lexer->end)
        sc_load_fail(lexer->load, SC_LOAD_INVALID, lexer->token.line,
                     "string without end");
    lexer->at++;
    lexer->token.kind = SC_TOK_STRING;
}

static _Noreturn void bad_number(struct sc_lexer *lexer)
{
    sc_load_fail(lexer->load, SC_LOAD_INVALID, lexer->token.line,
                 "bad number '%.*s'", (int)lexer->token.length,
                 lexer->token.text);
}

/* 0f and exactly 8 hex digits, or 0d and exactly 16 */
static void parse_float_bits(struct sc_lexer *lexer, const char *text,
                             size_t digits)
{
    char *end;
    lexer->token.bits = strtoull(text + 2, &end, 16);
    if (strlen(text) != digits + 2 || *end || !isxdigit((unsigned char)text[2]))
        bad_number(lexer);
    lexer->token.kind = digits == 8 ? SC_TOK_SINGLE : SC_TOK_FLOAT;
}

static void parse_integer(struct sc_lexer *lexer, char *text)
{
    size_t length = strlen(text);
    if (length > 1 && (text[length - 1] == 'U' || text[length - 1] == 'u'))
        text[--length] = 0;
    int base = 10;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        base = 16;
    else if (text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
        base = 2;
    else if (text[0] == '0')
        base = 8;
    const char *digits = base == 16 || base == 2 ? text + 2 : text;
    uint64_t value = 0;
    for (const char *c = digits; *c; c++) {
        int digit = isdigit((unsigned char)*c) ? *c - '0'
                    : isxdigit((unsigned char)*c)
                        ? tolower((unsigned char)*c) - 'a' + 10
                        : 99;
        if (digit >= base ||
            __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            bad_number(lexer);
    }
    if (!*digits)
        bad_number(lexer);
    lexer->token.bits = value;
    lexer->token.kind = SC_TOK_INT;
}

static void parse_decimal(struct sc_lexer *lexer, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (*end)
        bad_number(lexer);
    memcpy(&lexer->token.bits, &value, sizeof value);
    lexer->token.kind = SC_TOK_FLOAT;
}

/* Decimal floats hold one dot and an exponent whose sign belongs to them. */
static bool scan_number(struct sc_lexer *lexer)
{
    bool decimal = false;
    bool hex = peek(lexer, 0) == '0' && strchr("xXfFdDbB", peek(lexer, 1)) &&
               peek(lexer, 1);
    for (;; lexer->at++) {
        char c = peek(lexer, 0);
        if (!hex && c == '.' && isdigit((unsigned char)peek(lexer, 1))) {
            decimal = true;
        } else if (!hex && (c == 'e' || c == 'E')) {
            decimal = true;
            char sign = peek(lexer, 1);
            lexer->at += sign == '+' || sign == '-';
        } else if (!is_name_part(c)) {
            return decimal;
        }
    }
}

static void read_number(struct sc_lexer *lexer)
{
    const char *start = lexer->at;
    bool decimal = scan_number(lexer);
    size_t length = (size_t)(lexer->at - start);
    lexer->token.length = (uint32_t)(length > MAX_NUMBER ? MAX_NUMBER : length);
    if (length > MAX_NUMBER)
        bad_number(lexer);
    char text[MAX_NUMBER + 1] = {0};
    memcpy(text, start, length);
    char mark = text[0] == '0' ? text[1] : 0;
    if (decimal)
        parse_decimal(lexer, text);
    else if (mark == 'f' || mark == 'F')
        parse_float_bits(lexer, text, 8);
    else if (mark == 'd' || mark == 'D')
        parse_float_bits(lexer, text, 16);
    else
        parse_integer(lexer, text);
}

static void read_punct(struct sc_lexer *lexer)
{
    char c = *lexer->at++;
    if (!c || !strchr("{}()[]<>,;:=+-*/!@|&~^?", c))
        sc_load_fail(lexer->load, SC_LOAD_INVALID, lexer->token.line,
                     isprint((unsigned char)c) ? "unexpected character '%c'"
                                               : "unexpected byte 0x%02x",
                     (unsigned char)c);
    lexer->token.kind = SC_TOK_PUNCT;
    lexer->token.punct = c;
}

void sc_lex_next(struct sc_lexer *lexer)
{
    const char *before = lexer->at;
    skip_blank(lexer);
    struct sc_token *token = &lexer->token;
    *token = (struct sc_token){.kind = SC_TOK_END,
                               .text = lexer->at,
                               .line = lexer->line,
                               .glued = lexer->at == before};
    if (lexer->at >= lexer->end)
        return;
    char c = *lexer->at;
    if (is_name_start(c))
        read_name(lexer);
    else if (c == '.' && is_name_part(peek(lexer, 1)))
        read_dot(lexer);
    else if (isdigit((unsigned char)c))
        read_number(lexer);
    else if (c == '"')
        read_string(lexer);
    else
        read_punct(lexer);
    token->length = (uint32_t)(lexer->at - token->text);
}

void sc_lex_init(struct sc_lexer *lexer, struct sc_load *load, const char *text,
                 size_t bytes)
{
    *lexer = (struct sc_lexer){
        .load = load, .at = text, .end = text + bytes, .line = 1};
    sc_lex_next(lexer);
}

void sc_lex_skip_line(struct sc_lexer *lexer)
{
    if (lexer->line == lexer->token.line)
        skip_line(lexer);
    sc_lex_next(lexer);
}

bool sc_lex_is(const struct sc_lexer *lexer, char punct)
{
    return lexer->token.punct == punct;
}

bool sc_lex_is_word(const struct sc_lexer *lexer, const char *word)
{
    size_t length = strlen(word);
    return lexer->token.length == length &&
           memcmp(lexer->token.text, word, length) == 0;
}
