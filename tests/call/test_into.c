/*
 * What parts accumulate (adsmInto): nothing is lost and nothing counts twice,
 * and bits depend on the cut alone.
 */
#include "call/operators.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static const adsmOpts ways[] = {
    {.devices = 1},
    {.devices = 4, .chunks = 3},
    {.devices = 3, .parts = 2},
    {.devices = 0xf, .align = 64},
    {.devices = ADSM_ALL_DEVICES, .parts = 7, .cyclic = 1},
    {.devices = 0xe, .parts = 70},
    {.devices = 0xf, .chunks = 4},
    {.devices = 5, .tile = {1000}},
};
enum { WAYS = sizeof ways / sizeof *ways };

#define each_way(o) for (const adsmOpts *o = ways; o < ways + WAYS; o++)

/* INTO_PTX: the path of into.ptx. */
static adsmKernel *adds(const char *name)
{
    static adsmModule *module;
    adsmKernel *found;
    if (!module)
        must(adsmModuleLoad(&module, INTO_PTX, 0));
    must(adsmKernelGet(&found, module, name, ADSM_ONLY_ARGUMENTS));
    return found;
}

static const adsmOperator *sum_of(adsmType type)
{
    return adsmOperatorOf(ADSM_SUM, type);
}

/* ---- whole numbers -------------------------------------------------------------- */

static unsigned first_of(unsigned bin)
{
    return bin * 1000003u + 5;
}

/* Histograms on each of the ways, of `bins`, which begin as something. */
static void check_histograms(unsigned *bins, unsigned n, int home)
{
    enum { N = 10007 };
    int *x = array(adsmR1(N), home);
    unsigned *want = calloc(n, sizeof *want);
    for (int i = 0; i < N; i++) {
        x[i] = (int)((unsigned)next_random() >> 2);
        want[(unsigned)x[i] % n]++;
    }
    each_way(o)
    {
        for (unsigned k = 0; k < n; k++)
            bins[k] = first_of(k);
        for (int twice = 0; twice < 2; twice++)
            must(adsmCallWith(o, adds("histogram"), adsmR1(N), adsmIn(x),
                              adsmInto(bins, sum_of(ADSM_U32)), adsmVal(n)));
        bins[0] += 3;
        for (unsigned k = 0; k < n; k++)
            ck_assert_msg(bins[k] ==
                              first_of(k) + 2 * want[k] + (k == 0 ? 3 : 0),
                          "way %d, bin %u of %u: %u", (int)(o - ways), k, n,
                          bins[k] - first_of(k));
    }
    must(adsmFree(x));
    free(want);
}

START_TEST(histogram_counts_each_element_once)
{
    static const unsigned sizes[] = {1, 7, 256, 20000};
    for (int i = 0; i < 4; i++) {
        for (int home = ADSM_NO_HOME; home < 2; home++) {
            unsigned *bins = adsmAllocArray(4, adsmR1(sizes[i]), home);
            check_histograms(bins, sizes[i], home);
            must(adsmFree(bins));
        }
        unsigned *plain = adsmAlloc((sizes[i] + 9) * sizeof *plain);
        check_histograms(plain + 9, sizes[i], 2);
        must(adsmFree(plain));
    }
}
END_TEST

START_TEST(what_lies_around_is_left_alone)
{
    enum { N = 3000, BINS = 50 };
    int *x = array(adsmR1(N), 0), n = BINS;
    unsigned *all = adsmAlloc(3 * BINS * sizeof *all);
    must(adsmShape(all + BINS, sizeof *all, adsmR1(BINS)));
    number(x, N, 9);
    each_way(o)
    {
        for (int k = 0; k < 3 * BINS; k++)
            all[k] = 100;
        must(adsmCallWith(o, adds("histogram"), adsmR1(N), adsmIn(x),
                          adsmInto(all + BINS, sum_of(ADSM_U32)), adsmVal(n)));
        for (int k = 0; k < 3 * BINS; k++)
            ck_assert_uint_eq(all[k], k / BINS == 1 ? 100 + N / BINS : 100);
    }
    must(adsmFree(x));
    must(adsmFree(all));
}
END_TEST

