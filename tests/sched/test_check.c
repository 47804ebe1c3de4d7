/*
 * ADSM_CHECK: kernels that read what their call does not say are found out, and
 * the others are left alone.
 */
#include "sched/fixture.h"

static const adsmOpts all = {.devices = ADSM_ALL_DEVICES};

/* The neighbours' values would be there by chance where a device has both. */
START_TEST(read_beyond_what_is_asked_for_shows)
{
    int r = 1, *x = array(adsmR1(100), 0), *out = array(adsmR1(100), 0);
    number(x, 100, 1);
    must(adsmCallWith(adsmWith(.devices = 1, .parts = 2), kernel("near"),
                      adsmR1(100), adsmIn(x), adsmOut(out), adsmVal(r)));
    ck_assert_int_eq(out[48], x[47] + 2 * x[48] + 3 * x[49]);
    ck_assert_int_eq(out[49], x[48] + 2 * x[49] + 3 * -1);
    ck_assert_int_eq(out[50], -1 + 2 * x[50] + 3 * x[51]);
    must(adsmCallWith(adsmWith(.devices = 1, .parts = 2), kernel("near"),
                      adsmR1(100), adsmHalo(x, r, ADSM_EDGE_CLAMP),
                      adsmOut(out), adsmVal(r)));
    ck_assert_int_eq(out[49], x[48] + 2 * x[49] + 3 * x[50]);
    ck_assert_int_eq(out[50], x[49] + 2 * x[50] + 3 * x[51]);
    must(adsmFree(x));
    must(adsmFree(out));
}
END_TEST

START_TEST(copies_go_with_the_call)
{
    int a = 0, *x = array(adsmR1(100000), ADSM_NO_HOME);
    adsmCopyInfo copies[8];
    number(x, 100000, 1);
    for (int i = 0; i < 300; i++) {
        adsmBox some = {1, {i * 7}, {i * 7 + 60000}};
        must(adsmCallWith(&all, kernel("map"), some, adsmIn(x), adsmInOut(x),
                          adsmVal(a)));
        ck_assert_int_eq(adsmCopies(x, copies, 8), 0);
    }
    ck_assert_int_eq(x[99999], 99999 * 61 + 1);
    ck_assert_int_eq(x[0], 3);
    must(adsmFree(x));
}
END_TEST

SUITE_MAIN("check", 60, read_beyond_what_is_asked_for_shows,
           copies_go_with_the_call)
