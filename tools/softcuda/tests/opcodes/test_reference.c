/*
 * The reference itself against the host's floating point unit.
 *
 * The two share no code: softfp rounds integers, the host rounds in hardware.
 * A table that agrees with both cannot be wrong in the same way twice.
 */
#include "common/suite.h"

#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "expect.h"
#include "inputs.h"
#include "softfp.h"

enum { TRIES = 200000 };

static const int host_rounds[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                  FE_UPWARD};

static float as_f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return f;
}

static double as_f64(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static uint64_t bits_f32(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return isnan(f) ? 0x7fffffff : bits;
}

static uint64_t bits_f64(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return isnan(d) ? INT64_MAX : bits;
}

enum { ADD, MUL, FMA, DIV, SQRT, OPERATIONS };

static uint64_t host_f32(int op, const uint64_t *in)
{
    volatile float a = as_f32(in[0]), b = as_f32(in[1]), c = as_f32(in[2]);
    volatile float d = op == ADD   ? a + b
                       : op == MUL ? a * b
                       : op == FMA ? fmaf(a, b, c)
                       : op == DIV ? a / b
                                   : sqrtf(a);
    return bits_f32(d);
}

static uint64_t host_f64(int op, const uint64_t *in)
{
    volatile double a = as_f64(in[0]), b = as_f64(in[1]), c = as_f64(in[2]);
    volatile double d = op == ADD   ? a + b
                        : op == MUL ? a * b
                        : op == FMA ? fma(a, b, c)
                        : op == DIV ? a / b
                                    : sqrt(a);
    return bits_f64(d);
}

static uint64_t soft(const struct sfp_format *format, int op,
                     const uint64_t *in, enum sfp_round round)
{
    struct sfp a = sfp_unpack(format, in[0], false);
    struct sfp b = sfp_unpack(format, in[1], false);
    struct sfp c = sfp_unpack(format, in[2], false), d;
    d = op == ADD   ? sfp_add(a, b, round)
        : op == MUL ? sfp_mul(a, b)
        : op == FMA ? sfp_add(sfp_mul(a, b), c, round)
        : op == DIV ? sfp_div(a, b)
                    : sfp_sqrt(a);
    return sfp_pack(format, d, round, 0);
}

static void fill(const char *signature, uint64_t *in[3])
{
    for (int k = 0; k < 3; k++)
        in[k] = calloc(TRIES, sizeof **in);
    input_fill(signature, in, TRIES, input_seed());
}

static void check_format(const struct sfp_format *format, const char *signature,
                         uint64_t (*host)(int, const uint64_t *))
{
    uint64_t *in[3];
    fill(signature, in);
    for (int i = 0; i < TRIES; i++) {
        const uint64_t one[3] = {in[0][i], in[1][i], in[2][i]};
        enum sfp_round round = (enum sfp_round)(i / OPERATIONS % 4);
        int op = i % OPERATIONS;
        fesetround(host_rounds[round]);
        uint64_t want = host(op, one);
        fesetround(FE_TONEAREST);
        uint64_t got = soft(format, op, one, round);
        EXPECT(got == want,
               "operation %d round %d: %#" PRIx64 " %#" PRIx64 " %#" PRIx64
               ": %#" PRIx64 ", host %#" PRIx64,
               op, round, one[0], one[1], one[2], got, want);
    }
    for (int k = 0; k < 3; k++)
        free(in[k]);
}

START_TEST(f32_operations_match_the_host)
{
    check_format(&sfp_f32, "W WfWfWf", host_f32);
}
END_TEST

START_TEST(f64_operations_match_the_host)
{
    check_format(&sfp_f64, "D DfDfDf", host_f64);
}
END_TEST

START_TEST(narrowing_and_integers_match_the_host)
{
    uint64_t *in[3];
    fill("D DfDnDi", in);
    for (int i = 0; i < TRIES; i++) {
        enum sfp_round round = (enum sfp_round)(i % 4);
        fesetround(host_rounds[round]);
        volatile double d = as_f64(in[i & 1][i]);
        uint64_t narrow = bits_f32((float)d);
        uint64_t whole = bits_f64(nearbyint(d));
        volatile int64_t n = (int64_t)in[2][i];
        uint64_t from_int = bits_f32((float)n);
        fesetround(FE_TONEAREST);
        struct sfp v = sfp_unpack(&sfp_f64, in[i & 1][i], false);
        EXPECT(sfp_pack(&sfp_f32, v, round, 0) == narrow, "%d: narrowing", i);
        EXPECT(sfp_pack(&sfp_f64, sfp_integral(v, round), round, 0) == whole,
               "%d: rounding", i);
        v = sfp_from_int((int64_t)in[2][i]);
        EXPECT(sfp_pack(&sfp_f32, v, round, 0) == from_int, "%d: integer", i);
    }
    for (int k = 0; k < 3; k++)
        free(in[k]);
}
END_TEST

START_TEST(half_bits_survive_a_round_trip)
{
    const struct sfp_format *const formats[] = {&sfp_f16, &sfp_bf16};
    for (int f = 0; f < 2; f++) {
        for (uint64_t bits = 0; bits < 0x10000; bits++) {
            struct sfp v = sfp_unpack(formats[f], bits, false);
            uint64_t back = sfp_pack(formats[f], v, SFP_RZ, 0);
            EXPECT(back == (v.kind == SFP_NAN ? 0x7fff : bits), "%#" PRIx64,
                   bits);
        }
    }
}
END_TEST

SUITE_MAIN("opcode reference", 30, f32_operations_match_the_host,
           f64_operations_match_the_host, narrowing_and_integers_match_the_host,
           half_bits_survive_a_round_trip)
