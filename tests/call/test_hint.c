/*
 * What hints promise, by what moves afterwards; and whom adsmWaitFor waits for,
 * by kernels that say when they ran.
 */
#include "call/fixture.h"

#include "base/stats.h"

#include <time.h>

enum { N = 1 << 18, BYTES = N * (int)sizeof(int) }; /* four blocks */
enum { ON_1 = 2, ON_2 = 4 };

static const int homes[] = {ADSM_NO_HOME, 0, 3};
#define each_home(h) for (const int *h = homes; h < homes + 3; h++)

static uint64_t up_or_across(void)
{
    return adsm_stats_get(ADSM_STAT_bytes_up) +
           adsm_stats_get(ADSM_STAT_bytes_device);
}

static uint64_t down(void)
{
    return adsm_stats_get(ADSM_STAT_bytes_down);
}

static adsmBox between(long lo, long hi)
{
    return (adsmBox){1, {lo}, {hi}};
}

/* out[i] = x[i] on device 1. */
static void copy_on_1(int *x, int *out, adsmBox range)
{
    must(adsmCallWith(adsmWith(.devices = ON_1, .sync = 1), kernel("near"),
                      range, adsmHalo(x, 0, ADSM_EDGE_NONE), adsmOut(out),
                      adsmVal((int){0})));
}

/* An array of numbers that device 1 alone has. */
static int *only_on_1(int home)
{
    int *from = array(adsmR1(N), ADSM_NO_HOME), *x = array(adsmR1(N), home);
    number(from, N, 1);
    copy_on_1(from, x, adsmR1(N));
    must(adsmFree(from));
    return x;
}

static void check_numbers(const int *x, long lo, long hi)
{
    for (long i = lo; i < hi; i++)
        if (x[i] != (int)(i * 61 + 1))
            ck_abort_msg("element %ld is %d", i, x[i]);
}

/* Bytes of an array that are current in copies on a device and nowhere else. */
static size_t bytes_only_on(int device, const int *x)
{
    adsmCopyInfo copies[16];
    int count = adsmCopies(x, copies, 16);
    size_t only = 0;
    for (int i = 0; i < count; i++)
        only += copies[i].device == device ? copies[i].only : 0;
    return only;
}

/* ---- prefetch ------------------------------------------------------------------ */

START_TEST(call_brings_nothing_of_what_was_brought_to_its_device)
{
    each_home(h)
    {
        int *x = array(adsmR1(N), *h), *out = array(adsmR1(N), ADSM_NO_HOME);
        number(x, N, 1);
        uint64_t before = up_or_across();
        must(adsmPrefetch(x, NULL, 1));
        ck_assert_uint_ge(up_or_across() - before, BYTES);
        before = up_or_across();
        copy_on_1(x, out, adsmR1(N));
        ck_assert_uint_eq(up_or_across(), before);
        check_numbers(out, 0, N);
        must(adsmFree(x));
        must(adsmFree(out));
    }
}
END_TEST

START_TEST(box_that_is_brought_to_a_device_is_all_that_moves)
{
    int *x = array(adsmR2(512, 512), ADSM_NO_HOME);
    int *out = array(adsmR2(512, 512), ADSM_NO_HOME), zero = 0;
    adsmBox box = {2, {100, 50}, {200, 60}};
    number(x, N, 1);
    uint64_t before = up_or_across();
    must(adsmPrefetch(x, &box, 1));
    ck_assert_uint_eq(up_or_across() - before, 100 * 10 * sizeof *x);
    must(adsmCallWith(adsmWith(.devices = ON_1), kernel("square"), box,
                      adsmSquare(x, 0, 0, ADSM_EDGE_NONE), adsmOut(out),
                      adsmVal(zero), adsmVal(zero)));
    ck_assert_uint_eq(up_or_across() - before, 100 * 10 * sizeof *x);
    for (long y = 100; y < 200; y++)
        check_numbers(out, y * 512 + 50, y * 512 + 60);
    must(adsmFree(x));
    must(adsmFree(out));
}
END_TEST

START_TEST(reading_brings_nothing_of_what_was_brought_to_the_host)
{
    each_home(h)
    {
        int *x = only_on_1(*h);
        uint64_t before = down();
        must(adsmPrefetch(x, NULL, ADSM_HOST));
        ck_assert_uint_eq(down() - before, BYTES);
        check_numbers(x, 0, N);
        ck_assert_uint_eq(down() - before, BYTES);
        must(adsmFree(x));
    }
}
END_TEST

START_TEST(block_that_is_brought_to_the_host_is_all_that_moves)
{
    each_home(h)
    {
        int *x = only_on_1(*h);
        adsmBox second = between(N / 4, N / 2);
        uint64_t before = down();
        must(adsmPrefetch(x, &second, ADSM_HOST));
        check_numbers(x, N / 4, N / 2);
        ck_assert_uint_eq(down() - before, BYTES / 4);
        check_numbers(x, 0, N);
        ck_assert_uint_eq(down() - before, BYTES);
        must(adsmFree(x));
    }
}
END_TEST

/* ---- drop and discard ------------------------------------------------------------ */

START_TEST(copies_that_are_dropped_are_saved)
{
    each_home(h)
    {
        int *x = only_on_1(*h);
        uint64_t before = down();
        ck_assert_uint_eq(bytes_only_on(1, x), BYTES);
        must(adsmDrop(x, NULL, 1));
        ck_assert_uint_eq(down() - before, BYTES);
        ck_assert_uint_eq(bytes_only_on(1, x), 0);
        check_numbers(x, 0, N);
        ck_assert_uint_eq(down() - before, BYTES);
        must(adsmFree(x));
    }
}
END_TEST

