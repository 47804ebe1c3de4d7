/*
 * ADSM_CHECK: kernels that store or read what their call does not say are found
 * out, each with its sentence, and the others are left alone.
 */
#include "call/fixture.h"

static const adsmOpts all = {.devices = ADSM_ALL_DEVICES};
static const adsmOpts halves = {.devices = 3};

START_TEST(store_beyond_the_part_names_argument_and_index)
{
    long n = 100, by = 25;
    int *x = array(adsmR1(n), ADSM_NO_HOME);
    number(x, n, 1);
    /* All parts do; the first one is told of. */
    expect(
        adsmCallWith(&all, kernel("stray"), adsmR1(n), adsmOut(x), adsmVal(by)),
        ADSM_E_INVALID,
        "kernel 'stray', part 0 of 4, [0:25] on device 0, changed 4 bytes "
        "of argument 0 outside [0:25], which it writes, the first at index "
        "[25]: ");
    /* What it is to do is done, and nothing else is seen. */
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(x[i], i);
    must(adsmFree(x));
}
END_TEST

START_TEST(store_beside_the_array_is_told_in_bytes)
{
    long n = 100, before = -3, behind = 102;
    int *x = array(adsmR1(n), 0);
    expect(adsmCallWith(adsmWith(.devices = 2), kernel("stray"), adsmR1(n),
                        adsmOut(x), adsmVal(before)),
           ADSM_E_INVALID,
           "part 0 of 1, [0:100] on device 1, changed 4 bytes "
           "of argument 0 outside [0:100], which it writes, the first 12 "
           "bytes before its copy");
    expect(adsmCallWith(adsmWith(.devices = 1), kernel("stray"), adsmR1(n),
                        adsmOut(x), adsmVal(behind)),
           ADSM_E_INVALID, "the first 8 bytes behind its copy");
    must(adsmFree(x));
}
END_TEST

START_TEST(store_to_what_is_only_read_names_argument_and_index)
{
    int a = 1, *x = array(adsmR1(100), 0), *y = array(adsmR1(100), 2);
    number(x, 100, 1);
    number(y, 100, 2);
    expect(adsmCallWith(&halves, kernel("map"), adsmR1(100), adsmIn(x),
                        adsmIn(y), adsmVal(a)),
           ADSM_E_INVALID,
           "of argument 1, which it only reads, the first at index [0]: "
           "adsmOut or adsmInOut");
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(y[i], i * 61 + 2);
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

START_TEST(store_beside_the_part_of_a_view_names_row_and_column)
{
    const adsmOpts tiles = {.devices = 0xf, .tile = {10, 10}};
    const struct {
        long dy, dx;
        const char *words;
    } strays[] = {
        {3, 10,
         "outside [0:10][0:10], which it writes, the first at index "
         "[3][10]"},
        {3, 12, "the first at index [3][12]"},
        {10, 4, "the first at index [10][4]"},
        {0, -1, "the first at index [0][-1]"},
        {-1, 0, "bytes before its copy"},
    };
    adsmBox shape = adsmR2(20, 30);
    int *w = array(shape, ADSM_NO_HOME);
    for (int i = 0; i < 5; i++)
        expect(adsmCallWith(&tiles, kernel("stray2"), shape, adsmOut(w),
                            adsmVal(strays[i].dy), adsmVal(strays[i].dx)),
               ADSM_E_INVALID, strays[i].words);
    for (int i = 0; i < 600; i++)
        ck_assert_int_eq(w[i], i / 30 * 100 + i % 30);
    must(adsmFree(w));
}
END_TEST

START_TEST(store_beside_the_boxes_of_an_argument_names_them)
{
    long n = 100, by = 60;
    int *x = array(adsmR1(n), ADSM_NO_HOME);
    /* Between the two boxes, in the copy that both are in. */
    expect(adsmCallWith(&halves, kernel("stray"), adsmR1(50),
                        adsmBoxed(x, ADSM_OUT, "[i] | [N0-i1:N0-i0]"),
                        adsmVal(by)),
           ADSM_E_INVALID,
           "part 0 of 2, [0:25] on device 0, changed 4 bytes of argument 0 "
           "outside [0:25] | [75:100], which it writes, the first at index "
           "[60]: the kernel is to keep to its indices, or the argument to "
           "have other boxes");
    by = 50;
    must(adsmCallWith(&halves, kernel("stray"), adsmR1(50),
                      adsmBoxed(x, ADSM_OUT, "[i] | [i0+50]"), adsmVal(by)));
    ck_assert(x[50] == 77 && x[75] == 77);
    must(adsmFree(x));
}
END_TEST

/* More parts than a map has numbers for; all but the last have four indices. */
START_TEST(part_that_is_wrong_is_found_among_many)
{
    long n = 1998, by = 2;
    int *x = array(adsmR1(n), 1);
    expect(adsmCallWith(adsmWith(.devices = 0xf, .parts = 500, .align = 4),
                        kernel("stray"), adsmR1(n), adsmOut(x), adsmVal(by)),
           ADSM_E_INVALID,
           "part 499 of 500, [1996:1998] on device 3, changed 4 bytes of "
           "argument 0 outside [1996:1998], which it writes, the first 0 bytes "
           "behind its copy");
    for (int i = 0; i < n; i++)
        ck_assert(x[i] == i || (i % 4 == 2 && x[i] == 77));
    must(adsmFree(x));
}
END_TEST

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

SUITE_MAIN("check", 60, store_beyond_the_part_names_argument_and_index,
           store_beside_the_array_is_told_in_bytes,
           store_to_what_is_only_read_names_argument_and_index,
           store_beside_the_part_of_a_view_names_row_and_column,
           store_beside_the_boxes_of_an_argument_names_them,
           part_that_is_wrong_is_found_among_many,
           read_beyond_what_is_asked_for_shows, copies_go_with_the_call)
