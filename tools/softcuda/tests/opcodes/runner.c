/*
 * From a case to a kernel, and from its arrays to a verdict.
 *
 * The kernel's arrays have one 64-bit slot per lane whatever the operand
 * width; slots of destinations keep a pattern where nothing may be written.
 */
#include "runner.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "machine.h"
#include "text.h"

/* CTAs of a size that is no multiple of a warp. */
enum { THREADS = 255, CTAS = 8, LANES = THREADS * CTAS };

/* Lanes between the operands of one CTA and the next where all are alike. */
enum { UNIFORM_STEP = 251 };

enum variant { ALL_LANES, GUARDED, BRANCHED, UNIFORM, ALIASED, VARIANTS };

static const char *const variant_names[VARIANTS] = {
    "all lanes", "guarded", "branched", "uniform operands", "aliased"};

/* Bit 0: the lane takes part; bit 1: initial value of a predicate result. */
struct arrays {
    uint64_t *in[OP_SOURCES], *mask, *out[VARIANTS];
};

static const uint64_t untouched = 0xdeadbeefcafef00d;
static const char source_names[OP_SOURCES] = {'a', 'b', 'c', 'e'};

static int bits_of(char kind)
{
    return kind == 'H' ? 16 : kind == 'W' ? 32 : kind == 'D' ? 64 : 1;
}

static void put_register(struct text *t, char kind, char name)
{
    if (kind == 'P')
        text_put(t, ".reg .pred %%%c;\n", name);
    else
        text_put(t, ".reg .b%d %%%c;\n", bits_of(kind), name);
}

static void put_loads(struct text *t, const char *pairs, const char *offset)
{
    for (int k = 0; pairs[2 * k]; k++) {
        char kind = pairs[2 * k], name = source_names[k];
        text_put(t, "add.s64 %%at,%%in%d,%s;\n", k, offset);
        if (kind == 'P')
            text_put(t,
                     "ld.global.u32 %%s0,[%%at];\n"
                     "setp.ne.u32 %%%c,%%s0,0;\n",
                     name);
        else
            text_put(t, "ld.global.b%d %%%c,[%%at];\n", bits_of(kind), name);
    }
}

static void put_initial(struct text *t, char kind)
{
    if (kind == 'P')
        text_put(t, "mov.pred %%d,%%initial;\n");
    else if (kind == 'H')
        text_put(t, "mov.b16 %%d,0xf00d;\n");
    else if (kind == 'W')
        text_put(t, "mov.b32 %%d,0xcafef00d;\n");
    else
        text_put(t, "mov.b64 %%d,0xdeadbeefcafef00d;\n");
}

static void put_store(struct text *t, char kind, int variant)
{
    text_put(t, "add.s64 %%at,%%out%d,%%off;\n", variant);
    if (kind == 'P')
        text_put(t, "selp.u32 %%s0,1,0,%%d;\nst.global.u32 [%%at],%%s0;\n");
    else
        text_put(t, "st.global.b%d [%%at],%%d;\n", bits_of(kind));
}

/* Statements that carry no guard and open no scope can all be guarded. */
static bool can_guard(const char *text)
{
    for (const char *s = text; s; s = strchr(s, ';')) {
        s += strspn(s, "; \n");
        if (*s == '@' || *s == '{' || *s == '.')
            return false;
    }
    return true;
}

static void put_guarded(struct text *t, const char *text)
{
    while (*text) {
        text += strspn(text, " ");
        size_t n = strcspn(text, ";");
        text_put(t, "@%%active %.*s;\n", (int)n, text);
        text += n + (text[n] == ';');
    }
}

/* The text with the first source in the destination's register. */
static void put_aliased(struct text *t, const struct op_case *c)
{
    char kind = c->signature[0];
    if (kind != c->signature[2]) {
        text_put(t, "%s;\n", c->text);
        return;
    }
    text_put(t, "mov.%s %%d,%%a;\n",
             kind == 'P'   ? "pred"
             : kind == 'H' ? "b16"
             : kind == 'W' ? "b32"
                           : "b64");
    for (const char *s = c->text; *s; s++) {
        bool source = s[0] == '%' && s[1] == 'a' && strchr(",;}!. ", s[2]);
        text_put(t, "%s%c", source ? "%" : "", source ? 'd' : *s);
        s += source;
    }
    text_put(t, ";\n");
}

