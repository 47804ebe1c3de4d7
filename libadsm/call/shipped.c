/* The shipped operators: their names, and their kernels as text. */
#include "call/shipped.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A text: that of the operator of this name. */
struct adsm_shipped_of {
    const char *name;
    size_t bytes;
    const char *text;
};

/* clang-format off */
static const struct adsm_shipped_of of_sum_i32 = {"sum_i32", 4,
#include <sum_i32_ptx.inc>
};
static const struct adsm_shipped_of of_sum_i64 = {"sum_i64", 8,
#include <sum_i64_ptx.inc>
};
static const struct adsm_shipped_of of_min_f32 = {"min_f32", 4,
#include <min_f32_ptx.inc>
};
static const struct adsm_shipped_of of_min_f64 = {"min_f64", 8,
#include <min_f64_ptx.inc>
};
/* clang-format on */

const struct adsm_shipped adsm_shipped[ADSM_SHIPPED] = {
#define X(name, op, type, of, combine, none)                                   \
    {#name, op, type, &of_##of, combine, none},
#include "call/shipped.def"
#undef X
};

static int find(adsmOp op, adsmType type)
{
    for (int i = 0; i < ADSM_SHIPPED; i++)
        if (adsm_shipped[i].op == op && adsm_shipped[i].type == type)
            return i;
    return -1;
}

int adsm_shipped_find(adsmOp op, adsmType type)
{
    int i = find(op, type);
    if (i < 0 && type == ADSM_U32)
        i = find(op, ADSM_I32);
    if (i < 0 && type == ADSM_U64)
        i = find(op, ADSM_I64);
    return i;
}

size_t adsm_shipped_bytes(const struct adsm_shipped *shipped)
{
    return shipped->of->bytes;
}

/* ---- text ---------------------------------------------------------------- */

/* Whether that is there; if so `at` goes behind it. */
static bool goes_on(const char **at, const char *that)
{
    size_t n = strlen(that);
    if (strncmp(*at, that, n) != 0)
        return false;
    *at += n;
    return true;
}

/* The operator's own word for the one that is there, which `at` goes behind;
 * NULL: it has none. */
static const char *own_word(const struct adsm_shipped *shipped, const char **at)
{
    if (goes_on(at, shipped->of->name))
        return shipped->name;
    const char *own = goes_on(at, "/*combine*/ ") ? shipped->combine
                      : goes_on(at, "/*none*/ ")  ? shipped->none
                                                  : NULL;
    if (own)
        *at += strcspn(*at, " ;");
    return own;
}

/* How long its text is; `to` may be NULL. */
static size_t put(const struct adsm_shipped *shipped, char *to)
{
    size_t all = 0;
    for (const char *at = shipped->of->text; *at;) {
        const char *own = own_word(shipped, &at);
        size_t n = own ? strlen(own) : 1;
        if (to)
            memcpy(to + all, own ? own : at, n);
        if (!own)
            at++;
        all += n;
    }
    return all;
}

char *adsm_shipped_text(const struct adsm_shipped *shipped)
{
    size_t all = put(shipped, NULL);
    char *text = malloc(all + 1);
    if (text) {
        (void)put(shipped, text);
        text[all] = '\0';
    }
    return text;
}
