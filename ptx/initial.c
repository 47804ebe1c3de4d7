/*
 * Initialisers of module variables: numbers, nested lists, addresses.
 *
 * Owns nothing; writes var->data and var->relocs. Lock: none.
 */
#include "ptx/parser.h"

#include <string.h>

#define MAX_DATA ((uint64_t)256 << 20)

struct initial {
    struct sc_parser *parser;
    struct sc_var *var;
    uint32_t element;             /* bytes */
    uint64_t stride[SC_MAX_DIMS]; /* bytes of one item of that dimension */
    uint64_t *dims;
    uint32_t dim_count;
    size_t data_capacity, reloc_capacity;
};

static void store_bytes(struct initial *in, uint64_t offset, const void *value)
{
    struct sc_load *load = in->parser->load;
    struct sc_var *var = in->var;
    uint64_t end = offset + in->element;
    if (end > MAX_DATA)
        sc_load_fail(load, SC_LOAD_UNSUPPORTED, var->line,
                     "initialiser of '%s' is larger than 256 MiB", var->name);
    if (end > in->data_capacity) {
        size_t capacity = in->data_capacity ? in->data_capacity : 64;
        while (capacity < end)
            capacity *= 2;
        uint8_t *grown = sc_load_alloc(load, capacity, 1);
        if (var->data_bytes)
            memcpy(grown, var->data, var->data_bytes);
        var->data = grown;
        in->data_capacity = capacity;
    }
    memcpy(var->data + offset, value, in->element);
    if (end > var->data_bytes)
        var->data_bytes = end;
}

static uint64_t float_bits(struct initial *in, uint64_t bits, bool single,
                           bool minus)
{
    double wide;
    float narrow;
    if (single) {
        uint32_t low = (uint32_t)bits;
        memcpy(&narrow, &low, sizeof narrow);
        wide = narrow;
    } else {
        memcpy(&wide, &bits, sizeof wide);
    }
    if (minus)
        wide = -wide;
    /* an exact 0f… keeps its payload when it needs no conversion */
    if (in->element == 4 && single && !minus)
        return bits;
    if (in->element == 4) {
        narrow = (float)wide;
        uint32_t low;
        memcpy(&low, &narrow, sizeof low);
        return low;
    }
    memcpy(&bits, &wide, sizeof bits);
    return bits;
}

static void add_reloc(struct initial *in, uint64_t offset, uint64_t mask)
{
    struct sc_parser *parser = in->parser;
    struct sc_var *var = in->var;
    struct sc_reloc reloc = {.offset = offset,
                             .line = parser->lex.token.line,
                             .bytes = (uint8_t)in->element};
    if (mask) {
        reloc.shift = (uint8_t)__builtin_ctzll(mask);
        if (mask >> reloc.shift != 0xff || in->element != 1)
            sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, reloc.line,
                         "address mask 0x%llx; only single bytes are taken",
                         (unsigned long long)mask);
    } else if (in->element != 8) {
        sc_load_fail(parser->load, SC_LOAD_UNSUPPORTED, reloc.line,
                     "address in a %u-byte element of '%s'", in->element,
                     var->name);
    }
    if (sc_lex_is_word(&parser->lex, "generic")) {
        reloc.generic = true;
        sc_lex_next(&parser->lex);
        sc_parse_punct(parser, '(');
    }
    if (parser->lex.token.kind != SC_TOK_NAME)
        sc_parse_expected(parser, "a variable's name");
    reloc.name = parser->lex.token.text;
    reloc.name_length = parser->lex.token.length;
    sc_lex_next(&parser->lex);
    if (reloc.generic)
        sc_parse_punct(parser, ')');
    bool minus = sc_lex_is(&parser->lex, '-');
    if (minus || sc_lex_is(&parser->lex, '+')) {
        sc_lex_next(&parser->lex);
        minus ^= sc_parse_accept(parser, '-');
        int64_t addend = (int64_t)sc_parse_integer(parser, "an offset");
        reloc.addend = minus ? (int64_t)(0 - (uint64_t)addend) : addend;
    }
    var->relocs = sc_load_grow(parser->load, var->relocs, var->reloc_count,
                               &in->reloc_capacity, sizeof *var->relocs);
    var->relocs[var->reloc_count++] = reloc;
    store_bytes(in, offset, &(uint64_t){0});
}