static void put_head(struct text *t, const struct op_case *c)
{
    const char *pairs = c->signature + 2;
    text_put(t, MACHINE_HEAD ".visible .entry one_case(");
    for (int i = 0; i < OP_SOURCES + 1 + VARIANTS; i++)
        text_put(t, "%s.param .u64 p%d", i ? "," : "", i);
    text_put(t,
             ")\n{\n.reg .b64 %%l<8>,%%off,%%coff,%%at,%%in<%d>,%%out<%d>;\n",
             OP_SOURCES, VARIANTS);
    text_put(t, ".reg .b32 %%s<8>,%%x,%%y,%%z;\n.reg .b16 %%h<8>;\n"
                ".reg .pred %%q<8>,%%active,%%initial;\n");
    put_register(t, c->signature[0], 'd');
    for (int k = 0; pairs[2 * k]; k++)
        put_register(t, pairs[2 * k], source_names[k]);
    for (int k = 0; k < OP_SOURCES; k++)
        text_put(t, "ld.param.u64 %%in%d,[p%d];\n", k, k);
    for (int k = 0; k < VARIANTS; k++)
        text_put(t, "ld.param.u64 %%out%d,[p%d];\n", k, OP_SOURCES + 1 + k);
    text_put(t,
             "mov.u32 %%x,%%ctaid.x;\nmov.u32 %%y,%%ntid.x;\n"
             "mov.u32 %%z,%%tid.x;\nmul.wide.u32 %%coff,%%x,%d;\n"
             "mad.lo.u32 %%x,%%x,%%y,%%z;\nmul.wide.u32 %%off,%%x,8;\n",
             8 * UNIFORM_STEP);
    text_put(t,
             "ld.param.u64 %%at,[p%d];\nadd.s64 %%at,%%at,%%off;\n"
             "ld.global.u32 %%x,[%%at];\nand.b32 %%y,%%x,1;\n"
             "setp.ne.u32 %%active,%%y,0;\nand.b32 %%y,%%x,2;\n"
             "setp.ne.u32 %%initial,%%y,0;\n",
             OP_SOURCES);
}

static void put_kernel(struct text *t, const struct op_case *c)
{
    char kind = c->signature[0];
    const char *pairs = c->signature + 2;
    put_head(t, c);
    put_loads(t, pairs, "%off");
    put_initial(t, kind);
    text_put(t, "%s;\n", c->text);
    put_store(t, kind, ALL_LANES);
    put_initial(t, kind);
    if (can_guard(c->text))
        put_guarded(t, c->text);
    else
        text_put(t, "@!%%active bra UNGUARDED;\n%s;\nUNGUARDED:\n", c->text);
    put_store(t, kind, GUARDED);
    put_initial(t, kind);
    text_put(t, "@!%%active bra SKIP;\n%s;\nSKIP:\n", c->text);
    put_store(t, kind, BRANCHED);
    put_initial(t, kind);
    put_aliased(t, c);
    put_store(t, kind, ALIASED);
    put_loads(t, pairs, "%coff");
    put_initial(t, kind);
    text_put(t, "%s;\n", c->text);
    put_store(t, kind, UNIFORM);
    text_put(t, "ret;\n}\n");
}

/* Result a lane must hold when the instruction is masked off there. */
static uint64_t initial_result(char kind, uint64_t mask)
{
    if (kind == 'P')
        return mask >> 1 & 1;
    int unused = 64 - bits_of(kind);
    return untouched << unused >> unused;
}

static uint64_t canonical(uint64_t bits, const struct sfp_format *format,
                          int at, uint64_t open_bits)
{
    int width = 1 + format->exponent_bits + format->mantissa_bits;
    uint64_t all = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    uint64_t one = bits >> at & all;
    if (sfp_unpack(format, one, false).kind == SFP_NAN)
        one = all >> 1;
    return (one & ~(open_bits >> at)) << at;
}