START_TEST(array_of_two_dimensions_is_a_view)
{
    enum { N = 20011, SIDE = 70 };
    int *x = array(adsmR1(N), 1), n = SIDE;
    unsigned *bins = adsmAllocArray(4, adsmR2(SIDE, SIDE), ADSM_NO_HOME);
    unsigned want[SIDE * SIDE] = {0};
    number(x, N, 77);
    for (int i = 0; i < N; i++)
        want[x[i] / SIDE % SIDE * SIDE + x[i] % SIDE]++;
    each_way(o)
    {
        memset(bins, 0, sizeof want);
        must(adsmCallWith(o, adds("square"), adsmR1(N), adsmIn(x),
                          adsmInto(bins, sum_of(ADSM_I32)), adsmVal(n)));
        ck_assert_mem_eq(bins, want, sizeof want);
    }
    must(adsmFree(x));
    must(adsmFree(bins));
}
END_TEST

START_TEST(two_arrays_have_an_operator_each)
{
    enum { N = 9000, BINS = 13 };
    int *x = array(adsmR1(N), ADSM_NO_HOME), n = BINS;
    int *most = adsmAlloc(BINS * sizeof *most), want[BINS];
    unsigned *bins = adsmAlloc(BINS * sizeof *bins), count[BINS];
    for (int i = 0; i < N; i++)
        x[i] = (int)(next_random() >> 40);
    each_way(o)
    {
        for (int k = 0; k < BINS; k++) {
            bins[k] = count[k] = 0;
            most[k] = want[k] = k == 4 ? 1 << 30 : -7;
        }
        for (int i = 0; i < N; i++) {
            int k = x[i] % BINS;
            count[k]++;
            want[k] = x[i] > want[k] ? x[i] : want[k];
        }
        must(adsmCallWith(o, adds("largest"), adsmR1(N), adsmIn(x),
                          adsmInto(most, adsmOperatorOf(ADSM_MAX, ADSM_I32)),
                          adsmInto(bins, sum_of(ADSM_U32)), adsmVal(n)));
        for (int k = 0; k < BINS; k++) {
            ck_assert_int_eq(most[k], want[k]);
            ck_assert_uint_eq(bins[k], count[k]);
        }
    }
    must(adsmFree(x));
    must(adsmFree(most));
    must(adsmFree(bins));
}
END_TEST

/* ---- bits ------------------------------------------------------------------------- */

/* The tree of what the array held and of each tile's sum, each from 0 on. */
static float force_of(const float *x, long n, long tile, long k, float held)
{
    struct known *sum = known_of("sum_f32");
    long parts = (n + tile - 1) / tile;
    float *values = malloc((size_t)(parts + 1) * sizeof *values), all;
    values[0] = parts > 1 ? held : 0;
    for (long p = 0; p < parts; p++) {
        float v = parts > 1 ? 0 : held;
        for (long i = p * tile; i < n && i < (p + 1) * tile; i++)
            v += x[i] * (float)(k + 1);
        values[p + 1] = v;
    }
    if (parts > 1)
        tree_fold(&sum->tree, (struct line){(uint8_t *)values, 4}, 0, parts + 1,
                  (uint8_t *)&all);
    else
        all = values[1];
    free(values);
    return all;
}

START_TEST(tiles_give_floats_the_same_bits_on_any_devices)
{
    enum { N = 1500, PLACES = 300 };
    static const long tiles[] = {400, 100, 11, N};
    static const uint32_t sets[] = {1, 8, 3, 6, 7, 0xf};
    float *x = adsmAllocArray(4, adsmR1(N), ADSM_NO_HOME);
    float *force = adsmAlloc(PLACES * sizeof *force), want[PLACES];
    long n = PLACES;
    if (getenv("ADSM_PARTS")) /* no tiles then */
        return;
    fill_random(known_of("sum_f32"), x, N);
    for (int t = 0; t < 4; t++) {
        for (int k = 0; k < PLACES; k++)
            want[k] = force_of(x, N, tiles[t], k, (float)k / 3);
        for (int s = 0; s < 12; s++) {
            adsmOpts o = {.devices = sets[s % 6],
                          .cyclic = s >= 6,
                          .tile = {tiles[t]},
                          .each = {8}};
            for (int k = 0; k < PLACES; k++)
                force[k] = (float)k / 3;
            must(adsmCallWith(&o, adds("pull"), adsmR1(N), adsmIn(x),
                              adsmInto(force, sum_of(ADSM_F32)), adsmVal(n)));
            ck_assert_mem_eq(force, want, sizeof want);
        }
    }
    must(adsmFree(x));
    must(adsmFree(force));
}
END_TEST