START_TEST(what_is_discarded_is_not_saved)
{
    each_home(h)
    {
        int *x = only_on_1(*h);
        uint64_t before = down();
        must(adsmDiscard(x, NULL));
        ck_assert_uint_eq(bytes_only_on(1, x), 0);
        must(adsmDrop(x, NULL, 1));
        ck_assert_uint_eq(down(), before);
        number(x, N, 1);
        ck_assert_uint_eq(down(), before);
        check_numbers(x, 0, N);
        must(adsmFree(x));
    }
}
END_TEST

START_TEST(what_lies_around_a_discarded_box_is_saved)
{
    each_home(h)
    {
        int *x = only_on_1(*h), *out = array(adsmR1(N), ADSM_NO_HOME);
        adsmBox middle = between(1001, N - 333);
        uint64_t before = down();
        must(adsmDiscard(x, &middle));
        must(adsmDrop(x, NULL, 1));
        ck_assert_uint_eq(down() - before, (1001 + 333) * sizeof *x);
        for (long i = 1001; i < N - 333; i++) /* written again, it is needed */
            x[i] = (int)(i * 61 + 1);
        copy_on_1(x, out, adsmR1(N));
        check_numbers(out, 0, N);
        check_numbers(x, 0, N);
        must(adsmFree(x));
        must(adsmFree(out));
    }
}
END_TEST

/* ---- waits -------------------------------------------------------------------------- */

enum { STAMPS = 16 };
static const long slow_ns = 300 * 1000000L;

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

struct times {
    long *what, *began, *ended;
};

static long *some_times(int home)
{
    long *p = adsmAllocArray(sizeof *p, adsmR1(STAMPS), home);
    ck_assert_msg(p, "%s", adsmErrorDetail());
    for (int i = 0; i < STAMPS; i++)
        p[i] = 0;
    return p;
}

static struct times times_at(int home)
{
    return (struct times){some_times(home), some_times(home), some_times(home)};
}

static void free_times(struct times t)
{
    must(adsmFree(t.what));
    must(adsmFree(t.began));
    must(adsmFree(t.ended));
}

static adsmEvent stamp(struct times t, uint32_t devices, adsmBox box, long ns)
{
    static adsmKernel *kernel;
    adsmModule *module;
    adsmEvent event;
    if (!kernel) {
        must(adsmModuleLoad(&module, STAMP_PTX, 0));
        must(adsmKernelGet(&kernel, module, "stamp", ADSM_ONLY_ARGUMENTS));
        (void)stamp(t, ON_1 | ON_2, adsmR1(STAMPS), 0);
        must(adsmSync()); /* the code is on both, which takes its time */
    }
    must(adsmCallWith(adsmWith(.devices = devices, .event = &event), kernel,
                      box, adsmIn(t.what), adsmOut(t.began), adsmOut(t.ended),
                      adsmVal(ns)));
    return event;
}

static int has_ended(adsmEvent event)
{
    int done;
    must(adsmTest(event, &done));
    return done;
}

START_TEST(wait_for_an_array_waits_for_its_calls_alone)
{
    each_home(h)
    {
        struct times slow = times_at(*h), fast = times_at(*h);
        adsmEvent first = stamp(slow, ON_1, adsmR1(STAMPS), slow_ns);
        adsmEvent second = stamp(fast, ON_2, adsmR1(STAMPS), 0);
        must(adsmWaitFor(fast.began, NULL, ADSM_INOUT));
        ck_assert(has_ended(second));
        ck_assert(!has_ended(first));
        must(adsmWaitFor(slow.began, NULL, ADSM_IN));
        long heard = now();
        ck_assert(has_ended(first));
        for (int i = 0; i < STAMPS; i++)
            ck_assert_int_le(slow.ended[i], heard);
        free_times(slow);
        free_times(fast);
    }
}
END_TEST

START_TEST(wait_for_a_box_waits_for_what_writes_it_alone)
{
    each_home(h)
    {
        struct times t = times_at(*h);
        adsmBox low = between(0, 8), high = between(8, STAMPS);
        adsmEvent first = stamp(t, ON_1, low, slow_ns);
        adsmEvent second = stamp(t, ON_2, high, 0);
        must(adsmWaitFor(t.ended, &high, ADSM_IN));
        ck_assert(has_ended(second));
        ck_assert(!has_ended(first));
        must(adsmWaitFor(t.ended, &low, ADSM_IN));
        long heard = now();
        ck_assert(has_ended(first));
        for (int i = 0; i < STAMPS; i++)
            ck_assert_int_le(t.ended[i], heard);
        free_times(t);
    }
}
END_TEST

START_TEST(who_will_write_waits_for_readers_and_who_reads_does_not)
{
    each_home(h)
    {
        struct times t = times_at(*h);
        adsmEvent reader = stamp(t, ON_1, adsmR1(STAMPS), slow_ns);
        must(adsmWaitFor(t.what, NULL, ADSM_IN));
        ck_assert(!has_ended(reader));
        must(adsmWaitFor(t.what, NULL, ADSM_OUT));
        ck_assert(has_ended(reader));
        free_times(t);
    }
}
END_TEST

SUITE_MAIN("hint", 60, call_brings_nothing_of_what_was_brought_to_its_device,
           box_that_is_brought_to_a_device_is_all_that_moves,
           reading_brings_nothing_of_what_was_brought_to_the_host,
           block_that_is_brought_to_the_host_is_all_that_moves,
           copies_that_are_dropped_are_saved, what_is_discarded_is_not_saved,
           what_lies_around_a_discarded_box_is_saved,
           wait_for_an_array_waits_for_its_calls_alone,
           wait_for_a_box_waits_for_what_writes_it_alone,
           who_will_write_waits_for_readers_and_who_reads_does_not)