/* Error of `got` against the exact `want`, both finite f32, f16 or bf16 held
 * in the case's type; want is the bits of a double. */
static bool close_enough(const struct op_case *c, uint64_t got, uint64_t want)
{
    const struct sfp_format *format = op_type_format(ARG_TYPE(c));
    struct sfp wide = sfp_unpack(format, got, false);
    uint64_t bits = sfp_pack(&sfp_f64, wide, SFP_RN, 0);
    double g, w;
    memcpy(&g, &bits, sizeof g);
    memcpy(&w, &want, sizeof w);
    double smallest = ldexp(1, 2 - (1 << (format->exponent_bits - 1)));
    double largest = smallest * ldexp(1, (1 << format->exponent_bits) - 3);
    if (isnan(w) || isnan(g))
        return isnan(w) && isnan(g);
    if (w == 0 && !(c->bound < 0))
        return g == 0 && signbit(g) == signbit(w);
    if (fabs(w) < smallest && (c->arg & FTZ))
        return fabs(g) <= smallest * (1 + fabs(c->bound));
    if (isinf(w) || isinf(g))
        return w == g ||
               (isinf(g) && fabs(w) >= largest * 1.99 &&
                signbit(g) == signbit(w)) ||
               (isinf(w) && fabs(g) >= largest * 1.99);
    double ulp = ldexp(smallest, -format->mantissa_bits);
    /* A negative bound is an absolute one. */
    double limit = c->bound < 0 ? -c->bound : c->bound * fabs(w) + ulp / 2;
    return fabs(g - w) <= limit;
}

bool runner_agrees(const struct op_case *c, const uint64_t *in, uint64_t got,
                   uint64_t want, uint64_t open_bits)
{
    static const struct sfp_format *const formats[] = {
        [CMP_F16] = &sfp_f16, [CMP_BF16] = &sfp_bf16, [CMP_F32] = &sfp_f32,
        [CMP_F64] = &sfp_f64, [CMP_F16X2] = &sfp_f16, [CMP_BF16X2] = &sfp_bf16,
    };
    if (got == want || open_bits == UINT64_MAX)
        return true;
    if (c->compare == CMP_BITS)
        return (got & ~open_bits) == (want & ~open_bits);
    if (c->compare == CMP_CLOSE)
        return close_enough(c, got, want);
    const struct sfp_format *format = formats[c->compare];
    uint64_t g = canonical(got, format, 0, open_bits);
    uint64_t w = canonical(want, format, 0, open_bits);
    if (c->compare == CMP_F16X2 || c->compare == CMP_BF16X2) {
        g |= canonical(got, format, 16, open_bits);
        w |= canonical(want, format, 16, open_bits);
    }
    return g == w;
}

static void show(const struct op_case *c, enum variant v, size_t lane,
                 const uint64_t *in, uint64_t got, uint64_t want)
{
    printf("%s  (%s, lane %zu)\n   ", c->text, variant_names[v], lane);
    for (int k = 0; c->signature[2 + 2 * k]; k++)
        printf(" %c=%#" PRIx64, source_names[k], in[k]);
    printf(": got %#" PRIx64 ", want %#" PRIx64 "\n", got, want);
}

/* Return: number of wrong lanes of one variant; the first is shown. */
static size_t check_variant(const struct op_case *c, const struct arrays *a,
                            enum variant v)
{
    size_t wrong = 0;
    char kind = c->signature[0];
    for (size_t lane = 0; lane < LANES; lane++) {
        size_t from = v == UNIFORM ? lane / THREADS * UNIFORM_STEP : lane;
        uint64_t in[OP_SOURCES], got = a->out[v][lane];
        for (int k = 0; k < OP_SOURCES; k++)
            in[k] = a->in[k][from];
        bool masked = (v == GUARDED || v == BRANCHED) && !(a->mask[lane] & 1);
        sfp_open_bits = 0;
        uint64_t want =
            masked ? initial_result(kind, a->mask[lane]) : c->reference(c, in);
        if (masked ? got == want
                   : runner_agrees(c, in, got, want, sfp_open_bits))
            continue;
        if (wrong++ == 0)
            show(c, v, lane, in, got, want);
    }
    return wrong;
}

