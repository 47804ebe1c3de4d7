/*
 * Maps that are reduced, and farms, over one to four devices.
 */
#include "call/operators.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static const adsmOpts ways[] = {
    {.devices = 2},
    {.devices = ADSM_ALL_DEVICES},
    {.devices = 0xf, .parts = 7, .cyclic = 1},
    {.devices = 5, .tile = {3000}},
};
enum { WAYS = sizeof ways / sizeof *ways };

#define each_way(o) for (const adsmOpts *o = ways; o < ways + WAYS; o++)

static adsmKernel *map(const char *name)
{
    adsmKernel *found;
    must(adsmKernelGet(&found, own_module(), name, ADSM_ONLY_ARGUMENTS));
    return found;
}

/* The products are rounded before they are added, as in the kernel. */
START_TEST(dot_product_gives_the_bytes_of_its_tree)
{
    static const long ranges[][2] = {{0, 0},      {0, 1},        {0, 8193},
                                     {0, 100003}, {5000, 70001}, {99, 100}};
    enum { N = 100003 };
    struct known *sum = known_of("sum_f32");
    float *x = adsmAlloc(N * 4), *y = adsmAlloc(N * 4), *got = adsmAlloc(64);
    float *product = malloc(N * sizeof *product), want;
    fill_random(sum, x, N);
    fill_random(sum, y, N);
    for (long i = 0; i < N; i++)
        product[i] = x[i] * y[i];
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        adsmBox range = {1, {ranges[r][0]}, {ranges[r][1]}};
        tree_fold(&sum->tree, (struct line){(uint8_t *)product, 4}, range.lo[0],
                  range.hi[0], (uint8_t *)&want);
        each_way(o)
        {
            *got = -1;
            must(
                adsmMapReduce(o, map("dot"), got, range, adsmIn(x), adsmIn(y)));
            ck_assert_msg(memcmp(got, &want, 4) == 0, "%ld to %ld: %g, not %g",
                          range.lo[0], range.hi[0], *got, want);
        }
    }
    must(adsmFree(x));
    must(adsmFree(y));
    must(adsmFree(got));
    free(product);
}
END_TEST

START_TEST(map_may_have_an_operator_of_the_program)
{
    enum { N = 30000 };
    float *x = adsmAllocArray(sizeof *x, adsmR1(N), ADSM_NO_HOME), from = 100;
    struct pair *got = adsmAlloc(sizeof *got);
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 200);
    each_way(o)
    {
        x[17001] = -100;
        must(adsmMapReduce(o, map("farthest"), got, adsmR1(N), adsmIn(x),
                           adsmVal(from)));
        ck_assert(got->x == -100 && got->y == 200);
        x[17001] = 100;
        must(adsmMapReduce(o, map("farthest"), got, adsmR1(N), adsmIn(x),
                           adsmVal(from)));
        ck_assert(got->x == 0 && got->y == 100);
    }
    must(adsmFree(x));
    must(adsmFree(got));
}
END_TEST

START_TEST(names_in_operators_and_maps_are_the_programs)
{
    enum { N = 30000 };
    uint32_t *x = adsmAlloc(N * sizeof *x), *got = adsmAlloc(sizeof *got);
    const adsmOperator *least;
    must(adsmOperatorGet(&least, own_module(), "least"));
    for (uint32_t i = 0; i < N; i++)
        x[i] = 7 + (i + 12345) % N;
    must(adsmReduce(least, got, x, adsmR1(N), -1, NULL));
    ck_assert_uint_eq(*got, 7);
    must(adsmReduce(least, got, x, adsmR1(0), -1, NULL));
    ck_assert_uint_eq(*got, 4000000000u);
    must(adsmMapReduce(NULL, map("least_of"), got, adsmR1(N), adsmIn(x)));
    ck_assert_uint_eq(*got, 2 * (7 + 1));
    must(adsmFree(x));
    must(adsmFree(got));
}
END_TEST

START_TEST(bad_maps_say_what_would_be_right)
{
    float *x = adsmAlloc(400), *sum = adsmAlloc(64), here;
    adsmKernel *dot = map("dot");
#define bad(status, words, ...)                                                \
    expect(adsmMapReduce(NULL, __VA_ARGS__), status, words)
    bad(ADSM_E_INVALID, "not a kernel of a loaded module", NULL, sum,
        adsmR1(100), adsmIn(x), adsmIn(x));
    bad(ADSM_E_INVALID, "'map' was not made by ADSM_MAP_REDUCE", kernel("map"),
        sum, adsmR1(100), adsmIn(x), adsmIn(x));
    bad(ADSM_E_INVALID, "a range of 2 dimensions to map", dot, sum,
        adsmR2(10, 10), adsmIn(x), adsmIn(x));
    bad(ADSM_E_INVALID, "from 0 to -1 in dimension 0", dot, sum, adsmR1(-1),
        adsmIn(x), adsmIn(x));
    bad(ADSM_E_NOT_SHARED, "`result` (", dot, &here, adsmR1(100), adsmIn(x),
        adsmIn(x));
    bad(ADSM_E_INVALID, "has 100 elements in dimension 0", dot, sum,
        adsmR1(101), adsmIn(x), adsmIn(x));
    bad(ADSM_E_INVALID, "takes 3 arguments after i0 and i1", dot, sum,
        adsmR1(100), adsmIn(x));
    expect(adsmMapReduceV(dot, sum, adsmR1(100), NULL, 2, NULL), ADSM_E_INVALID,
           "args must not be NULL");
    expect(adsmMapReduceV(dot, sum, adsmR1(100), NULL, -1, NULL),
           ADSM_E_INVALID, "-1 arguments of a map");
    must(adsmFree(x));
    must(adsmFree(sum));
}
END_TEST

