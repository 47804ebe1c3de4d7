/*
 * Programs that were built with another adsm.h: structures that are larger, and
 * what is no structure.
 */
#include "call/given.h"

#include "adsm_skeleton.h"
#include "call/fixture.h"

enum { N = 1000 };

/* Those of a header to come. */
struct later_opts {
    adsmOpts opts;
    long more[2];
};
struct later_arg {
    adsmArg arg;
    long more[3];
};

static struct later_arg later(adsmArg arg)
{
    struct later_arg made = {.arg = arg};
    made.arg.size = sizeof made;
    return made;
}

static bool all_are(const int *y, long n, int first, int each)
{
    for (long i = 0; i < n; i++)
        if (y[i] != first + (int)i * each)
            return false;
    return true;
}

START_TEST(macros_say_the_size)
{
    int *x = NULL, v = 1;
    const adsmArg args[] = {
        adsmIn(x),
        adsmAll(x),
        adsmHalo(x, 1, ADSM_EDGE_NONE),
        adsmBoxed(x, ADSM_IN, "[:]"),
        adsmBoxedBy(x, ADSM_IN, NULL, NULL),
        adsmVal(v),
        adsmRows(adsmOut(x)),
    };
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        ck_assert_uint_eq(args[i].size, sizeof *args);
    ck_assert_uint_eq(adsmWith(.parts = 2)->size, sizeof(adsmOpts));
    ck_assert_uint_eq(adsmWith()->size, sizeof(adsmOpts));
}
END_TEST

START_TEST(what_says_no_size_is_as_the_first_version)
{
    adsmOpts opts, plain = {.devices = 3, .shared_bytes = 9};
    adsmArg args[2], none[2] = {{.bytes = 4}, {.bytes = 8, .param = {1, 2}}};
    must(adsm_given_opts(&plain, &opts));
    ck_assert(opts.devices == 3 && opts.shared_bytes == 9);
    ck_assert_uint_eq(opts.size, sizeof opts);
    none[1].param[4] = 7;
    must(adsm_given_args(2, none, args));
    ck_assert(args[0].bytes == 4 && args[1].bytes == 8);
    ck_assert(args[1].param[4] == 7);
    must(adsm_given_args(0, NULL, args));
}
END_TEST

START_TEST(what_is_no_size_is_refused)
{
    const unsigned sizes[] = {1,    8,         151, sizeof(adsmOpts) + 1,
                              4104, 0xa5a5a5a5};
    adsmOpts opts, given = {.parts = 1};
    adsmArg args[2], two[2] = {{.bytes = 4}, {.bytes = 8}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        given.size = sizes[i];
        expect(adsm_given_opts(&given, &opts), ADSM_E_INVALID,
               "`size` is 0 or the structure's size");
        two[1].size = sizes[i];
        expect(adsm_given_args(2, two, args), ADSM_E_INVALID, "argument 1 of ");
    }
    two[1].size = sizeof *two + 8; /* than they are apart */
    expect(adsm_given_args(2, two, args), ADSM_E_INVALID, "argument 1 of ");
}
END_TEST

START_TEST(later_structures_are_taken_as_far_as_they_are_known)
{
    struct later_opts opts = {.opts = {.devices = 0xf, .size = sizeof opts}};
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0), a = 3;
    adsmKernel *map = kernel("map");
    struct later_arg args[] = {later(adsmIn(x)), later(adsmInOut(y)),
                               later(adsmVal(a))};
    memset(x, 0, N * sizeof *x);
    memset(y, 0, N * sizeof *y);
    must(adsmCallRangeV(map, adsmR1(N), &opts.opts, 3, &args[0].arg));
    must(adsmCallV(map, N, 3, &args[0].arg));
    ck_assert(all_are(y, N, 2 * a, 0));
    args[2].more[2] = 1;
    expect(adsmCallV(map, N, 3, &args[0].arg), ADSM_E_INVALID,
           "argument 2 of 176 bytes with something set behind the 152 that "
           "this library knows: the program was built with a newer adsm.h");
    args[2].more[2] = 0;
    opts.more[0] = 1;
    expect(adsmCallRangeV(map, adsmR1(N), &opts.opts, 3, &args[0].arg),
           ADSM_E_INVALID, "options of 240 bytes with something set behind");
    expect(adsmReduce(adsmOperatorOf(ADSM_SUM, ADSM_I32), y, x, adsmR1(N), -1,
                      &opts.opts),
           ADSM_E_INVALID, "newer adsm.h");
    expect(adsmScan(adsmOperatorOf(ADSM_SUM, ADSM_I32), y, x, N, 0, &opts.opts),
           ADSM_E_INVALID, "newer adsm.h");
    expect(adsmFarmV(NULL, 0, &opts.opts), ADSM_E_INVALID, "newer adsm.h");
    expect(adsmDefaults(&opts.opts), ADSM_E_INVALID, "newer adsm.h");
    ck_assert(all_are(y, N, 2 * a, 0));
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

START_TEST(what_nobody_has_set_is_refused)
{
    adsmOpts opts;
    int *x = array(adsmR1(N), 0), *y = array(adsmR1(N), 0), a = 3;
    adsmKernel *map = kernel("map");
    adsmArg args[] = {adsmIn(x), adsmInOut(y), adsmVal(a)};
    memset(&opts, 0xa5, sizeof opts);
    must(adsmDefaults(adsmWith(.devices = 3)));
    expect(adsmCallRangeV(map, adsmR1(N), &opts, 3, args), ADSM_E_INVALID,
           "is all of it set?");
    expect(adsmDefaults(&opts), ADSM_E_INVALID, "is all of it set?");
    must(adsmCallV(map, N, 3, args)); /* by the defaults that were set */
    must(adsmDefaults(NULL));
    memset(&args[1], 0xa5, sizeof *args);
    expect(adsmCallV(map, N, 3, args), ADSM_E_INVALID,
           "argument 1 of 2779096485 bytes");
    must(adsmFree(x));
    must(adsmFree(y));
}
END_TEST

SUITE_MAIN("given", 60, macros_say_the_size,
           what_says_no_size_is_as_the_first_version,
           what_is_no_size_is_refused,
           later_structures_are_taken_as_far_as_they_are_known,
           what_nobody_has_set_is_refused)
