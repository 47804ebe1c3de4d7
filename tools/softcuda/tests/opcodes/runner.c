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

#include "case_kernel.h"
#include "inputs.h"
#include "machine.h"
#include "record.h"

/* CTAs of a size that is no multiple of a warp. */
enum { THREADS = 255, CTAS = 8, LANES = THREADS * CTAS };

static const char *const variant_names[VARIANTS] = {
    "all lanes", "guarded", "branched", "uniform operands", "aliased"};

/* Bit 0: the lane takes part; bit 1: initial value of a predicate result. */
struct arrays {
    uint64_t *in[OP_SOURCES], *mask, *out[VARIANTS];
};

static const uint64_t untouched = 0xdeadbeefcafef00d;
static const char source_names[OP_SOURCES] = {'a', 'b', 'c', 'e'};

/* Result a lane must hold when the instruction is masked off there. */
static uint64_t initial_result(char kind, uint64_t mask)
{
    if (kind == 'P')
        return mask >> 1 & 1;
    int unused = 64 - case_kernel_bits(kind);
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

uint64_t runner_canonical(const struct op_case *c, uint64_t bits,
                          uint64_t open_bits)
{
    static const struct sfp_format *const formats[] = {
        [CMP_F16] = &sfp_f16, [CMP_BF16] = &sfp_bf16, [CMP_F32] = &sfp_f32,
        [CMP_F64] = &sfp_f64, [CMP_F16X2] = &sfp_f16, [CMP_BF16X2] = &sfp_bf16,
    };
    if (c->compare == CMP_BITS)
        return bits & ~open_bits;
    const struct sfp_format *format = formats[c->compare];
    uint64_t one = canonical(bits, format, 0, open_bits);
    if (c->compare == CMP_F16X2 || c->compare == CMP_BF16X2)
        one |= canonical(bits, format, 16, open_bits);
    return one;
}

bool runner_agrees(const struct op_case *c, uint64_t got, uint64_t want,
                   uint64_t open_bits)
{
    if (got == want || open_bits == UINT64_MAX)
        return true;
    if (c->compare == CMP_CLOSE)
        return close_enough(c, got, want);
    return runner_canonical(c, got, open_bits) ==
           runner_canonical(c, want, open_bits);
}

static void show(const struct op_case *c, enum variant v, size_t lane,
                 const uint64_t *in, uint64_t got, uint64_t want)
{
    printf("%s  (%s, lane %zu)\n   ", c->text, variant_names[v], lane);
    for (int k = 0; c->signature[2 + 2 * k]; k++)
        printf(" %c=%#" PRIx64, source_names[k], in[k]);
    printf(": got %#" PRIx64 ", want %#" PRIx64 "\n", got, want);
}

bool runner_loses_guard(const struct op_case *c)
{
    static const char *const always[] = {"testp.",
                                         "vadd4.u32.u32.u32.add %d,%a,%b,%c",
                                         "vsub4.u32.u32.u32.add %d,%a,%b,%c"};
    const char *text = c->text;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (strncmp(text, always[i], strlen(always[i])) == 0)
            return true;
    bool narrow = strstr(text, "16 %d") && !strstr(text, ".u16.");
    return strncmp(text, "set.", 4) == 0 && (narrow || strstr(text, ".f32."));
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
        uint64_t want = masked ? initial_result(kind, a->mask[lane])
                               : runner_reference(c, in);
        if (masked ? got == want || (v == GUARDED && !machine_keeps_guards() &&
                                     runner_loses_guard(c))
                   : runner_agrees(c, got, want, sfp_open_bits))
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

/* The reference's answer; what it leaves open is in sfp_open_bits. */
uint64_t runner_reference(const struct op_case *c, const uint64_t *in)
{
    sfp_open_bits = 0;
    return c->reference(c, in);
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

enum sc_exec_status runner_load(const struct op_case *c,
                                struct sc_module **module, char *log,
                                size_t log_bytes)
{
    struct text *t = text_begin();
    case_kernel_put(t, c);
    return machine_load(module, t->buffer, log, log_bytes);
}

/* Load and launch; whatever fails fails the test. */
static void must_run(const struct op_case *c, const struct arrays *a)
{
    char log[256] = "";
    struct sc_module *module = NULL;
    ck_assert_msg(runner_load(c, &module, log, sizeof log) == SC_EXEC_OK,
                  "%s: %s", c->text, log);
    ck_assert(launch(c, a, module));
    machine_unload(module);
}

uint64_t runner_one(const struct op_case *c, const uint64_t *in)
{
    machine_forget();
    struct arrays a = allocate();
    for (int k = 0; k < OP_SOURCES; k++)
        for (size_t lane = 0; lane < LANES; lane++)
            a.in[k][lane] = in[k];
    must_run(c, &a);
    return a.out[ALL_LANES][0];
}

uint64_t runner_sum(const struct op_case *c)
{
    machine_forget();
    struct arrays a = allocate();
    fill(c, &a, input_seed());
    must_run(c, &a);
    return record_sum(c, a.in, a.out[ALL_LANES], LANES);
}

static void run_case(const struct op_case *c, const struct arrays *a,
                     struct tally *tally)
{
    char log[256] = "";
    struct sc_module *module = NULL;
    enum sc_exec_status status = runner_load(c, &module, log, sizeof log);
    if (status == SC_EXEC_UNSUPPORTED) {
        tally->refused++;
        printf("refused: %s: %s\n", c->text, log);
        return;
    }
    if (status != SC_EXEC_OK) {
        tally->failed++;
        printf("%s: load failed: %d %s\n", c->text, status, log);
        record_refusal(c, log);
        return;
    }
    fill(c, a, input_seed());
    size_t wrong = !launch(c, a, module);
    if (!wrong)
        record_answers(c, a->in, a->out[ALL_LANES], LANES);
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
    record_head(table->name);
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