/* ---- farms ------------------------------------------------------------------- */

static void count(void *arg, adsmStatus status)
{
    ck_assert_int_eq(status, ADSM_OK);
    atomic_fetch_add((_Atomic int *)arg, 1);
}

/* Devices that have a copy, a bit each. */
static unsigned devices_of(const void *x)
{
    adsmCopyInfo copies[16];
    unsigned bits = 0;
    int n = adsmCopies(x, copies, 16);
    for (int i = 0; i < n && i < 16; i++)
        bits |= copies[i].bytes ? 1u << copies[i].device : 0;
    return bits;
}

START_TEST(tasks_of_a_farm_run_on_a_device_each)
{
    enum { TASKS = 7, N = 1000 };
    const char *only = getenv("ADSM_CALL_DEVICES"); /* the first ones */
    int first = only ? 0 : 1, devices = only ? atoi(only) : 3;
    static _Atomic int ended;
    int *x[TASKS], *y[TASKS], a = 5;
    adsmArg args[TASKS][3];
    adsmTask tasks[TASKS];
    adsmEvent all;
    for (int i = 0; i < TASKS; i++) {
        x[i] = array(adsmR1(N), ADSM_NO_HOME);
        y[i] = array(adsmR1(N), ADSM_NO_HOME);
        number(x[i], N, i);
        number(y[i], N, 0);
        args[i][0] = adsmIn(x[i]);
        args[i][1] = adsmInOut(y[i]);
        args[i][2] = adsmVal(a);
        tasks[i] = (adsmTask){kernel("map"), adsmR1(N), 3, args[i]};
    }
    must(adsmFarmV(tasks, TASKS,
                   adsmWith(.devices = 0xe, .event = &all, .then = count,
                            .then_arg = &ended)));
    must(adsmWait(all));
    for (int i = 0; i < TASKS; i++) {
        if (!getenv("ADSM_CHECK")) /* whose copies go with their calls */
            ck_assert_uint_eq(devices_of(y[i]), 1u << (first + i % devices));
        for (int k = 0; k < N; k++)
            ck_assert_int_eq(y[i][k], 3 * k * 61 + 2 * i + a);
        must(adsmFree(x[i]));
        must(adsmFree(y[i]));
    }
    for (int i = 0; i < 10000 && !atomic_load(&ended); i++)
        usleep(1000);
    ck_assert_int_eq(atomic_load(&ended), 1);
}
END_TEST

START_TEST(tasks_that_use_the_same_bytes_are_ordered)
{
    enum { N = 20000 };
    int *x = array(adsmR1(N), ADSM_NO_HOME), *y = array(adsmR1(N), 2), a = 1;
    number(x, N, 3);
    number(y, N, 4);
    must(adsmFarm(adsmWith(.devices = ADSM_ALL_DEVICES, .sync = 1),
                  adsmTaskOf(kernel("map"), adsmR1(N), adsmIn(x), adsmInOut(y),
                             adsmVal(a)),
                  adsmTaskOf(kernel("map"), adsmR1(N), adsmIn(y), adsmInOut(x),
                             adsmVal(a))));
    for (int i = 0; i < N; i++) {
        int p = i * 61 + 3, q = 2 * p + i * 61 + 4 + a;
        ck_assert_int_eq(y[i], q);
        ck_assert_int_eq(x[i], 2 * q + p + a);
    }
    must(adsmFarmV(NULL, 0, NULL));
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

START_TEST(bad_farms_say_what_would_be_right)
{
    int *x = array(adsmR1(100), 0), a = 1;
    number(x, 100, 1);
    adsmTask task = {kernel("map"), adsmR1(100), 3, NULL};
    expect(adsmFarmV(NULL, 2, NULL), ADSM_E_INVALID, "2 tasks: 0 or more");
    expect(adsmFarmV(NULL, -1, NULL), ADSM_E_INVALID, "-1 tasks");
    expect(adsmFarmV(&task, 1, NULL), ADSM_E_INVALID,
           "task 0 of 1 has 3 arguments and no array of them");
    expect(adsmFarmV(NULL, 0, adsmWith(.parts = 2)), ADSM_E_INVALID,
           "no parts and no tiles");
    expect(adsmFarm(adsmWith(.devices = 0xf),
                    adsmTaskOf(kernel("map"), adsmR1(100), adsmIn(x),
                               adsmInOut(x), adsmVal(a)),
                    adsmTaskOf(kernel("map"), adsmR1(101), adsmIn(x),
                               adsmInOut(x), adsmVal(a)),
                    adsmTaskOf(kernel("map"), adsmR1(100), adsmIn(x),
                               adsmInOut(x), adsmVal(a))),
           ADSM_E_INVALID, "task 1 of 3: argument 0 of kernel 'map' has 100");
    for (int i = 0; i < 100; i++) /* the first one ran, the third did not */
        ck_assert_int_eq(x[i], 3 * (i * 61 + 1) + a);
    must(adsmFree(x));
}
END_TEST

SUITE_MAIN("skeleton", 120, dot_product_gives_the_bytes_of_its_tree,
           map_may_have_an_operator_of_the_program,
           names_in_operators_and_maps_are_the_programs,
           bad_maps_say_what_would_be_right,
           tasks_of_a_farm_run_on_a_device_each,
           tasks_that_use_the_same_bytes_are_ordered,
           bad_farms_say_what_would_be_right)