START_TEST(copies_are_combined_in_the_order_of_the_parts)
{
    enum { N = 2000 };
    struct chain *x = adsmAllocArray(sizeof *x, adsmR1(N), ADSM_NO_HOME);
    struct chain *all = adsmAlloc(sizeof *all), want = {3, 4, 0};
    fill_random(known_of("chain"), x, N);
    for (int i = 0; i < N; i++)
        chain(&want, &want, &x[i]);
    each_way(o)
    {
        *all = (struct chain){3, 4, 0};
        must(adsmCallWith(o, adds("compose"), adsmR1(N), adsmIn(x),
                          adsmInto(all, operator_of(known_of("chain")))));
        ck_assert_int_eq(all->a, want.a);
        ck_assert_int_eq(all->b, want.b);
    }
    must(adsmFree(x));
    must(adsmFree(all));
}
END_TEST

/* ---- calls -------------------------------------------------------------------------- */

static void count(void *arg, adsmStatus status)
{
    ck_assert_int_eq(status, ADSM_OK);
    atomic_fetch_add((_Atomic int *)arg, 1);
}

START_TEST(what_follows_the_call_is_behind_the_sum)
{
    enum { N = 50000, BINS = 5 };
    static _Atomic int ended;
    int *x = array(adsmR1(N), ADSM_NO_HOME), n = BINS, one = 0;
    unsigned *bins = adsmAlloc(BINS * sizeof *bins);
    adsmEvent first, made;
    memset(bins, 0, BINS * sizeof *bins);
    number(x, N, 1);
    must(adsmCallWith(adsmWith(.devices = 2, .event = &first), kernel("map"),
                      adsmR1(N), adsmIn(x), adsmInOut(x), adsmVal(one)));
    adsmOpts o = {.devices = 0xd,
                  .after = &first,
                  .afters = 1,
                  .event = &made,
                  .then = count,
                  .then_arg = &ended};
    for (int i = 0; i < 10; i++)
        must(adsmCallWith(&o, adds("histogram"), adsmR1(N), adsmIn(x),
                          adsmInto(bins, sum_of(ADSM_U32)), adsmVal(n)));
    must(adsmWait(made));
    int done = 0;
    must(adsmTest(made, &done));
    ck_assert_int_eq(done, 1);
    for (int i = 0; i < 10000 && atomic_load(&ended) < 10; i++)
        usleep(1000);
    ck_assert_int_eq(atomic_load(&ended), 10);
    unsigned sum = 0;
    for (int k = 0; k < BINS; k++)
        sum += bins[k];
    ck_assert_uint_eq(sum, 10 * N);
    must(adsmFree(x));
    must(adsmFree(bins));
}
END_TEST

/* Combining a million copies takes longer than a few thousand threads. */
START_TEST(call_ends_when_its_copies_are_combined)
{
    enum { N = 3000, BINS = 1 << 20 };
    int *x = array(adsmR1(N), ADSM_NO_HOME), n = BINS;
    unsigned *bins = adsmAllocArray(4, adsmR1(BINS), ADSM_NO_HOME);
    adsmCopyInfo copies[4];
    adsmEvent made;
    number(x, N, 1);
    memset(bins, 0, BINS * sizeof *bins);
    for (int i = 0; i < 5; i++) {
        must(adsmCallWith(adsmWith(.devices = 0xf, .event = &made),
                          adds("histogram"), adsmR1(N), adsmIn(x),
                          adsmInto(bins, sum_of(ADSM_U32)), adsmVal(n)));
        must(adsmWait(made));
        int there = adsmCopies(bins, copies, 4);
        for (int k = 0; k < there && k < 4; k++)
            ck_assert_int_eq(copies[k].in_use, 0);
    }
    must(adsmFree(x));
    must(adsmFree(bins));
}
END_TEST

START_TEST(calls_of_one_part_add_in_the_array)
{
    enum { N = 1000, BINS = 10 };
    int *x = array(adsmR1(N), 0), n = BINS, none = 0;
    unsigned *bins = adsmAlloc(BINS * sizeof *bins);
    const adsmOperator *sum = sum_of(ADSM_U32);
    long lo = 0, hi = N;
    number(x, N, 2);
    for (int k = 0; k < BINS; k++)
        bins[k] = 7;
    must(adsmCall(adds("histogram"), N, adsmIn(x), adsmInto(bins, sum),
                  adsmVal(n)));
    must(adsmLaunch(adds("histogram"), adsmDim1(4), adsmDim1(256), 0,
                    adsmVal(lo), adsmVal(hi), adsmIn(x), adsmInto(bins, sum),
                    adsmVal(n)));
    must(adsmCallWith(adsmWith(.devices = 0xf), adds("histogram"), adsmR1(none),
                      adsmIn(x), adsmInto(bins, sum), adsmVal(n)));
    for (int k = 0; k < BINS; k++)
        ck_assert_uint_eq(bins[k], 7 + 2 * N / BINS);
    must(adsmFree(x));
    must(adsmFree(bins));
}
END_TEST

