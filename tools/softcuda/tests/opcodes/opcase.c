/*
 * Growing case tables and the PTX fundamental types behind them.
 *
 * Knows no opcode. No lock: tables are filled by one thread.
 */
#include "opcase.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int bits;
    bool is_signed;
    const struct sfp_format *format;
    enum op_compare compare;
} types[OP_TYPES] = {
    [U8] = {.name = "u8", .bits = 8},
    [S8] = {.name = "s8", .bits = 8, .is_signed = true},
    [U16] = {.name = "u16", .bits = 16},
    [S16] = {.name = "s16", .bits = 16, .is_signed = true},
    [U32] = {.name = "u32", .bits = 32},
    [S32] = {.name = "s32", .bits = 32, .is_signed = true},
    [U64] = {.name = "u64", .bits = 64},
    [S64] = {.name = "s64", .bits = 64, .is_signed = true},
    [F16] = {"f16", 16, true, &sfp_f16, CMP_F16},
    [BF16] = {"bf16", 16, true, &sfp_bf16, CMP_BF16},
    [F32] = {"f32", 32, true, &sfp_f32, CMP_F32},
    [F64] = {"f64", 64, true, &sfp_f64, CMP_F64},
    [B16] = {.name = "b16", .bits = 16},
    [B32] = {.name = "b32", .bits = 32},
    [B64] = {.name = "b64", .bits = 64},
};

static void push(struct op_table *table, struct op_case c)
{
    if (table->count == table->room) {
        table->room = table->room ? table->room * 2 : 256;
        table->cases =
            realloc(table->cases, table->room * sizeof *table->cases);
        if (!table->cases)
            abort();
    }
    table->cases[table->count++] = c;
}

static char *copied(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    return copy;
}

void op_free(struct op_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        free((char *)table->cases[i].text);
        free((char *)table->cases[i].signature);
    }
    free(table->cases);
}

void op_emit(struct op_table *table, struct op_case c, const char *format, ...)
{
    va_list args;
    char *text;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        abort();
    va_end(args);
    c.text = text;
    c.signature = copied(c.signature);
    push(table, c);
}

void op_append(struct op_table *table, const struct op_case *cases,
               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct op_case c = cases[i];
        c.text = copied(c.text);
        c.signature = copied(c.signature);
        push(table, c);
    }
}

const char *op_type_name(enum op_type type)
{
    return types[type].name;
}

int op_type_bits(enum op_type type)
{
    return types[type].bits;
}

char op_type_kind(enum op_type type)
{
    return types[type].bits == 64 ? 'D' : types[type].bits == 32 ? 'W' : 'H';
}

bool op_type_is_signed(enum op_type type)
{
    return types[type].is_signed;
}

bool op_type_is_float(enum op_type type)
{
    return types[type].format != NULL;
}

const struct sfp_format *op_type_format(enum op_type type)
{
    return types[type].format;
}

enum op_compare op_type_compare(enum op_type type)
{
    return types[type].compare;
}

sfp_i128 op_int(enum op_type type, uint64_t bits)
{
    int unused = 64 - types[type].bits;
    bits <<= unused;
    if (types[type].is_signed)
        return (int64_t)bits >> unused;
    return bits >> unused;
}

uint64_t op_wrap(enum op_type type, sfp_i128 value)
{
    int unused = 64 - types[type].bits;
    return (uint64_t)value << unused >> unused;
}

sfp_i128 op_type_min(enum op_type type)
{
    if (!types[type].is_signed)
        return 0;
    return -((sfp_i128)1 << (types[type].bits - 1));
}

sfp_i128 op_type_max(enum op_type type)
{
    int bits = types[type].bits - types[type].is_signed;
    return ((sfp_i128)1 << bits) - 1;
}

sfp_i128 op_clamp(enum op_type type, sfp_i128 value)
{
    sfp_i128 low = op_type_min(type), high = op_type_max(type);
    return value < low ? low : value > high ? high : value;
}

int op_pack_flags(const struct op_case *c)
{
    return (c->arg & FTZ ? SFP_FTZ : 0) | (c->arg & SAT ? SFP_SAT : 0);
}
