/*
 * What parts write anywhere (adsmScatter): all of it is there, and the rest is
 * as it was.
 */
#include "call/fixture.h"

#include <stdlib.h>

static const adsmOpts ways[] = {
    {.devices = 1},
    {.devices = 4, .chunks = 3},
    {.devices = 3, .parts = 2},
    {.devices = 0xf, .align = 64},
    {.devices = ADSM_ALL_DEVICES, .parts = 7, .cyclic = 1},
    {.devices = 0xe, .parts = 70},
    {.devices = 0xf, .parts = 65, .chunks = 2},
    {.devices = 5, .tile = {1000}},
};
enum { WAYS = sizeof ways / sizeof *ways };

#define each_way(o) for (const adsmOpts *o = ways; o < ways + WAYS; o++)

static const int homes[] = {0, ADSM_NO_HOME, 3};
#define each_home(h) for (const int *h = homes; h < homes + 3; h++)

static adsmKernel *places(const char *name)
{
    static adsmModule *module;
    adsmKernel *found;
    if (!module)
        must(adsmModuleLoad(&module, INTO_PTX, 0));
    must(adsmKernelGet(&found, module, name, ADSM_ONLY_ARGUMENTS));
    return found;
}

/* Index i of a permutation of n, which is a prime. */
static long place_of(long i, long n)
{
    return (i * 7919 + 13) % n;
}

/* Where 3 of 4 elements of `out` go, and what goes there. */
static int *places_of(long n, long m)
{
    int *at = array(adsmR1(n), ADSM_NO_HOME);
    for (long i = 0; i < m; i++)
        at[i] = (int)place_of(i, n);
    return at;
}

/* Elements of any type. `was` and `put` say what is there before and behind. */
#define check_type(type, name, n, h, o, was, put)                              \
    do {                                                                       \
        long m = (n) / 4 * 3;                                                  \
        int *at = places_of(n, m);                                             \
        type *what = adsmAllocArray(sizeof(type), adsmR1(n), 0),               \
             *out = adsmAllocArray(sizeof(type), adsmR1(n), h);                \
        for (long i = 0; i < (n); i++) {                                       \
            out[i] = (type)(was);                                              \
            what[i] = (type)(put);                                             \
        }                                                                      \
        must(adsmCallWith(o, places(name), adsmR1(m), adsmIn(at),              \
                          adsmIn(what), adsmScatter(out)));                    \
        for (long i = 0; i < (n); i++) {                                       \
            long k = place_of(i, n);                                           \
            type is = i < m ? what[i] : (type)(out[k] + 0);                    \
            if (out[k] != is)                                                  \
                ck_abort_msg("%s: element %ld is wrong", name, k);             \
        }                                                                      \
        for (long j = m; j < (n); j++) {                                       \
            long i = place_of(j, n);                                           \
            if (out[i] != (type)(was))                                         \
                ck_abort_msg("%s: element %ld changed", name, i);              \
        }                                                                      \
        must(adsmFree(at));                                                    \
        must(adsmFree(what));                                                  \
        must(adsmFree(out));                                                   \
    } while (0)

START_TEST(each_element_is_what_a_part_wrote_or_what_it_was)
{
    each_home(h) each_way(o)
    {
        check_type(int, "place4", 4001L, *h, o, i * 3, -i * 61);
        check_type(char, "place1", 1999L, *h, o, i, i * 7 + 1);
        check_type(double, "place8", 1009L, *h, o, i * 0.25, -1.5 * i);
    }
}
END_TEST

/* What is written is what was there, or differs from it in few bits. */
START_TEST(values_that_are_alike_are_told_apart)
{
    each_way(o)
    {
        check_type(int, "place4", 4001L, 0, o, 5, 5);
        check_type(int, "place4", 4001L, 0, o, -1, (i & 1) - 1);
        check_type(double, "place8", 1009L, 0, o, 0.0, -0.0);
        check_type(char, "place1", 1999L, ADSM_NO_HOME, o, 0, 1 << (i & 7));
    }
}
END_TEST

START_TEST(parts_read_what_was_and_what_they_wrote)
{
    enum { M = 4001 };
    each_way(o)
    {
        int *at = places_of(M, M), *what = array(adsmR1(M), 0),
            *out = array(adsmR1(M), ADSM_NO_HOME);
        number(what, M, 1);
        number(out, M, 9);
        for (int call = 0; call < 2; call++)
            must(adsmCallWith(o, places("change"), adsmR1(M), adsmIn(at),
                              adsmIn(what), adsmScatter(out)));
        for (int i = 0; i < M; i++) {
            int k = (int)place_of(i, M), w = i * 61 + 1, was = k * 61 + 9;
            ck_assert_int_eq(out[k], ((was + w) * 2 + w) * 2);
        }
        must(adsmFree(at));
        must(adsmFree(what));
        must(adsmFree(out));
    }
}
END_TEST

