/*
 * Calls whose arrays are larger than the memory of their devices: results, what
 * is moved, and what is said of those that cannot be cut.
 */
#include "call/fixture.h"

#include "base/stats.h"

#include <stdlib.h>

enum { MIB = 1 << 20, N = 8 * MIB /* 32 MiB of int, twice the device */ };

static uint64_t up(void)
{
    return adsm_stats_get(ADSM_STAT_bytes_up);
}

static uint64_t down(void)
{
    return adsm_stats_get(ADSM_STAT_bytes_down);
}

/* What a device may hold at most. */
static void memory(const char *size)
{
    setenv("SOFTCUDA_MEMORY", size, 1);
}

static void check_mapped(const int *y, long n, int turns, int a)
{
    long bad = 0;
    for (long i = 0; i < n; i++)
        /* In long, since int would overflow: kernels wrap around. */
        bad += y[i] != (int)(i * 61 + 2 + turns * (2 * (i * 61 + 1) + a));
    ck_assert_int_eq(bad, 0);
}

START_TEST(array_goes_through_a_device_that_is_too_small_for_it)
{
    memory("16M");
    int a = 7, *x = array(adsmR1(N), ADSM_NO_HOME),
        *y = array(adsmR1(N), ADSM_NO_HOME);
    number(x, N, 1);
    number(y, N, 2);
    uint64_t up0 = up(), down0 = down();
    must(adsmCallWith(adsmWith(.devices = 1), kernel("map"), adsmR1(N),
                      adsmIn(x), adsmInOut(y), adsmVal(a)));
    ck_assert_uint_eq(up() - up0, 2 * N * sizeof(int));
    check_mapped(y, N, 1, a);
    ck_assert_uint_eq(down() - down0, N * sizeof(int));
    must(adsmCallWith(adsmWith(.devices = 1), kernel("map"), adsmR1(N),
                      adsmIn(x), adsmInOut(y), adsmVal(a)));
    check_mapped(y, N, 2, a);
    ck_assert_uint_eq(down() - down0, 2 * N * sizeof(int));
}
END_TEST

/* One comes, one is computed, one leaves. */
START_TEST(three_pieces_fit_of_an_array_that_is_read_and_written)
{
    memory("16M");
    int a = 7, *y = array(adsmR1(N), ADSM_NO_HOME);
    adsmCopyInfo copies[16];
    number(y, N, 2);
    must(adsmCallWith(adsmWith(.devices = 1), kernel("map"), adsmR1(N),
                      adsmIn(y), adsmInOut(y), adsmVal(a)));
    ck_assert_int_ge(adsmCopies(y, copies, 16), 3);
    long bad = 0;
    for (long i = 0; i < N; i++)
        bad += y[i] != (int)(3 * (i * 61 + 2) + a);
    ck_assert_int_eq(bad, 0);
}
END_TEST

/* Up and down again, not always up. */
START_TEST(call_begins_with_what_the_last_one_left)
{
    memory("16M");
    enum { CALLS = 4, LEAST = 8 * MIB };
    int a = 7, *y = array(adsmR1(N), ADSM_NO_HOME);
    number(y, N, 2);
    for (int t = 0; t < CALLS; t++) {
        uint64_t up0 = up(), down0 = down();
        must(adsmCallWith(adsmWith(.devices = 1), kernel("map"), adsmR1(N),
                          adsmIn(y), adsmInOut(y), adsmVal(a)));
        ck_assert_uint_le(up() - up0, N * sizeof(int) - (t > 0 ? LEAST : 0));
        ck_assert_uint_le(down() - down0, N * sizeof(int) - LEAST);
    }
    long bad = 0;
    for (long i = 0; i < N; i++) {
        unsigned want = (unsigned)(i * 61 + 2);
        for (int t = 0; t < CALLS; t++)
            want = 3 * want + (unsigned)a;
        bad += (unsigned)y[i] != want;
    }
    ck_assert_int_eq(bad, 0);
}
END_TEST