static void parse_value(struct initial *in, uint64_t offset)
{
    struct sc_parser *parser = in->parser;
    bool minus = sc_parse_accept(parser, '-');
    struct sc_token token = parser->lex.token;
    if (token.kind == SC_TOK_NAME && !minus) {
        add_reloc(in, offset, 0);
        return;
    }
    uint64_t bits = token.bits;
    bool wants_float = sc_type_class(in->var->type) == SC_CLASS_FLOAT;
    if (token.kind == SC_TOK_SINGLE || token.kind == SC_TOK_FLOAT) {
        if (in->element < 4)
            sc_parse_expected(parser, "an integer");
        bits = float_bits(in, bits, token.kind == SC_TOK_SINGLE, minus);
    } else if (token.kind != SC_TOK_INT) {
        sc_parse_expected(parser, "a number or a variable's name");
    } else if (wants_float && in->element >= 4) {
        double value = (double)bits;
        memcpy(&bits, &value, sizeof bits);
        bits = float_bits(in, bits, false, minus);
    } else if (minus) {
        bits = 0 - bits;
    }
    sc_lex_next(&parser->lex);
    if (token.kind == SC_TOK_INT && sc_parse_accept(parser, '(')) {
        add_reloc(in, offset, token.bits ? token.bits : 1);
        sc_parse_punct(parser, ')');
        return;
    }
    store_bytes(in, offset, &bits);
}

/* A flat list may fill several dimensions; a nested one fills its own. */
static void parse_list(struct initial *in, uint32_t level, uint64_t base)
{
    struct sc_parser *parser = in->parser;
    if (level >= in->dim_count)
        sc_parse_expected(parser, "fewer braces");
    uint64_t offset = base;
    uint64_t limit = in->dims[level]
                         ? base + in->stride[level] * in->dims[level]
                         : UINT64_MAX;
    sc_parse_punct(parser, '{');
    while (!sc_lex_is(&parser->lex, '}')) {
        if (offset >= limit)
            sc_load_fail(parser->load, SC_LOAD_INVALID, parser->lex.token.line,
                         "more values than '%s' has elements", in->var->name);
        if (sc_lex_is(&parser->lex, '{')) {
            parse_list(in, level + 1, offset);
            offset += in->stride[level];
        } else {
            parse_value(in, offset);
            offset += in->element;
        }
        if (!sc_parse_accept(parser, ','))
            break;
    }
    sc_parse_punct(parser, '}');
    if (!in->dims[level])
        in->dims[level] =
            (offset - base + in->stride[level] - 1) / in->stride[level];
}

void sc_initial_parse(struct sc_parser *parser, struct sc_var *var,
                      uint64_t *dims, uint32_t dim_count)
{
    struct initial in = {.parser = parser,
                         .var = var,
                         .element = sc_type_bytes(var->type),
                         .dims = dims,
                         .dim_count = dim_count};
    if (in.element > 8 || sc_type_class(var->type) == SC_CLASS_PRED)
        sc_parse_expected(parser, "no initialiser for this type");
    uint64_t stride = in.element;
    for (uint32_t i = dim_count; i-- > 0;) {
        in.stride[i] = stride;
        bool usable = i == 0 || dims[i] > 0;
        if (!usable || __builtin_mul_overflow(stride, dims[i], &stride))
            sc_load_fail(parser->load, SC_LOAD_INVALID, var->line,
                         "'%s' has an empty or too large dimension", var->name);
    }
    if (dim_count && sc_lex_is(&parser->lex, '{'))
        parse_list(&in, 0, 0);
    else
        parse_value(&in, 0);
}