START_TEST(mistakes_are_said_and_nothing_changes)
{
    enum { N = 100 };
    int *x = array(adsmR1(N), 0), n = 10;
    unsigned *bins = adsmAlloc(40), here;
    double *wide = adsmAllocArray(8, adsmR1(5), 0);
    void *bytes = bins;
    const adsmOperator *sum = sum_of(ADSM_U32), *none = NULL;
    adsmArg arg = adsmInto(bins, sum);
    number(x, N, 1);
    memset(bins, 0, 40);
#define bad(status, words, in, into)                                           \
    expect(adsmCallWith(adsmWith(.devices = 3), adds("histogram"), adsmR1(N),  \
                        in, into, adsmVal(n)),                                 \
           status, words)
    bad(ADSM_E_INVALID,
        "argument 1 of kernel 'histogram' is accumulated into by (nil), which "
        "is no operator: adsmOperatorOf and adsmOperatorGet give them",
        adsmIn(x), adsmInto(bins, none));
    bad(ADSM_E_INVALID, "which is no operator", adsmIn(x),
        adsmInto(bins, (const adsmOperator *)x));
    bad(ADSM_E_INVALID,
        "argument 1 of kernel 'histogram' has elements of 4 bytes, operator "
        "'sum_i64' is of 8",
        adsmIn(x), adsmInto(bins, sum_of(ADSM_U64)));
    bad(ADSM_E_INVALID, "has elements of 8 bytes, operator 'sum_i32' is of 4",
        adsmIn(x), adsmInto(wide, sum));
    bad(ADSM_E_INVALID, "argument 1 of kernel 'histogram' is a void pointer",
        adsmIn(x), adsmInto(bytes, sum));
    bad(ADSM_E_INVALID,
        "argument 0 of kernel 'histogram' lies in what argument 1 is "
        "accumulated into (adsmInto): no other argument may read or write it",
        adsmAll(x), adsmInto((unsigned *)x + 90, sum));
    bad(ADSM_E_INVALID, "lies in what argument 0", adsmInto(x, sum),
        adsmInto(x, sum));
    bad(ADSM_E_INVALID, "adsmInto is all that is said of it", adsmIn(x),
        adsmRows(arg));
    arg.mode = ADSM_OUT;
    bad(ADSM_E_INVALID, "adsmInto is all that is said of it", adsmIn(x), arg);
    bad(ADSM_E_NOT_SHARED, "is no shared pointer", adsmIn(x),
        adsmInto(&here, sum));
    for (int k = 0; k < 10; k++)
        ck_assert_uint_eq(bins[k], 0);
    must(adsmFree(x));
    must(adsmFree(bins));
    must(adsmFree(wide));
}
END_TEST

/* Four copies and the array are 20 MiB. */
START_TEST(copies_that_do_not_fit_together_change_nothing)
{
    enum { N = 3000, BINS = 1 << 20 };
    if (getenv("ADSM_PARTS") || getenv("ADSM_CALL_DEVICES") ||
        getenv("ADSM_CHECK")) /* other parts and copies need more or less */
        return;
    setenv("SOFTCUDA_MEMORY", "16M", 1);
    int *x = array(adsmR1(N), ADSM_NO_HOME), n = BINS;
    unsigned *bins = adsmAllocArray(4, adsmR1(BINS), ADSM_NO_HOME), sum = 0;
    number(x, N, 1);
    memset(bins, 1, BINS * sizeof *bins);
    expect(adsmCallWith(adsmWith(.devices = 0xf), adds("histogram"), adsmR1(N),
                        adsmIn(x), adsmInto(bins, sum_of(ADSM_U32)),
                        adsmVal(n)),
           ADSM_E_DEVICE_NOMEM, "kernel 'sum_i32_last' needs ");
    for (int k = 0; k < BINS; k++)
        ck_assert_uint_eq(bins[k], 0x01010101);
    must(adsmCallWith(adsmWith(.devices = 1), adds("histogram"), adsmR1(N),
                      adsmIn(x), adsmInto(bins, sum_of(ADSM_U32)), adsmVal(n)));
    for (int k = 0; k < BINS; k++)
        sum += bins[k] - 0x01010101;
    ck_assert_uint_eq(sum, N);
    must(adsmFree(x));
    must(adsmFree(bins));
}
END_TEST

