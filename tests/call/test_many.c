/*
 * Calls of more parts than a map has numbers for copies.
 */
#include "call/fixture.h"

#include <stdlib.h>

enum { SIDE = 192, PARTS = 4096, TILE = 3 };

static long clamped(long i)
{
    return i < 0 ? 0 : i < SIDE ? i : SIDE - 1;
}

/* w = the 3 x 3 cells around, weighted 1 to 9, of u. */
static void check(const int *u, const int *w)
{
    for (long y = 0; y < SIDE; y++)
        for (long x = 0; x < SIDE; x++) {
            unsigned sum = 0, weight = 1;
            for (long v = y - 1; v <= y + 1; v++)
                for (long h = x - 1; h <= x + 1; h++)
                    sum +=
                        weight++ * (unsigned)u[clamped(v) * SIDE + clamped(h)];
            ck_assert_msg(w[y * SIDE + x] == (int)sum, "at %ld %ld: %d, not %d",
                          y, x, w[y * SIDE + x], (int)sum);
        }
}

/* There and back: each call finds what the one before has left. */
static void go(const adsmOpts *o, int home)
{
    adsmBox shape = adsmR2(SIDE, SIDE);
    int *u = array(shape, home), *w = array(shape, home), r = 1;
    number(u, SIDE * SIDE, 3);
    for (int i = 0; i < 2; i++) {
        must(adsmCallWith(o, kernel("square"), shape,
                          adsmSquare(u, r, r, ADSM_EDGE_CLAMP), adsmOut(w),
                          adsmVal(r), adsmVal(r)));
        check(u, w);
        int *swap = u;
        u = w;
        w = swap;
    }
    must(adsmFree(u));
    must(adsmFree(w));
}

START_TEST(tiles_are_up_to_4096)
{
    static const adsmOpts ways[] = {
        {.devices = 1, .tile = {TILE, TILE}},
        {.devices = 6, .tile = {TILE, TILE}, .cyclic = 1},
        {.devices = 0xf, .tile = {TILE, TILE}, .fetch = 1},
        {.devices = 5, .parts = 300},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int home = ADSM_NO_HOME; home < 1; home++)
            go(&ways[i], home);
}
END_TEST

/* What it reads and what it writes. */
START_TEST(parts_may_have_two_copies_of_one_array)
{
    enum { EACH = 5, N = PARTS * EACH };
    int *x = array(adsmR1(2 * N), ADSM_NO_HOME), a = 4;
    number(x, 2 * N, 8);
    must(adsmCallWith(adsmWith(.devices = 6, .tile = {EACH}, .cyclic = 1),
                      kernel("map"), adsmR1(N), adsmIn(x + N), adsmInOut(x),
                      adsmVal(a)));
    for (long i = 0; i < N; i++)
        ck_assert_int_eq(x[i], 2 * ((N + i) * 61 + 8) + i * 61 + 8 + a);
    must(adsmFree(x));
}
END_TEST

enum { LARGE = 1 << 16, FEW = 260, OF = 300 };

/* A number of each of the first parts, and much of the others. */
static int little_then_much(const adsmPart *part, void *user, adsmBox *out,
                            int most)
{
    (void)user;
    (void)most;
    long lo = part->box.lo[0] * LARGE;
    out[0] = (adsmBox){1, {lo}, {lo + (part->index < FEW ? 1 : LARGE)}};
    return 1;
}

/* Parts that have no room together come one after another, when others are made
 * already. */
START_TEST(later_parts_may_need_more_memory_than_there_is_for_all)
{
    setenv("SOFTCUDA_MEMORY", "4M", 1);
    adsmModule *module;
    adsmKernel *far_from;
    int *x = array(adsmR1((long)OF * LARGE), ADSM_NO_HOME);
    long never = OF;
    must(adsmModuleLoad(&module, ENDS_PTX, 0));
    must(adsmKernelGet(&far_from, module, "far_from", ADSM_ONLY_ARGUMENTS));
    for (long i = 0; i < OF; i++)
        x[i * LARGE] = (int)i;
    must(adsmCallWith(adsmWith(.devices = 1, .tile = {1}, .sync = 1), far_from,
                      adsmR1(OF), adsmVal(never),
                      adsmBoxedBy(x, ADSM_INOUT, little_then_much, NULL)));
    for (long i = 0; i < OF; i++)
        ck_assert_int_eq(x[i * LARGE], i);
    must(adsmFree(x));
}
END_TEST

START_TEST(one_part_more_is_refused)
{
    int *x = array(adsmR1(PARTS + 1), ADSM_NO_HOME), a = 1;
    expect(adsmCallWith(adsmWith(.devices = 6, .tile = {1}), kernel("map"),
                        adsmR1(PARTS + 1), adsmIn(x), adsmInOut(x), adsmVal(a)),
           ADSM_E_INVALID, "in more than 4096 parts");
    must(adsmFree(x));
}
END_TEST

SUITE_MAIN("many", 120, tiles_are_up_to_4096,
           parts_may_have_two_copies_of_one_array,
           later_parts_may_need_more_memory_than_there_is_for_all,
           one_part_more_is_refused)