START_TEST(rows_and_parts_of_objects_are_written_anywhere)
{
    enum { NY = 63, NX = 61, M = 3001 };
    each_way(o)
    {
        int *at = array(adsmR1(M), 0), *what = array(adsmR1(M), 0),
            *plate = array(adsmR2(NY, NX), ADSM_NO_HOME),
            *more = array(adsmR1(3 * M), 0);
        int *model = calloc(NY * NX, sizeof *model);
        for (int i = 0; i < M; i++)
            at[i] = (int)place_of(i, NY * NX);
        number(what, M, 3);
        must(adsmFill(more, 3 * M, 8));
        must(adsmMemset(plate, 0, NY * NX * sizeof *plate));
        for (int i = 0; i < M; i++)
            model[at[i]] = what[i];
        must(adsmCallWith(o, places("place2"), adsmR1(M), adsmIn(at),
                          adsmIn(what), adsmScatter(plate), adsmVal(NX)));
        for (int i = 0; i < NY * NX; i++)
            ck_assert_int_eq(plate[i], model[i]);
        for (int i = 0; i < M; i++)
            at[i] = (int)place_of(i, M);
        /* From an element on: what is before it is left alone. */
        must(adsmCallWith(o, places("place4"), adsmR1(M), adsmIn(at),
                          adsmIn(what), adsmScatter(more + M)));
        for (int i = 0; i < M; i++) {
            ck_assert_int_eq(more[i], 8);
            ck_assert_int_eq(more[M + at[i]], what[i]);
            ck_assert_int_eq(more[2 * M + i], 8);
        }
        free(model);
        must(adsmFree(at));
        must(adsmFree(what));
        must(adsmFree(plate));
        must(adsmFree(more));
    }
}
END_TEST

START_TEST(calls_and_accesses_before_and_behind_are_in_order)
{
    enum { M = 4001 };
    const adsmOpts *all = adsmWith(.devices = ADSM_ALL_DEVICES, .parts = 4);
    int *at = places_of(M, M), *what = array(adsmR1(M), 0),
        *out = array(adsmR1(M), 0);
    for (int s = 0; s < 6; s++) {
        adsmEvent event = {0};
        must(adsmFill(what, M, s));
        must(adsmFill(out, M, 100));
        must(adsmCallWith(
            adsmWith(.devices = ADSM_ALL_DEVICES, .parts = 3, .event = &event),
            places("change"), adsmR1(M), adsmIn(at), adsmIn(what),
            adsmScatter(out)));
        must(adsmFill(what, M, 1000));
        must(adsmCallWith(all, kernel("map"), adsmR1(M), adsmIn(what),
                          adsmInOut(out), adsmVal(1)));
        must(adsmWait(event));
        ck_assert_int_eq(out[s * 7], (100 + s) * 2 + 2001);
    }
    must(adsmFree(at));
    must(adsmFree(what));
    must(adsmFree(out));
}
END_TEST

START_TEST(mistakes_are_told)
{
    int *at = places_of(101, 101), *what = array(adsmR1(101), 0),
        *out = array(adsmR1(101), 0), plain[4];
    const adsmOpts *all = adsmWith(.devices = 3);
    number(out, 101, 4);
    expect(adsmCallWith(all, places("place4"), adsmR1(101), adsmIn(at),
                        adsmIn(out), adsmScatter(out)),
           ADSM_E_INVALID,
           "argument 1 of kernel 'place4' lies in what argument 2 is written "
           "anywhere (adsmScatter)");
    expect(adsmCallWith(all, places("place4"), adsmR1(101), adsmIn(at),
                        adsmIn(what), adsmAlong(adsmScatter(out), 1, 0, 0)),
           ADSM_E_INVALID, "adsmScatter is all that is said");
    expect(adsmCallWith(all, places("place4"), adsmR1(101), adsmIn(at),
                        adsmIn(what), adsmScatter(plain)),
           ADSM_E_NOT_SHARED, "argument 2");
    adsmArg kept = adsmScatter(out);
    kept.how = ADSM_KEPT;
    expect(adsmCallWith(all, places("place4"), adsmR1(101), adsmIn(at),
                        adsmIn(what), kept),
           ADSM_E_INVALID, "argument 2");
    for (int i = 0; i < 101; i++)
        ck_assert_int_eq(out[i], i * 61 + 4);
    /* Without options it is one part, which has the array. */
    number(what, 101, 1);
    must(adsmCall(places("place4"), 101, adsmIn(at), adsmIn(what),
                  adsmScatter(out)));
    ck_assert_int_eq(out[13], 1);
    must(adsmFree(at));
    must(adsmFree(what));
    must(adsmFree(out));
}
END_TEST

SUITE_MAIN("anywhere", 60, each_element_is_what_a_part_wrote_or_what_it_was,
           values_that_are_alike_are_told_apart,
           parts_read_what_was_and_what_they_wrote,
           rows_and_parts_of_objects_are_written_anywhere,
           calls_and_accesses_before_and_behind_are_in_order, mistakes_are_told)
