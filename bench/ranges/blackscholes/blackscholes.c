/*
 * blackscholes on the CPU: the options, and the same polynomials once more. See
 * blackscholes.h; built with -ffp-contract=off.
 *
 * That the polynomials are right is looked at besides, with those of the C
 * library in f64. Tolerance: 1e-6 of the prices that are subtracted, of which
 * the distribution's polynomial takes 1e-7 and f32 the rest.
 */
#include "blackscholes/blackscholes.h"

#include <stdlib.h>

#include "common/data.h"
#include "common/program.h"

#define PRICE_TOLERANCE 1e-6
/* Options that are looked at. */
#define PRICE_SAMPLES 2000

const struct input_field blackscholes_fields[BLACKSCHOLES_FIELDS] = {
    {"options", 1, 1 << 28},
    {"seed", 0, UINT32_MAX},
};

void blackscholes_open(struct blackscholes *b, int argc, char **argv)
{
    uint32_t value[BLACKSCHOLES_FIELDS];
    program_open(argc, argv, "blackscholes", blackscholes_fields,
                 BLACKSCHOLES_FIELDS, value);
    *b = (struct blackscholes){
        .options = (long)value[0],
        .seed = value[1],
        .market = {.rate = 0.02f, .volatility = 0.3f},
    };
    b->bytes = (size_t)b->options * sizeof(float);
}

void blackscholes_make(const struct blackscholes *b, float *share,
                       float *strike, float *years)
{
    enum bench_phase before = bench_enter(BENCH_CPU);
    uint64_t seed = b->seed;
    for (long i = 0; i < b->options; i++) {
        share[i] = data_uniform(&seed, 5, 30);
        strike[i] = data_uniform(&seed, 1, 100);
        years[i] = data_uniform(&seed, 0.25f, 10);
    }
    bench_enter(before);
}

static double normal(double d)
{
    return 0.5 * erfc(-d / sqrt(2));
}

static void price_check(const struct blackscholes *b, long i,
                        const float option[3], float call, float put)
{
    double share = option[0], strike = option[1], years = option[2];
    double rate = b->market.rate, volatility = b->market.volatility;
    double width = volatility * sqrt(years);
    double drift = (rate + volatility * volatility / 2) * years;
    double d1 = (log(share / strike) + drift) / width;
    double later = strike * exp(-rate * years);
    double tolerance = PRICE_TOLERANCE * (share + later);
    bench_check("call", (size_t)i, (double)call,
                share * normal(d1) - later * normal(d1 - width), tolerance);
    bench_check("put", (size_t)i, (double)put,
                later * normal(width - d1) - share * normal(-d1), tolerance);
}

static void verify(const struct blackscholes *b)
{
    float *share = bench_alloc(5 * b->bytes);
    float *strike = share + b->options, *years = strike + b->options;
    float *call = years + b->options, *put = call + b->options;
    const float *result = bench_result(2 * b->bytes);
    blackscholes_make(b, share, strike, years);
    for (long i = 0; i < b->options; i++) {
        price_option(share[i], strike[i], years[i], b->market, &call[i],
                     &put[i]);
        if (i % (1 + b->options / PRICE_SAMPLES) == 0)
            price_check(b, i, (float[]){share[i], strike[i], years[i]},
                        result[i], result[b->options + i]);
    }
    program_same("price", result, call, 2 * (size_t)b->options, sizeof *call);
    free(share);
}

void blackscholes_finish(const struct blackscholes *b, const float *call,
                         const float *put)
{
    bench_output(call, b->bytes);
    bench_output(put, b->bytes);
    if (bench_end())
        verify(b);
    bench_report();
}