START_TEST(several_small_devices_take_their_parts_in_rounds)
{
    memory("16M");
    enum { LARGE = 24 * MIB };
    int a = 7, *x = array(adsmR1(LARGE), ADSM_NO_HOME),
        *y = array(adsmR1(LARGE), ADSM_NO_HOME);
    number(x, LARGE, 1);
    number(y, LARGE, 2);
    uint64_t up0 = up();
    adsmEvent event;
    must(adsmCallWith(adsmWith(.devices = 7, .event = &event), kernel("map"),
                      adsmR1(LARGE), adsmIn(x), adsmInOut(y), adsmVal(a)));
    ck_assert_str_eq(adsmErrorDetail(), "");
    must(adsmWait(event));
    ck_assert_uint_eq(up() - up0, 2ul * LARGE * sizeof(int));
    check_mapped(y, LARGE, 1, a);
}
END_TEST

START_TEST(parts_that_are_asked_for_need_not_fit_together)
{
    memory("48M");
    int a = 7, *x = array(adsmR1(N), ADSM_NO_HOME), *y = array(adsmR1(N), 1);
    const adsmOpts opts[] = {{.devices = 1, .parts = 11},
                             {.devices = 1, .tile = {MIB + 3, 0, 0}},
                             {.devices = 5, .parts = 11, .cyclic = 1}};
    number(x, N, 1);
    number(y, N, 2);
    for (int k = 0; k < 3; k++)
        must(adsmCallWith(&opts[k], kernel("map"), adsmR1(N), adsmIn(x),
                          adsmInOut(y), adsmVal(a)));
    check_mapped(y, N, 3, a);
}
END_TEST

/* What all parts read stays; the rest goes through what is left. */
START_TEST(what_all_parts_read_is_brought_once)
{
    memory("16M");
    enum { ALL = 1000, LONG = 12 * MIB };
    int *x = array(adsmR1(ALL), ADSM_NO_HOME),
        *out = array(adsmR1(LONG), ADSM_NO_HOME);
    long n = 3;
    number(x, ALL, 1);
    uint64_t up0 = up();
    must(adsmCallWith(adsmWith(.devices = 1), kernel("all"), adsmR1(LONG),
                      adsmAll(x), adsmOut(out), adsmVal(n)));
    ck_assert_uint_eq(up() - up0, ALL * sizeof(int));
    long bad = 0;
    for (long i = 0; i < LONG; i++) {
        int sum = 0;
        for (long k = 0; k < n; k++)
            sum += x[k] * (int)(1 + labs(k - i) % 7);
        bad += out[i] != sum;
    }
    ck_assert_int_eq(bad, 0);
}
END_TEST

/* The driver's pages are 2 MiB: one has the small outputs, the other all else. */
START_TEST(device_of_two_pages_is_enough)
{
    memory("4M");
    enum { PER = 1700, LONG = 1500 * PER };
    int *x = array(adsmR1(LONG), ADSM_NO_HOME),
        *out = array(adsmR1(LONG / PER), ADSM_NO_HOME);
    long per = PER;
    number(x, LONG, 1);
    must(adsmCallWith(adsmWith(.devices = 1, .each = {LONG}), kernel("groups"),
                      adsmR1(LONG), adsmIn(x), adsmPer(adsmOut(out), PER, 0, 0),
                      adsmVal(per)));
    long bad = 0;
    for (long k = 0; k < LONG / PER; k++) {
        unsigned sum = 1;
        for (long i = k * PER; i < (k + 1) * PER; i++)
            sum += (unsigned)x[i];
        bad += out[k] != (int)sum;
    }
    ck_assert_int_eq(bad, 0);
}
END_TEST

/* Two arrays fill the device; with a third one all three go in pieces. */
START_TEST(pieces_need_not_keep_what_was_there_whole)
{
    memory("16M");
    enum { SOME = 8 * MIB / (int)sizeof(int) - 10000 };
    int a = 7, *x = array(adsmR1(SOME), ADSM_NO_HOME),
        *y = array(adsmR1(SOME), ADSM_NO_HOME),
        *out = array(adsmR1(SOME), ADSM_NO_HOME);
    adsmBox behind = {1, {1}, {SOME}};
    const adsmOpts *one = adsmWith(.devices = 1);
    number(x, SOME, 1);
    number(y, SOME, 2);
    number(out, SOME, 3);
    must(adsmCallWith(one, kernel("map"), adsmR1(SOME), adsmIn(x), adsmInOut(y),
                      adsmVal(a)));
    must(adsmCallWith(one, kernel("before"), behind,
                      adsmBoxed(x, ADSM_IN, "[i0-1:i1-1]"),
                      adsmBoxed(y, ADSM_IN, "[i0-1:i1-1]"), adsmOut(out)));
    long bad = 0;
    for (long i = 1; i < SOME; i++)
        bad += out[i] != 3 * x[i - 1] + y[i - 1];
    ck_assert_int_eq(bad, 0);
    check_mapped(y, SOME, 1, a);
}
END_TEST

