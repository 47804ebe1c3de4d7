/*
 * Maps that are reduced, over one to four devices.
 */
#include "sched/operators.h"

#include <stdlib.h>

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

SUITE_MAIN("skeleton", 120, dot_product_gives_the_bytes_of_its_tree,
           map_may_have_an_operator_of_the_program,
           bad_maps_say_what_would_be_right)
