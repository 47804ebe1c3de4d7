/* How far a call is: what the program is told, and what is printed. */
#include "call/fixture.h"

#include "adsm_skeleton.h"
#include "base/capture.h"
#include "common/kill_device.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { N = 1 << 18, MOST = 64 };

/* What was told, in order. */
struct told {
    _Atomic int count;
    int done[MOST], parts[MOST];
    int *touch; /* shared memory, for whom is told */
    bool slow;  /* it takes its time over it */
    bool dies;  /* the device, when it has made its first part */
};

static void note(void *arg, int done, int parts)
{
    struct told *told = arg;
    int i = atomic_load(&told->count);
    if (i == MOST)
        abort();
    told->done[i] = done;
    told->parts[i] = parts;
    if (told->slow)
        usleep(100000);
    if (told->touch)
        (*told->touch)++;
    if (told->dies && done > 0)
        (void)kill_device(0);
    atomic_store(&told->count, i + 1);
}

static void map(const adsmOpts *opts, const int *x, int *y)
{
    must(adsmCallWith(opts, kernel("map"), adsmR1(N), adsmIn(x), adsmInOut(y),
                      adsmVal((int){5})));
}

static int *numbers(int home)
{
    int *x = array(adsmR1(N), home);
    number(x, N, 1);
    return x;
}

static int last_of(const struct told *told)
{
    return told->count > 0 ? told->done[told->count - 1] : 0;
}

/* More and more of the same, and at last all. */
static void check_told(const struct told *told, int parts)
{
    int n = told->count;
    ck_assert_int_ge(n, 1);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(told->parts[i], parts);
        ck_assert_int_gt(told->done[i], i > 0 ? told->done[i - 1] : -1);
    }
    ck_assert_int_eq(told->done[n - 1], parts);
}

/* Parts of 131 ms; nothing is copied that would tell of them. */
START_TEST(program_is_told_of_parts_as_they_end)
{
    setenv("SOFTCUDA_PACE", "500K/s", 1);
    struct told told = {.touch = array(adsmR1(1), ADSM_NO_HOME)};
    int *x = numbers(ADSM_NO_HOME), *y = numbers(ADSM_NO_HOME);
    *told.touch = 0;
    map(adsmWith(.devices = 3, .parts = 8, .sync = 1), x, y);
    map(adsmWith(.devices = 3, .parts = 8, .sync = 1, .progress = note,
                 .progress_arg = &told),
        x, y);
    check_told(&told, 8);
    ck_assert_int_ge(told.count, 4);
    ck_assert_int_eq(*told.touch, told.count);
}
END_TEST

START_TEST(pieces_and_rounds_are_parts)
{
    setenv("SOFTCUDA_MEMORY", "4M", 1);
    struct told told = {0};
    int *x = numbers(ADSM_NO_HOME);
    map(adsmWith(.chunks = 7, .sync = 1, .progress = note,
                 .progress_arg = &told),
        x, numbers(ADSM_NO_HOME));
    check_told(&told, 7);

    enum { LARGE = 4 << 20 };
    int *z = array(adsmR1(LARGE), ADSM_NO_HOME);
    struct told of_rounds = {0};
    must(adsmCallWith(
        adsmWith(.sync = 1, .progress = note, .progress_arg = &of_rounds),
        kernel("map"), adsmR1(LARGE), adsmIn(z), adsmInOut(z),
        adsmVal((int){5})));
    ck_assert_int_gt(of_rounds.parts[0], 4);
    check_told(&of_rounds, of_rounds.parts[0]);
}
END_TEST

START_TEST(call_of_one_part_or_none_is_told_once)
{
    struct told one = {0}, none = {0}, of_any = {0};
    int *x = numbers(0);
    map(adsmWith(.sync = 1, .progress = note, .progress_arg = &one), x, x);
    check_told(&one, 1);
    ck_assert_int_eq(one.count, 1);
    must(adsmCallWith(
        adsmWith(.sync = 1, .progress = note, .progress_arg = &none),
        kernel("map"), adsmR1(0), adsmIn(x), adsmInOut(x), adsmVal((int){5})));
    ck_assert_int_eq(none.count, 1);
    ck_assert_int_eq(none.done[0], 0);
    ck_assert_int_eq(none.parts[0], 0);
    must(adsmCallWith(
        adsmWith(.sync = 1, .progress = note, .progress_arg = &of_any),
        kernel_that_may(ADSM_ANY_OBJECT, "map"), adsmR1(N), adsmIn(x),
        adsmInOut(x), adsmVal((int){5})));
    check_told(&of_any, 1);
}
END_TEST

/* Without a wait it comes by itself. */
START_TEST(last_word_comes_without_a_wait)
{
    struct told told = {0};
    map(adsmWith(.parts = 3, .progress = note, .progress_arg = &told),
        numbers(0), numbers(0));
    for (int i = 0; i < 10000 && last_of(&told) < 3; i++)
        usleep(1000);
    check_told(&told, 3);
}
END_TEST

