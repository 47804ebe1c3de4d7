/* Texts of boxes, read and computed at once; see expression.h. */
#include "call/expression.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

struct reader {
    const char *text, *at;
    const struct adsm_expression_values *values;
    struct adsm_expression *out;
    uint8_t follows; /* of the index that is being read */
    int depth;       /* parentheses that are open */
};

/* All that is read ends with the first thing that is wrong. */
static bool fail(struct reader *r, const char *at, const char *expected)
{
    r->out->column = (int)(at - r->text) + 1;
    r->out->expected = expected;
    return false;
}

static char peek(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n')
        r->at++;
    return *r->at;
}

static bool accept(struct reader *r, char c)
{
    if (peek(r) != c)
        return false;
    r->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The dimension that a letter stands for; -1: none. */
static int dimension_of(char c)
{
    return c >= 'i' && c <= 'k' ? c - 'i' : -1;
}

/* ---- sums ------------------------------------------------------------------ */

static bool read_number(struct reader *r, long *value)
{
    const char *begin = r->at;
    *value = 0;
    for (; is_digit(*r->at); r->at++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, *r->at - '0', value))
            return fail(r, begin, "a number below 2^63");
    return true;
}

/* i0 to k1; the letter is there. */
static bool read_bound(struct reader *r, long *value)
{
    const adsmBox *part = r->values->part;
    int d = dimension_of(*r->at);
    if (d >= part->nd)
        return fail(r, r->at, "a dimension that the range has");
    char end = r->at[1];
    if (end != '0' && end != '1')
        return fail(r, r->at + 1, "0 or 1, for where the part begins or ends");
    r->at += 2;
    r->follows |= (uint8_t)(1u << d);
    *value = end == '0' ? part->lo[d] : part->hi[d];
    return true;
}

/* N0 to N2. */
static bool read_extent(struct reader *r, long *value)
{
    int d = r->at[1] - '0';
    if (!is_digit(r->at[1]) || d >= r->values->nd)
        return fail(r, r->at + 1, "a dimension that the array has");
    r->at += 2;
    *value = r->values->extent[d];
    return true;
}

/* $1 to $4. */
static bool read_param(struct reader *r, long *value)
{
    int i = r->at[1] - '1';
    if (!is_digit(r->at[1]) || i < 0 || i >= r->values->params)
        return fail(r, r->at + 1, "the number of a parameter that is given");
    r->at += 2;
    r->out->has_params = true;
    *value = r->values->param[i];
    return true;
}

static bool read_sum(struct reader *r, long *value);

static bool read_group(struct reader *r, long *value)
{
    if (r->depth == ADSM_EXPRESSION_PARENTHESES)
        return fail(r, r->at, "fewer parentheses within one another");
    r->at++;
    r->depth++;
    if (!read_sum(r, value))
        return false;
    r->depth--;
    return accept(r, ')') || fail(r, r->at, "an operator or ')'");
}

static bool read_factor(struct reader *r, long *value)
{
    bool minus = false;
    const char *begin = r->at;
    while (accept(r, '-'))
        minus = !minus;
    char c = peek(r);
    bool good =
        is_digit(c)            ? read_number(r, value)
        : dimension_of(c) >= 0 ? read_bound(r, value)
        : c == 'N'             ? read_extent(r, value)
        : c == '$'             ? read_param(r, value)
        : c == '('
            ? read_group(r, value)
            : fail(r, r->at,
                   "a number, i0, i1, j0, j1, k0, k1, N0, N1, N2, $1 to $4 "
                   "or '('");
    if (good && minus && __builtin_sub_overflow(0, *value, value))
        return fail(r, begin, "a value of 63 bits");
    return good;
}

static bool read_product(struct reader *r, long *value)
{
    long factor;
    if (!read_factor(r, value))
        return false;
    while (accept(r, '*')) {
        const char *sign = r->at - 1;
        if (!read_factor(r, &factor))
            return false;
        if (__builtin_mul_overflow(*value, factor, value))
            return fail(r, sign, "a product of 63 bits");
    }
    return true;
}

