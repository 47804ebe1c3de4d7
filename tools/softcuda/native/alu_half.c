/*
 * f16 and bf16 arithmetic as templates: lane by lane, in double.
 *
 * Lock: none.
 */
#include "native/alu_find.h"
#include "ptx/round.h"

#include <stdio.h>
#include <string.h>

static const struct {
    enum sc_opcode opcode;
    uint32_t n;
    const char *f16, *bf16;
} halves[] = {
    {SC_OP_add, 2, "x + y", "x + y"},
    {SC_OP_sub, 2, "x - y", "x - y"},
    {SC_OP_mul, 2, "x * y", "x * y"},
    {SC_OP_fma, 3, "__builtin_fma(x, y, z)", "sc_fma_odd(x, y, z)"},
    {SC_OP_mad, 3, "__builtin_fma(x, y, z)", "sc_fma_odd(x, y, z)"},
    {SC_OP_min, 2, "sc_half_extreme(x, y, 0, %u)",
     "sc_half_extreme(x, y, 0, %u)"},
    {SC_OP_max, 2, "sc_half_extreme(x, y, 1, %u)",
     "sc_half_extreme(x, y, 1, %u)"},
    {SC_OP_ex2, 1, "sc_cut_f16(s_ex2f((float)x))", "s_ex2f((float)x)"},
    {SC_OP_tanh, 1, "s_tanhf((float)x)", "s_tanhf((float)x)"},
};

/* "x = …, y = …; w = …" of the halves that begin at bit `from` */
static void put_part(char *text, size_t room, uint32_t n, bool is_bf16,
                     const char *e, unsigned flags, int from)
{
    static const char names[] = "xyz";
    const char *f = is_bf16 ? "bf16" : "f16";
    const char *least = is_bf16 ? "0x1p-126" : "0x1p-14";
    char flushed[96];
    text[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t have = strlen(text);
        snprintf(flushed, sizeof flushed, "sc_%s_f32((uint16_t)(%c >> %d))", f,
                 'a' + (int)i, from);
        if (flags & SC_FLAG_FTZ)
            snprintf(text + have, room - have,
                     "%c = sc_half_flush(%s, %s, %u); ", names[i], flushed,
                     least, flags);
        else
            snprintf(text + have, room - have, "%c = %s; ", names[i], flushed);
    }
    size_t have = strlen(text);
    snprintf(text + have, room - have,
             flags & SC_FLAG_FTZ
                 ? "w = sc_half_flush(sc_limit(%s, %u), %s, %u); "
                 : "w = sc_limit(%s, %u); ",
             e, flags, least, flags);
}

static bool emit(struct sc_alu_find *find, uint32_t n, const char *format)
{
    bool is_bf16 = find->type == SC_T_bf16 || find->type == SC_T_bf16x2;
    bool pair = sc_alu_bits(find->type) == 32;
    struct sc_alu_rounding r;
    char e[96], part[300], more[400] = "";
    bool nan = sc_alu_take(find, SC_MOD_NaN);
    bool xorsign = sc_alu_take(find, SC_MOD_xorsign);
    if (xorsign)
        sc_alu_take(find, SC_MOD_abs);
    if (!sc_alu_rounding(find, &r) || r.mode != SC_RN ||
        !sc_alu_args(find, find->type, n))
        return false;
    unsigned flags =
        r.flags | (nan ? SC_FLAG_NAN : 0) | (xorsign ? SC_FLAG_ABS : 0);
    snprintf(e, sizeof e, format, flags);
    if (pair) {
        put_part(part, sizeof part, n, is_bf16, e, flags, 16);
        snprintf(more, sizeof more,
                 "%sr |= (uint32_t)sc_f64_%s(w, SC_RN) << "
                 "16; ",
                 part, is_bf16 ? "bf16" : "f16");
    }
    put_part(part, sizeof part, n, is_bf16, e, flags, 0);
    find->call->form = SC_ALU_LANES;
    sc_alu_result(find, find->type, sc_alu_operand(find, 0),
                  "double x, y, z, w; %suint32_t r = sc_f64_%s(w, SC_RN); "
                  "%sreturn r;",
                  part, is_bf16 ? "bf16" : "f16", more);
    return true;
}

/* Sign operations keep every other bit; a flush comes after. */
static bool find_sign(struct sc_alu_find *find, bool is_abs)
{
    bool pair = sc_alu_bits(find->type) == 32;
    bool ftz = sc_alu_take(find, SC_MOD_ftz);
    bool f16 = find->type == SC_T_f16 || find->type == SC_T_f16x2;
    const char *e = is_abs ? (pair ? "a & 0x7fff7fffu" : "a & 0x7fffu")
                           : (pair ? "a ^ 0x80008000u" : "a ^ 0x8000u");
    if ((ftz && !f16) || !sc_alu_args(find, find->type, 1))
        return false;
    sc_alu_result(find, find->type, sc_alu_operand(find, 0),
                  !ftz   ? "return %s;"
                  : pair ? "a = %s; return T_hftz(a & 0xffffu) | T_hftz(a >> "
                           "16) << 16;"
                         : "return T_hftz(%s);",
                  e);
    return true;
}

bool sc_alu_find_half(struct sc_alu_find *find)
{
    bool f16 = find->type == SC_T_f16 || find->type == SC_T_f16x2;
    if ((!f16 && find->type != SC_T_bf16 && find->type != SC_T_bf16x2) ||
        find->inst->type_count != 1)
        return false;
    if (find->inst->opcode == SC_OP_neg || find->inst->opcode == SC_OP_abs)
        return find_sign(find, find->inst->opcode == SC_OP_abs);
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        if (halves[i].opcode == find->inst->opcode)
            return emit(find, halves[i].n,
                        f16 ? halves[i].f16 : halves[i].bf16);
    return false;
}
