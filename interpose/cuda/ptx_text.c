/* PTX text as words and signs; see ptx_text.h. */
#include "interpose/cuda/ptx_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *past_comment(const char *at)
{
    const char *end = at[1] == '/' ? strchr(at, '\n') : strstr(at + 2, "*/");
    if (!end)
        return at + strlen(at);
    return at[1] == '/' ? end + 1 : end + 2;
}

static const char *past_blank(const char *at)
{
    for (;;) {
        if (isspace((unsigned char)*at))
            at++;
        else if (at[0] == '/' && (at[1] == '/' || at[1] == '*'))
            at = past_comment(at);
        else
            return at;
    }
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' ||
           c == '.';
}

/* A pair of colons belongs to an opcode (.shared::cta), one ends a label. */
static const char *past_word(const char *at)
{
    for (;;) {
        if (is_name(*at))
            at++;
        else if (at[0] == ':' && at[1] == ':')
            at += 2;
        else
            return at;
    }
}

static const char *past_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

enum ptx_token ptx_next(struct ptx_text *text)
{
    const char *from = past_blank(text->at), *end;
    text->sign = 0;
    text->word = from;
    if (!*from) {
        end = from;
        text->token = PTX_END;
    } else if (isdigit((unsigned char)*from)) {
        end = past_word(from);
        text->token = PTX_NUMBER;
        text->value = strtoull(from, NULL, 0);
    } else if (is_name(*from)) {
        end = past_word(from);
        text->token = PTX_WORD;
    } else if (*from == '"') {
        end = past_string(from);
        text->token = PTX_STRING;
    } else {
        end = from + 1;
        text->token = PTX_SIGN;
        text->sign = *from;
    }
    text->length = (size_t)(end - from);
    text->at = end;
    return text->token;
}

void ptx_skip_line(struct ptx_text *text)
{
    text->at += strcspn(text->at, "\n");
}

void ptx_skip_block(struct ptx_text *text)
{
    for (int depth = 1; depth > 0 && ptx_next(text) != PTX_END;)
        depth += (text->sign == '{') - (text->sign == '}');
}

bool ptx_is(const struct ptx_text *text, const char *word)
{
    return text->token == PTX_WORD && strlen(word) == text->length &&
           memcmp(word, text->word, text->length) == 0;
}

bool ptx_has(const char *word, size_t length, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= length; i++)
        if (memcmp(word + i, part, n) == 0 &&
            (i + n == length || word[i + n] == '.' || word[i + n] == ':'))
            return true;
    return false;
}