static void fill(const struct op_case *c, const struct arrays *a, uint64_t seed)
{
    for (int k = 0; k < OP_SOURCES; k++)
        memset(a->in[k], 0, LANES * sizeof(uint64_t));
    input_fill(c->signature, a->in, LANES, seed);
    for (size_t i = 0; i < LANES; i++)
        a->mask[i] = input_random(&seed) >> 40 & 3;
    /* A whole CTA without and one with every lane, too. */
    for (size_t i = 0; i < THREADS; i++) {
        a->mask[i] |= 1;
        a->mask[THREADS + i] &= 2;
    }
    for (int v = 0; v < VARIANTS; v++)
        memset(a->out[v], 0, LANES * sizeof(uint64_t));
}

static struct arrays allocate(void)
{
    struct arrays a;
    size_t bytes = LANES * sizeof(uint64_t);
    for (int k = 0; k < OP_SOURCES; k++)
        a.in[k] = machine_alloc(bytes);
    a.mask = machine_alloc(bytes);
    for (int v = 0; v < VARIANTS; v++)
        a.out[v] = machine_alloc(bytes);
    return a;
}

struct tally {
    size_t passed, failed, refused;
};

static bool launch(const struct op_case *c, const struct arrays *a,
                   const struct sc_module *module)
{
    uint64_t arguments[OP_SOURCES + 1 + VARIANTS];
    struct sc_exec_fault fault = {0};
    for (int k = 0; k < OP_SOURCES; k++)
        arguments[k] = machine_address(a->in[k]);
    arguments[OP_SOURCES] = machine_address(a->mask);
    for (int v = 0; v < VARIANTS; v++)
        arguments[OP_SOURCES + 1 + v] = machine_address(a->out[v]);
    enum sc_exec_status status =
        machine_launch(module, CTAS, THREADS, arguments,
                       sizeof arguments / sizeof *arguments, &fault);
    if (status != SC_EXEC_OK)
        printf("%s: launch failed: %d %s\n", c->text, status, fault.text);
    return status == SC_EXEC_OK;
}

static void run_case(const struct op_case *c, const struct arrays *a,
                     struct tally *tally)
{
    char log[256] = "";
    struct text *t = text_begin();
    struct sc_module *module = NULL;
    put_kernel(t, c);
    enum sc_exec_status status =
        machine_load(&module, t->buffer, log, sizeof log);
    if (status == SC_EXEC_UNSUPPORTED) {
        tally->refused++;
        printf("refused: %s: %s\n", c->text, log);
        return;
    }
    if (status != SC_EXEC_OK) {
        tally->failed++;
        printf("%s: load failed: %d %s\n", c->text, status, log);
        return;
    }
    fill(c, a, input_seed());
    size_t wrong = !launch(c, a, module);
    for (int v = 0; !wrong && v < VARIANTS; v++)
        wrong += check_variant(c, a, v);
    tally->failed += wrong != 0;
    tally->passed += wrong == 0;
    machine_unload(module);
}

void runner_run(const struct op_table *table)
{
    const char *only = getenv("OPCODES_ONLY");
    struct tally tally = {0};
    machine_open();
    struct arrays a = allocate();
    for (size_t i = 0; i < table->count; i++)
        if (!only || strstr(table->cases[i].text, only))
            run_case(&table->cases[i], &a, &tally);
    printf(
        "%s: %zu passed, %zu failed, %zu refused as unsupported, seed %" PRIu64
        "\n",
        table->name, tally.passed, tally.failed, tally.refused, input_seed());
    fflush(stdout);
    machine_close();
    ck_assert_msg(tally.failed == 0, "%zu of %zu cases wrong", tally.failed,
                  table->count);
}
