/*
 * Parts whose borders the call says, on the processors: each writes where it
 * begins.
 */
#include "common/must_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000 };

static void mark(const adsmBlocks *blocks, void *const *values)
{
    long begin = *(long *)values[0], end = *(long *)values[1];
    long *out = *(long **)values[2];
    (void)blocks;
    for (long i = begin; i < end; i++)
        out[i] = begin;
}

static const size_t bytes[] = {8, 8, 8};
static adsmCpuCode code = {"mark", mark, 3, bytes, NULL};
static adsmKernel *kernel;
static long *out;

static void start(void)
{
    adsmModule *module;
    must(adsmCpuAdd(&code));
    must(adsmModuleLoad(&module, "// own", 6));
    must(adsmKernelGet(&kernel, module, "mark", ADSM_ONLY_ARGUMENTS));
    out = adsmAllocArray(sizeof *out, adsmR1(N), 0);
    ck_assert_ptr_nonnull(out);
}

static int call(const adsmOpts *opts)
{
    memset(out, 0xff, N * sizeof *out);
    return adsmCallWith(opts, kernel, adsmR1(N), adsmOut(out));
}

/* Where the parts begin, in order. Return: how many there are */
static int begins(long at[N])
{
    int n = 0;
    for (long i = 0; i < N; i++) {
        ck_assert_int_ge(out[i], 0);
        if (out[i] == i)
            at[n++] = i;
        ck_assert_int_eq(out[i], at[n - 1]);
    }
    return n;
}

static void begins_at(int count, const long *want)
{
    long at[N];
    ck_assert_int_eq(begins(at), count);
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(at[i], want[i]);
}

static const char *const policies[] = {"static", "eager", "ws", "dmda"};

START_TEST(bounds_are_where_parts_begin)
{
    static const long bounds[] = {0, 1, 1, 37, 999, 1000};
    start();
    must(call(adsmWith(.parts = 5, .bounds = bounds, .policy = policies[_i])));
    begins_at(4, (long[]){0, 1, 37, 999});
    must(call(adsmWith(.parts = 1, .bounds = (long[]){0, N},
                       .policy = policies[_i])));
    begins_at(1, (long[]){0});
}
END_TEST

static double heavy_end(void *factor, long index)
{
    return index < N / 2 ? 1 : *(double *)factor;
}

START_TEST(parts_have_about_the_same_weight)
{
    static double weights[N];
    double three = 3;
    start();
    for (int i = 0; i < N; i++)
        weights[i] = i < N / 2 ? 1 : 3;
    /* 2000 in all: 500 each */
    must(call(adsmWith(.parts = 4, .weights = weights, .weight_count = N,
                       .policy = policies[_i])));
    begins_at(4, (long[]){0, 500, 667, 833});
    must(call(adsmWith(.parts = 4, .weigh = heavy_end, .weigh_arg = &three,
                       .policy = policies[_i])));
    begins_at(4, (long[]){0, 500, 667, 833});
    /* At multiples of 100. */
    must(call(adsmWith(.parts = 4, .weights = weights, .weight_count = N,
                       .align = 100, .policy = policies[_i])));
    begins_at(4, (long[]){0, 500, 700, 800});
}
END_TEST

/* Random weights: no part is further from its share than the heaviest index. */
START_TEST(shares_are_as_near_as_they_can_be)
{
    static double weights[N];
    long at[N + 1];
    start();
    srand(7);
    for (int round = 0; round < 200; round++) {
        double all = 0, most = 0;
        for (int i = 0; i < N; i++) {
            weights[i] = rand() % 8 ? rand() % 10 : rand() % 1000;
            all += weights[i];
            most = weights[i] > most ? weights[i] : most;
        }
        int parts = 1 + rand() % 40;
        must(call(
            adsmWith(.parts = parts, .weights = weights, .weight_count = N)));
        int n = begins(at);
        ck_assert_int_le(n, parts);
        at[n] = N;
        for (int k = 0; k < n; k++) {
            double sum = 0;
            for (long i = at[k]; i < at[k + 1]; i++)
                sum += weights[i];
            ck_assert_double_le(sum, all / parts + most);
        }
    }
}
END_TEST

static void refused(const adsmOpts *opts, const char *why)
{
    ck_assert_int_eq(call(opts), ADSM_E_INVALID);
    ck_assert_msg(strstr(adsmErrorDetail(), why), "%s", adsmErrorDetail());
    ck_assert_int_eq(out[0], -1);
}

START_TEST(what_is_no_border_is_refused)
{
    static double weights[N];
    start();
    refused(adsmWith(.bounds = (long[]){0, N}), "with bounds and 0 parts");
    refused(adsmWith(.parts = 2, .bounds = (long[]){0, 5, N - 1}),
            "from 0 to 999, where the range goes from 0 to 1000");
    refused(adsmWith(.parts = 3, .bounds = (long[]){0, 5, 4, N}),
            "bound 2 of a call of kernel 'mark' is 4, behind 5");
    refused(adsmWith(.parts = 2, .bounds = (long[]){0, 5, N}, .align = 4),
            "bound 1 of a call of kernel 'mark' is 5: its parts begin at "
            "multiples of 4");
    refused(adsmWith(.weights = weights, .weight_count = N - 1),
            "999 weights for a call of kernel 'mark' over 1000 indices");
    refused(adsmWith(.tile = {4}, .weights = weights, .weight_count = N),
            "one of them says where parts begin");
    refused(adsmWith(.parts = 1, .bounds = (long[]){0, N}, .weights = weights,
                     .weight_count = N),
            "one of them says where parts begin");
    weights[77] = -1;
    refused(adsmWith(.weights = weights, .weight_count = N),
            "the weight of index 77 of a call of kernel 'mark' is -1");
}
END_TEST

/* Nothing to go by: all the same. */
START_TEST(weights_of_nothing_are_possible)
{
    static double weights[N];
    long at[N];
    start();
    must(call(adsmWith(.parts = 4, .weights = weights, .weight_count = N)));
    ck_assert_int_ge(begins(at), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("borders");
    TCase *borders = tcase_create("borders");
    tcase_set_timeout(borders, 60);
    tcase_add_loop_test(borders, bounds_are_where_parts_begin, 0, 4);
    tcase_add_loop_test(borders, parts_have_about_the_same_weight, 0, 4);
    tcase_add_test(borders, shares_are_as_near_as_they_can_be);
    tcase_add_test(borders, what_is_no_border_is_refused);
    tcase_add_test(borders, weights_of_nothing_are_possible);
    suite_add_tcase(suite, borders);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
