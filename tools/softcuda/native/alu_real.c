/*
 * f32 and f64 arithmetic as templates.
 *
 * Lock: none.
 */
#include "native/alu_find.h"
#include "ptx/round.h"

#include <stdio.h>
#include <string.h>

#ifdef __x86_64__
enum { HAS_ROUNDING = true };
#else
enum { HAS_ROUNDING = false };
#endif

bool sc_alu_rounding(struct sc_alu_find *find, struct sc_alu_rounding *r)
{
    static const struct {
        enum sc_modifier mod;
        enum sc_round round;
    } modes[] = {{SC_MOD_rn, SC_RN},   {SC_MOD_rz, SC_RZ},
                 {SC_MOD_rm, SC_RM},   {SC_MOD_rp, SC_RP},
                 {SC_MOD_rna, SC_RNA}, {SC_MOD_approx, SC_RN},
                 {SC_MOD_full, SC_RN}};
    *r = (struct sc_alu_rounding){.mode = SC_RN};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (sc_alu_take(find, modes[i].mod))
            r->mode = modes[i].round;
    r->ftz = sc_alu_take(find, SC_MOD_ftz);
    r->sat = sc_alu_take(find, SC_MOD_sat);
    r->relu = sc_alu_take(find, SC_MOD_relu);
    r->flags = r->mode | (r->ftz ? SC_FLAG_FTZ : 0) |
               (r->sat ? SC_FLAG_SAT : 0) | (r->relu ? SC_FLAG_RELU : 0);
    return r->mode == SC_RN || r->mode == SC_RNA || HAS_ROUNDING;
}

/* The processor's number of a direction. */
static int direction(enum sc_round mode)
{
    return mode == SC_RZ ? 3 : mode == SC_RP ? 2 : 1;
}

void sc_alu_pins(const struct sc_alu_rounding *r, struct sc_alu_pins *pins)
{
    *pins = (struct sc_alu_pins){.before = "", .after = ""};
    if (r->mode == SC_RN || r->mode == SC_RNA)
        return;
    snprintf(pins->before, sizeof pins->before, "uint32_t old = s_round(%d); ",
             direction(r->mode));
    pins->after = "s_unround(old); ";
    pins->pinned = true;
}

/* What an operation computes from x, y, z of the type. */
struct real {
    enum sc_opcode opcode;
    uint32_t n;
    const char *single, *wide; /* f32, f64; NULL = no such form */
    bool exact;                /* rounding modes do not apply */
};

static const struct real reals[] = {
    {SC_OP_add, 2, "x + y", "x + y", false},
    {SC_OP_sub, 2, "x - y", "x - y", false},
    {SC_OP_mul, 2, "x * y", "x * y", false},
    {SC_OP_fma, 3, "T_fmaf(x, y, z)", "T_fmad(x, y, z)", false},
    {SC_OP_mad, 3, "T_fmaf(x, y, z)", "T_fmad(x, y, z)", false},
    {SC_OP_div, 2, "x / y", "x / y", false},
    {SC_OP_rcp, 1, "T_bcf(1.0f) / x", "T_bcd(1.0) / x", false},
    {SC_OP_sqrt, 1, "T_sqrtf(x)", "T_sqrtd(x)", false},
    {SC_OP_rsqrt, 1, "T_bcf(1.0f) / T_sqrtf(x)", "T_bcd(1.0) / T_sqrtd(x)",
     false},
    {SC_OP_ex2, 1, "T_ex2f(x)", NULL, true},
    {SC_OP_lg2, 1, "T_lg2f(x)", NULL, true},
    {SC_OP_sin, 1, "T_sine(x, 0)", NULL, true},
    {SC_OP_cos, 1, "T_sine(x, 1)", NULL, true},
    {SC_OP_tanh, 1, "T_tanhf(x)", NULL, true},
};

/* "T_f x = …, y = …; " with flushes and pins */
static void put_inputs(struct sc_alu_find *find, char *text, size_t room,
                       uint32_t n, bool wide, const struct sc_alu_rounding *r,
                       bool pinned)
{
    static const char names[] = "xyz";
    const char *t = wide ? "T_d" : "T_f", *from = wide ? "T_D" : "T_F";
    const char *flush = !r->ftz     ? ""
                        : wide      ? "T_ftzd"
                        : find->raw ? "T_raw"
                                    : "T_ftz";
    const char *pin = !pinned ? "" : wide ? "T_pind" : "T_pinf";
    find->call->raw = find->raw && r->ftz && !wide;
    /* compilers multiply by the inverse of a power of two, which may be
     * subnormal */
    if (find->call->raw && find->inst->opcode == SC_OP_div)
        pin = "T_pinf";
    text[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, room - have, "%s %c = %s(%s(%s(%c))); ", t,
                 names[i], pin, flush, from, 'a' + (int)i);
    }
}