static bool read_sum(struct reader *r, long *value)
{
    long next;
    if (!read_product(r, value))
        return false;
    for (;;) {
        bool minus = accept(r, '-');
        if (!minus && !accept(r, '+'))
            return true;
        const char *sign = r->at - 1;
        if (!read_product(r, &next))
            return false;
        if (minus ? __builtin_sub_overflow(*value, next, value)
                  : __builtin_add_overflow(*value, next, value))
            return fail(r, sign, "a sum of 63 bits");
    }
}

/* ---- boxes ------------------------------------------------------------------ */

/* [i], [j] or [k], whose letter is there. */
static bool read_own(struct reader *r, long *lo, long *hi)
{
    int d = dimension_of(*r->at);
    if (d >= r->values->part->nd)
        return fail(r, r->at, "a dimension that the range has");
    r->at++;
    r->follows = (uint8_t)(1u << d);
    *lo = r->values->part->lo[d];
    *hi = r->values->part->hi[d];
    return accept(r, ']') ||
           fail(r, r->at, "0 or 1, or ']' behind what is all of i0:i1");
}

static bool read_index(struct reader *r, int d, long *lo, long *hi)
{
    *lo = 0;
    *hi = r->values->extent[d];
    r->follows = 0;
    if (dimension_of(peek(r)) >= 0 && r->at[1] != '0' && r->at[1] != '1')
        return read_own(r, lo, hi);
    bool colon = accept(r, ':');
    if (!colon) {
        if (!read_sum(r, lo))
            return false;
        colon = accept(r, ':');
        if (!colon && __builtin_add_overflow(*lo, 1, hi))
            return fail(r, r->at, "a sum of 63 bits");
    }
    if (colon && peek(r) != ']' && !read_sum(r, hi))
        return false;
    return accept(r, ']') ||
           fail(r, r->at,
                colon ? "an operator or ']'" : "an operator, ':' or ']'");
}

static bool read_box(struct reader *r, adsmBox *box)
{
    memset(box, 0, sizeof *box);
    box->nd = r->values->nd;
    for (int d = 0; d < box->nd; d++) {
        if (!accept(r, '['))
            return fail(r, r->at, "'[', once for each dimension of the array");
        if (!read_index(r, d, &box->lo[d], &box->hi[d]))
            return false;
        r->out->follows[d] |= r->follows;
    }
    return true;
}

bool adsm_expression_read(const char *text,
                          const struct adsm_expression_values *values,
                          struct adsm_expression *out)
{
    struct reader r = {.text = text, .at = text, .values = values, .out = out};
    out->count = 0;
    out->has_params = false;
    memset(out->follows, 0, sizeof out->follows);
    do {
        if (out->count == ADSM_EXPRESSION_BOXES)
            return fail(&r, r.at - 1, "the end: there are 8 boxes");
        if (!read_box(&r, &out->box[out->count]))
            return false;
        out->count++;
    } while (accept(&r, '|'));
    return peek(&r) == '\0' || fail(&r, r.at, "'|' or the end");
}

/* ---- and back --------------------------------------------------------------- */

/* The least number has no text: what is read is a sign and its opposite. */
static const char *print_number(long value, char digits[24])
{
    if (value == LONG_MIN)
        return "-9223372036854775807-1";
    snprintf(digits, 24, "%ld", value);
    return digits;
}

void adsm_expression_print(const adsmBox *box,
                           char text[ADSM_EXPRESSION_PRINTED])
{
    char lo[24], hi[24];
    size_t used = 0;
    text[0] = '\0';
    for (int d = 0; d < box->nd; d++)
        used += (size_t)snprintf(text + used, ADSM_EXPRESSION_PRINTED - used,
                                 "[%s:%s]", print_number(box->lo[d], lo),
                                 print_number(box->hi[d], hi));
}