static int around(const int *u, long y, long x, long ny, long nx)
{
    unsigned sum = (unsigned)u[y * nx + x];
    if (y > 0)
        sum += 2 * (unsigned)u[(y - 1) * nx + x];
    if (y + 1 < ny)
        sum += 3 * (unsigned)u[(y + 1) * nx + x];
    return (int)sum;
}

START_TEST(neighbours_are_there_in_every_round)
{
    enum { NY = 3001, NX = 1111, STEPS = 3 };
    memory("16M");
    int *u = array(adsmR2(NY, NX), ADSM_NO_HOME),
        *w = array(adsmR2(NY, NX), ADSM_NO_HOME);
    int *p = malloc(sizeof(int) * NY * NX), *q = malloc(sizeof(int) * NY * NX);
    long ny = NY, nx = NX;
    number(u, (long)NY * NX, 5);
    number(p, (long)NY * NX, 5);
    for (int t = 0; t < STEPS; t++) {
        must(adsmCallWith(adsmWith(.devices = 1 + 2 * (t % 2)), kernel("rows"),
                          adsmR2(NY, NX), adsmColumn(u, 1, ADSM_EDGE_NONE),
                          adsmOut(w), adsmVal(ny), adsmVal(nx)));
        for (long y = 0; y < NY; y++)
            for (long x = 0; x < NX; x++)
                q[y * NX + x] = around(p, y, x, NY, NX);
        int *swap = u;
        u = w, w = swap;
        swap = p, p = q, q = swap;
    }
    ck_assert_int_eq(memcmp(u, p, sizeof(int) * NY * NX), 0);
    free(p);
    free(q);
}
END_TEST

START_TEST(call_that_cannot_be_cut_fails_before_anything_moves)
{
    memory("16M");
    int a = 0, *x = array(adsmR1(N), ADSM_NO_HOME),
        *out = array(adsmR1(N), ADSM_NO_HOME);
    long n = N;
    number(x, N, 1);
    uint64_t up0 = up();
    expect(adsmCallWith(adsmWith(.devices = 1), kernel("all"), adsmR1(N),
                        adsmAll(x), adsmOut(out), adsmVal(n)),
           ADSM_E_DEVICE_NOMEM, "for the smallest part its range can be cut");
    expect(adsmCallWith(adsmWith(.devices = 1, .parts = 2), kernel("map"),
                        adsmR1(N), adsmIn(x), adsmInOut(out), adsmVal(a)),
           ADSM_E_DEVICE_NOMEM,
           "part 0 of 2 of kernel 'map', on device 0: a "
           "call needs 33554432 bytes");
    expect(adsmCall(kernel("map"), N, adsmIn(x), adsmInOut(out), adsmVal(a)),
           ADSM_E_DEVICE_NOMEM,
           "(a call with options, adsmCallWith, may be made in");
    ck_assert_uint_eq(up(), up0);
    long bad = 0;
    for (long i = 0; i < N; i++)
        bad += x[i] != (int)(i * 61 + 1);
    ck_assert_int_eq(bad, 0);
}
END_TEST

SUITE_MAIN("beyond", 120, array_goes_through_a_device_that_is_too_small_for_it,
           three_pieces_fit_of_an_array_that_is_read_and_written,
           call_begins_with_what_the_last_one_left,
           several_small_devices_take_their_parts_in_rounds,
           parts_that_are_asked_for_need_not_fit_together,
           what_all_parts_read_is_brought_once, device_of_two_pages_is_enough,
           pieces_need_not_keep_what_was_there_whole,
           neighbours_are_there_in_every_round,
           call_that_cannot_be_cut_fails_before_anything_moves)
