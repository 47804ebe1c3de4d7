/* From `.entry name(.param .f32 a, ...)` to kinds. */
#include "sched/signature.h"

#include <stdbool.h>
#include <string.h>

struct word {
    const char *text;
    size_t length; /* 0: the text has ended */
};

static bool is_of_a_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c != 0 && strchr("._$%", c));
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Behind what white space, a comment or a string there is; `at` where none is.
 * Without libc's functions: a sanitizer has each of them look for the end of the
 * text, word by word. */
static const char *skip_one(const char *at)
{
    if (*at == '"') {
        for (at++; *at && *at != '"' && *at != '\n'; at++)
            ;
        return *at ? at + 1 : at;
    }
    if (at[0] == '/' && at[1] == '/') {
        while (*at && *at != '\n')
            at++;
        return at;
    }
    if (at[0] == '/' && at[1] == '*') {
        for (at += 2; *at && (at[0] != '*' || at[1] != '/'); at++)
            ;
        return *at ? at + 2 : at;
    }
    while (is_space(*at))
        at++;
    return at;
}

static const char *skip(const char *at)
{
    for (const char *end = skip_one(at); end != at; end = skip_one(at))
        at = end;
    return at;
}

/* The next word, or one character that is of none. */
static struct word next(const char **text)
{
    struct word word = {skip(*text), 0};
    while (is_of_a_word(word.text[word.length]))
        word.length++;
    if (word.length == 0 && *word.text)
        word.length = 1;
    *text = word.text + word.length;
    return word;
}

static bool is(struct word word, const char *text)
{
    return word.length == strlen(text) &&
           memcmp(word.text, text, word.length) == 0;
}

/* Of a type; bits (.b32) may be anything. */
static adsmKind kind_of(struct word word)
{
    if (word.length < 3 || word.length > 4 || word.text[0] != '.' ||
        word.text[2] < '0' || word.text[2] > '9')
        return ADSM_ANY_KIND;
    return word.text[1] == 'f'                          ? ADSM_REAL
           : word.text[1] == 'u' || word.text[1] == 's' ? ADSM_INTEGER
                                                        : ADSM_ANY_KIND;
}

/* Up to the parenthesis that ends them. */
static void read_parameters(const char *text, uint8_t *kinds, int most)
{
    int n = -1;
    for (struct word w = next(&text); w.length > 0 && !is(w, ")");
         w = next(&text)) {
        if (is(w, ".param"))
            n++;
        else if (n >= 0 && n < most && kind_of(w) != ADSM_ANY_KIND)
            kinds[n] = (uint8_t)kind_of(w);
    }
}

void adsm_signature_read(const char *text, const char *kernel, uint8_t *kinds,
                         int most)
{
    memset(kinds, ADSM_ANY_KIND, (size_t)most);
    for (struct word w = next(&text); w.length > 0; w = next(&text)) {
        if (!is(w, ".entry") || !is(next(&text), kernel))
            continue;
        if (is(next(&text), "("))
            read_parameters(text, kinds, most);
        return;
    }
}