static bool emit(struct sc_alu_find *find, const struct real *real)
{
    bool wide = find->type == SC_T_f64;
    const char *e = wide ? real->wide : real->single;
    struct sc_alu_rounding r;
    struct sc_alu_pins pins;
    char inputs[300];
    if (!e || !sc_alu_rounding(find, &r) ||
        !sc_alu_args(find, find->type, real->n))
        return false;
    sc_alu_pins(&r, &pins);
    if (pins.pinned && real->exact)
        return false;
    put_inputs(find, inputs, sizeof inputs, real->n, wide, &r, pins.pinned);
    const char *flush = real->opcode == SC_OP_sin || real->opcode == SC_OP_cos
                            ? ""
                        : !r.ftz || find->call->raw ? ""
                        : wide                      ? "r = T_ftzd(r); "
                                                    : "r = T_ftz(r); ";
    const char *pin = !pins.pinned ? ""
                      : wide       ? "r = T_pind(r); "
                                   : "r = T_pinf(r); ";
    sc_alu_result(find, find->type, sc_alu_operand(find, 0),
                  "%s%s%s r = %s; %s%s%s%sreturn %s(r);", pins.before, inputs,
                  wide ? "T_d" : "T_f", e, pin, pins.after,
                  !r.sat ? ""
                  : wide ? "r = T_satd(r); "
                         : "r = T_satf(r); ",
                  flush, wide ? "T_L" : "T_U");
    return true;
}

static bool find_minmax(struct sc_alu_find *find, bool is_min)
{
    bool wide = find->type == SC_T_f64, nan, xorsign;
    struct sc_alu_rounding r;
    char inputs[300];
    nan = sc_alu_take(find, SC_MOD_NaN);
    xorsign = sc_alu_take(find, SC_MOD_xorsign);
    if (!sc_alu_rounding(find, &r) || r.mode != SC_RN || r.sat || r.relu ||
        (xorsign && (wide || !sc_alu_take(find, SC_MOD_abs))) ||
        !sc_alu_args(find, find->type, 2))
        return false;
    put_inputs(find, inputs, sizeof inputs, 2, wide, &r, false);
    sc_alu_result(
        find, find->type, sc_alu_operand(find, 0),
        "%s%s%s r = T_%s%c(x, y); %s%s%sreturn %s(r);", inputs,
        xorsign ? "T_32 s = (T_U(x) ^ T_U(y)) & 0x80000000u; "
                  "x = T_F(T_U(x) & 0x7fffffffu); "
                  "y = T_F(T_U(y) & 0x7fffffffu); "
                : "",
        wide ? "T_d" : "T_f", is_min ? "min" : "max", wide ? 'd' : 'f',
        xorsign ? "r = T_F((T_U(r) & 0x7fffffffu) | s); " : "",
        !nan   ? ""
        : wide ? "r = T_nand(x, T_nand(y, r)); "
               : "r = T_nanf(x, T_nanf(y, r)); ",
        r.ftz && !find->raw ? "r = T_ftz(r); " : "", wide ? "T_L" : "T_U");
    return true;
}

/* neg, abs and copysign work on bits; neg and abs flush what they give. */
static bool find_sign(struct sc_alu_find *find)
{
    bool wide = find->type == SC_T_f64;
    bool ftz = sc_alu_take(find, SC_MOD_ftz);
    const char *e = NULL;
    uint32_t n = find->inst->opcode == SC_OP_copysign ? 2 : 1;
    switch (find->inst->opcode) {
    case SC_OP_neg:
        e = wide ? "a ^ 0x8000000000000000u" : "a ^ 0x80000000u";
        break;
    case SC_OP_abs:
        e = wide ? "a & 0x7fffffffffffffffu" : "a & 0x7fffffffu";
        break;
    default:
        e = wide ? "(a & 0x8000000000000000u) | (b & 0x7fffffffffffffffu)"
                 : "(a & 0x80000000u) | (b & 0x7fffffffu)";
    }
    if ((ftz && (wide || n == 2)) || !sc_alu_args(find, find->type, n))
        return false;
    find->call->raw = ftz && find->raw;
    sc_alu_result(
        find, find->type, sc_alu_operand(find, 0),
        ftz && !find->raw ? "return T_U(T_ftz(T_F(%s)));" : "return %s;", e);
    return true;
}

bool sc_alu_find_real(struct sc_alu_find *find)
{
    if ((find->type != SC_T_f32 && find->type != SC_T_f64) ||
        find->inst->type_count != 1)
        return false;
    switch (find->inst->opcode) {
    case SC_OP_min:
        return find_minmax(find, true);
    case SC_OP_max:
        return find_minmax(find, false);
    case SC_OP_neg:
    case SC_OP_abs:
    case SC_OP_copysign:
        return find_sign(find);
    default:
        break;
    }
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (reals[i].opcode == find->inst->opcode)
            return emit(find, &reals[i]);
    return false;
}