START_TEST(failure_is_told_or_returned)
{
    setenv("SOFTCUDA_PACE", "500K/s", 1);
    struct told told = {.dies = true}, never = {0};
    int *x = numbers(ADSM_NO_HOME), *y = numbers(ADSM_NO_HOME);
    adsmEvent event;
    expect(adsmCallWith(adsmWith(.progress = note, .progress_arg = &never),
                        kernel("map"), adsmR1(2 * N), adsmIn(x), adsmInOut(y),
                        adsmVal((int){5})),
           ADSM_E_INVALID, "");
    map(adsmWith(.parts = 8, .event = &event, .progress = note,
                 .progress_arg = &told),
        x, y);
    ck_assert_int_eq(adsmWait(event), ADSM_E_DEVICE_LOST);
    for (int i = 0; i < 10000 && last_of(&told) >= 0; i++)
        usleep(1000);
    ck_assert_int_eq(last_of(&told), -1);
    ck_assert_int_eq(never.count, 0);
}
END_TEST

/* A check that fails when all parts have ended. */
START_TEST(call_that_fails_tells_nothing_behind_it)
{
    setenv("ADSM_CHECK", "1", 1);
    struct told told = {.slow = true};
    int *x = array(adsmR1(100), ADSM_NO_HOME);
    expect(adsmCallWith(adsmWith(.progress = note, .progress_arg = &told),
                        kernel("stray"), adsmR1(100), adsmOut(x),
                        adsmVal((long){100})),
           ADSM_E_INVALID, "kernel 'stray'");
    int count = told.count;
    ck_assert_int_eq(last_of(&told), -1);
    usleep(4 * 50000);
    ck_assert_int_eq(told.count, count);
}
END_TEST

/* It may make calls, which wait for nothing that waits for it. */
static void call_again(void *arg, int done, int parts)
{
    if (done == parts)
        map(adsmWith(.sync = 1, .progress = note, .progress_arg = arg),
            numbers(0), numbers(0));
}

START_TEST(calls_made_meanwhile_have_no_progress)
{
    struct told told = {0};
    map(adsmWith(.parts = 2, .sync = 1, .progress = call_again,
                 .progress_arg = &told),
        numbers(0), numbers(0));
    ck_assert_int_eq(told.count, 0);
}
END_TEST

START_TEST(farm_tells_of_tasks_and_a_scan_of_its_first_pass)
{
    struct told told = {0}, of_scan = {0};
    int *x = numbers(0), *y = numbers(0), *out = array(adsmR1(N), 0);
    adsmArg args[] = {adsmIn(x), adsmInOut(y), adsmVal((int){5})};
    adsmTask tasks[6];
    for (int i = 0; i < 6; i++)
        tasks[i] = (adsmTask){kernel("map"), adsmR1(i == 3 ? 0 : N), 3, args};
    must(adsmFarmV(tasks, 6,
                   adsmWith(.devices = 3, .sync = 1, .progress = note,
                            .progress_arg = &told)));
    check_told(&told, 6);
    must(adsmScan(adsmOperatorOf(ADSM_SUM, ADSM_I32), out, x, N, 0,
                  adsmWith(.parts = 5, .sync = 1, .progress = note,
                           .progress_arg = &of_scan)));
    check_told(&of_scan, of_scan.parts[0]);
}
END_TEST

/* From the second on that it takes, once a second, and at its end. */
START_TEST(who_watches_sees_lines_of_long_calls_only)
{
    struct capture c;
    setenv("ADSM_PROGRESS", "1", 1);
    setenv("SOFTCUDA_PACE", "100K/s", 1);
    int *x = numbers(0), *y = numbers(0);
    capture_begin(&c);
    must(adsmCallWith(adsmWith(.parts = 2, .sync = 1), kernel("map"),
                      adsmR1(1000), adsmIn(x), adsmInOut(y),
                      adsmVal((int){5})));
    map(adsmWith(.parts = 10), x, y);
    map(adsmWith(.parts = 1, .sync = 1), x, y);
    capture_end(&c);
    ck_assert_ptr_nonnull(
        strstr(c.text, " of 10 parts of kernel 'map' after "));
    ck_assert_ptr_nonnull(
        strstr(c.text, "libadsm: 10 of 10 parts of kernel 'map' after "));
    ck_assert_ptr_null(strstr(c.text, " of 2 parts"));
}
END_TEST

SUITE_MAIN("progress", 60, program_is_told_of_parts_as_they_end,
           pieces_and_rounds_are_parts, call_of_one_part_or_none_is_told_once,
           last_word_comes_without_a_wait, failure_is_told_or_returned,
           call_that_fails_tells_nothing_behind_it,
           calls_made_meanwhile_have_no_progress,
           farm_tells_of_tasks_and_a_scan_of_its_first_pass,
           who_watches_sees_lines_of_long_calls_only)