/* Calls that have brought much are cut into pieces by themselves. */
START_TEST(large_copies_are_combined_again_and_again)
{
    enum { N = 3000, BINS = 1 << 20, TIMES = 8 };
    setenv("ADSM_CHECK", "1", 1); /* nothing is there from the call before */
    setenv("SOFTCUDA_LINK", "1GB/s", 1);
    setenv("SOFTCUDA_PACE", "20M/s", 1);
    int *x = array(adsmR1(N), ADSM_NO_HOME), n = BINS;
    unsigned *bins = adsmAllocArray(4, adsmR2(1024, BINS / 1024), ADSM_NO_HOME);
    unsigned sum = 0;
    number(x, N, 1);
    memset(bins, 0, BINS * sizeof *bins);
    for (int i = 0; i < TIMES; i++)
        must(adsmCallWith(adsmWith(.devices = 0xf, .sync = 1),
                          adds("histogram"), adsmR1(N), adsmIn(x),
                          adsmInto(bins, sum_of(ADSM_U32)), adsmVal(n)));
    for (int k = 0; k < BINS; k++)
        sum += bins[k];
    ck_assert_uint_eq(sum, TIMES * N);
    must(adsmFree(x));
    must(adsmFree(bins));
}
END_TEST

/* The modules that combine are not the kernel's: one that is gone says so. */
START_TEST(operator_of_an_unloaded_module_changes_nothing)
{
    enum { N = 500 };
    struct chain *x = adsmAlloc(N * sizeof *x), *all = adsmAlloc(sizeof *all);
    adsmModule *module;
    const adsmOperator *op;
    if (getenv("ADSM_PARTS")) /* one needs no operator */
        return;
    must(adsmModuleLoad(&module, OPERATORS_PTX, 0));
    must(adsmOperatorGet(&op, module, "chain"));
    must(adsmModuleUnload(module));
    fill_random(known_of("chain"), x, N);
    *all = (struct chain){5, 6, 7};
    expect(adsmCallWith(adsmWith(.devices = 3, .parts = 2), adds("compose"),
                        adsmR1(N), adsmIn(x), adsmInto(all, op)),
           ADSM_E_INVALID, "not a loaded module");
    ck_assert(all->a == 5 && all->b == 6 && all->unused == 7);
    must(adsmFree(x));
    must(adsmFree(all));
}
END_TEST

static void *count_often(void *arg)
{
    enum { N = 5000, BINS = 20 };
    int *x = array(adsmR1(N), ADSM_NO_HOME), n = BINS;
    unsigned *bins = adsmAlloc(BINS * sizeof *bins);
    number(x, N, (int)(intptr_t)arg);
    memset(bins, 0, BINS * sizeof *bins);
    for (int i = 0; i < 100; i++)
        must(adsmCallWith(&ways[i % WAYS], adds("histogram"), adsmR1(N),
                          adsmIn(x), adsmInto(bins, sum_of(ADSM_U32)),
                          adsmVal(n)));
    for (int k = 0; k < BINS; k++)
        ck_assert_uint_eq(bins[k], 100 * N / BINS);
    must(adsmFree(x));
    must(adsmFree(bins));
    return NULL;
}

START_TEST(threads_accumulate_at_the_same_time)
{
    pthread_t threads[3];
    (void)adds("histogram");
    for (intptr_t i = 0; i < 3; i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, count_often, (void *)(i + 1)), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

SUITE_MAIN("into", 240, histogram_counts_each_element_once,
           what_lies_around_is_left_alone, array_of_two_dimensions_is_a_view,
           two_arrays_have_an_operator_each,
           tiles_give_floats_the_same_bits_on_any_devices,
           copies_are_combined_in_the_order_of_the_parts,
           what_follows_the_call_is_behind_the_sum,
           call_ends_when_its_copies_are_combined,
           calls_of_one_part_add_in_the_array,
           large_copies_are_combined_again_and_again,
           copies_that_do_not_fit_together_change_nothing,
           mistakes_are_said_and_nothing_changes,
           operator_of_an_unloaded_module_changes_nothing,
           threads_accumulate_at_the_same_time)
