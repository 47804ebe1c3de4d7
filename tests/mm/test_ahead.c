/*
 * Fetching ahead: what comes at a return or behind an access, how it is known
 * whether that was wanted, and what happens when it was not. Wants
 * ADSM_PROTOCOL=rolling and ADSM_BLOCK_SIZE=64K.
 */
#include "ahead_rounds.h"
#include "mm/doors/bulk.h"
#include "mm/doors/loan.h"

#include <string.h>

START_TEST(what_was_read_comes_at_the_next_return)
{
    f = fixture_up();
    uint8_t *p = make();
    run_round(p, 0, 4);
    ck_assert_uint_eq(count(ADSM_STAT_ahead), 0);
    fill(f.fill, p);
    uint64_t down = count(ADSM_STAT_bytes_down);
    must(adsmSync());
    await_ahead(p, BLOCKS / 4);
    ck_assert_uint_eq(count(ADSM_STAT_bytes_down) - down, BYTES / 4);
    ck_assert_uint_eq(count(ADSM_STAT_bytes_ahead), BYTES / 4);
    for (uint32_t i = 0; i < BLOCKS; i += 4)
        must_read(p, i);
    ck_assert_uint_eq(count(ADSM_STAT_bytes_down) - down, BYTES / 4);
    ck_assert_uint_eq(count(ADSM_STAT_ahead_hits), BLOCKS / 4);
    must_read(p, 1); /* and nothing else was there */
    ck_assert_uint_eq(count(ADSM_STAT_bytes_down) - down, BYTES / 4 + BLOCK);
    must(adsmFree(p));
    ck_assert_uint_eq(count(ADSM_STAT_ahead_misses), 0);
}
END_TEST

START_TEST(first_access_brings_the_rest_where_no_return_is_seen)
{
    f = fixture_up();
    uint8_t *p = make();
    run_round(p, 0, 8);
    fill(f.fill, p);
    must_read(p, 8); /* waits for the kernel */
    await_ahead(p, BLOCKS / 8 - 1);
    for (uint32_t i = 0; i < BLOCKS; i += 8)
        must_read(p, i);
    ck_assert_uint_eq(count(ADSM_STAT_ahead_hits), BLOCKS / 8 - 1);
    must(adsmFree(p));
}
END_TEST

START_TEST(what_was_not_read_is_expected_no_more)
{
    f = fixture_up();
    uint8_t *p = make_expected(0, 2, BLOCKS / 2);
    for (uint32_t i = 0; i < BLOCKS; i += 2)
        if (i != 10)
            must_read(p, i);
    fill(f.fill, p);
    ck_assert_uint_eq(count(ADSM_STAT_ahead_misses), 1);
    must(adsmSync());
    await_ahead(p, BLOCKS / 2 - 1);
    must_read(p, 10);
    ck_assert_uint_eq(count(ADSM_STAT_ahead_hits), BLOCKS / 2 - 1);
    must(adsmFree(p));
}
END_TEST

/* Others each time: wrong once, and no more. */
START_TEST(wrong_guess_is_the_last)
{
    f = fixture_up();
    uint8_t *p = make_expected(0, 16, 4);
    for (uint32_t k = 0; k < 40; k++)
        run_round(p, k % 8 == 0 ? 8 : k % 8, 32); /* other than before */
    ck_assert_uint_eq(count(ADSM_STAT_ahead), 4);
    must(adsmFree(p));
}
END_TEST

/* What comes is not what is read, which is the same from then on: expected again
 * after one such round, then after two, four, eight. */
START_TEST(guesses_come_back_when_they_would_be_right)
{
    f = fixture_up();
    uint8_t *p = make_expected(0, 16, 4);
    for (uint32_t wrong = 0; wrong < 4; wrong++) {
        uint64_t ahead = count(ADSM_STAT_ahead);
        for (uint32_t i = wrong + 1; i < BLOCKS; i += 16)
            must_read(p, i);
        for (uint32_t k = 0; k < UINT32_C(1) << wrong; k++)
            run_round(p, wrong + 1, 16);
        ck_assert_uint_eq(count(ADSM_STAT_ahead), ahead);
        fill(f.fill, p);
        must(adsmSync());
        await_ahead(p, 4);
    }
    must(adsmFree(p));
}
END_TEST

START_TEST(each_kernel_has_its_own)
{
    f = fixture_up();
    uint8_t *p = make();
    for (int k = 0; k < 3; k++) {
        fill(f.fill, p);
        must(adsmSync());
        if (k == 2)
            await_ahead(p, 1);
        must_read(p, 3);
        fill(f.fill_only, p);
        must(adsmSync());
        if (k == 2)
            await_ahead(p, 2);
        must_read(p, 20);
        must_read(p, 40);
    }
    must(adsmFree(p));
}
END_TEST

/* Two calls in a row, and only the second is followed by reads. */
START_TEST(the_last_kernel_before_the_read_counts)
{
    f = fixture_up();
    uint8_t *p = make();
    for (int k = 0; k < 5; k++) {
        fill(f.fill, p);
        must(adsmSync());
        fill(f.fill_only, p);
        must(adsmSync());
        if (k > 2)
            await_ahead(p, 1);
        must_read(p, 3);
    }
    ck_assert_uint_eq(count(ADSM_STAT_ahead_misses), 0);
    must(adsmFree(p));
}
END_TEST

START_TEST(system_calls_and_copies_count_as_reads)
{
    f = fixture_up();
    uint8_t *p = make_expected(5, BLOCKS, 1), out[64];
    struct adsm_loan loan;
    must(adsm_loan_begin(p + 5 * BLOCK, sizeof out, ADSM_READ, &loan));
    ck_assert_uint_eq(((uint8_t *)loan.address)[3],
                      filled(5 * BLOCK + 3, round_number));
    must(adsm_loan_end(&loan, sizeof out));
    ck_assert_uint_eq(count(ADSM_STAT_ahead_hits), 1);
    fill(f.fill, p);
    must(adsmSync());
    await_ahead(p, 1);
    must(adsm_bulk_move(out, p + 5 * BLOCK, sizeof out));
    ck_assert_uint_eq(count(ADSM_STAT_ahead_hits), 2);
    must(adsmFree(p));
}
END_TEST

START_TEST(a_call_takes_what_came_and_was_not_read)
{
    f = fixture_up();
    uint8_t *p = make_expected(0, 1, BLOCKS);
    fill(f.fill, p);
    for (uint32_t i = 0; i < BLOCKS; i += 3)
        must_read(p, i);
    ck_assert_uint_eq(count(ADSM_STAT_ahead_misses), BLOCKS);
    must(adsmFree(p));
}
END_TEST

START_TEST(writes_into_what_came_reach_the_device)
{
    f = fixture_up();
    uint8_t *p = make_expected(0, 2, BLOCKS / 2), *q = make();
    memset(q, 0, BYTES);
    memset(p + 8 * BLOCK, 1, 100);
    must(adsmLaunch(f.mix, adsmDim1(BYTES / 256), adsmDim1(256), 0,
                    adsmInOut(q), adsmIn(p), adsmVal((uint32_t){BYTES}),
                    adsmVal((uint32_t){0})));
    for (uint32_t i = 0; i < 200; i++)
        ck_assert_uint_eq(q[8 * BLOCK + i],
                          i < 100 ? 1 : filled(8 * BLOCK + i, round_number));
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

/* Small blocks that came together open as 1, 1, 2, 4 and so on. */
START_TEST(what_came_in_order_opens_in_order)
{
    setenv("ADSM_BLOCK_SIZE", "4K", 1);
    f = fixture_up();
    uint8_t *p = make();
    for (int k = 0; k < 3; k++) {
        fill(f.fill, p);
        must(adsmSync());
        if (k == 2)
            await_ahead(p, BYTES / 4096);
        uint64_t faults = count(ADSM_STAT_faults_read);
        for (uint32_t i = 0; i < BLOCKS; i++)
            for (uint32_t at = i * BLOCK; at < (i + 1) * BLOCK; at += 1024)
                ck_assert_uint_eq(p[at], filled(at, round_number));
        /* 512 pages of 2 MiB: 1 + 1 + 2 + ... + 256, and 512. */
        if (k == 2)
            ck_assert_uint_eq(count(ADSM_STAT_faults_read) - faults, 11);
    }
    must(adsmFree(p));
}
END_TEST

/* ---- little, which whoever returns brings ---------------------------------- */

enum { LITTLE = 12 * 4096, PAGE_READ = 3 * 4096 + 5 };

static uint8_t *make_little(void)
{
    setenv("ADSM_BLOCK_SIZE", "4K", 1);
    f = fixture_up();
    uint8_t *p = adsmAlloc(LITTLE);
    ck_assert_ptr_nonnull(p);
    return p;
}

static void little_round(const uint8_t *p, bool reads)
{
    device_fill(f.fill, (void *)(uintptr_t)p, LITTLE, ++round_number);
    must(adsmSync());
    if (reads)
        ck_assert_uint_eq(((const volatile uint8_t *)p)[PAGE_READ],
                          filled(PAGE_READ, round_number));
}

START_TEST(little_is_there_when_the_wait_is_over)
{
    uint8_t *p = make_little();
    for (int k = 0; k < 3; k++) {
        uint64_t down = count(ADSM_STAT_bytes_down);
        uint64_t faults = count(ADSM_STAT_faults_read);
        device_fill(f.fill, p, LITTLE, ++round_number);
        must(adsmSync());
        /* Nobody else brings it. */
        ck_assert_uint_eq(count(ADSM_STAT_bytes_down) - down, k ? 4096 : 0);
        ck_assert_uint_eq(p[PAGE_READ], filled(PAGE_READ, round_number));
        ck_assert_uint_eq(count(ADSM_STAT_bytes_down) - down, 4096);
        /* Open once all of it was wanted. */
        ck_assert_uint_eq(count(ADSM_STAT_faults_read) - faults, k < 2);
    }
    ck_assert_uint_eq(count(ADSM_STAT_ahead_opened), 1);
    must(adsmFree(p));
}
END_TEST

/* Closed after 0, 1, 2, 4 and so on returns that open it, 64 at most. */
START_TEST(little_that_is_read_each_time_faults_rarely)
{
    enum { ROUNDS = 300, AT_FIRST = 2, DOUBLINGS = 7 };
    uint8_t *p = make_little();
    for (int k = 0; k < ROUNDS; k++)
        little_round(p, true);
    ck_assert_uint_eq(count(ADSM_STAT_faults_read),
                      AT_FIRST + DOUBLINGS +
                          (ROUNDS - AT_FIRST - DOUBLINGS - 127) / 65);
    must(adsmFree(p));
}
END_TEST

START_TEST(little_that_is_read_no_more_comes_no_more)
{
    enum { ROUNDS = 150 };
    uint8_t *p = make_little();
    for (int k = 0; k < ROUNDS; k++)
        little_round(p, true);
    uint64_t opened = count(ADSM_STAT_ahead_opened);
    for (int k = 0; k < ROUNDS; k++)
        little_round(p, false);
    ck_assert_uint_le(count(ADSM_STAT_ahead_opened) - opened, 64);
    ck_assert_uint_eq(count(ADSM_STAT_ahead_misses), 1);
    uint64_t down = count(ADSM_STAT_bytes_down);
    for (int k = 0; k < ROUNDS; k++)
        little_round(p, false);
    ck_assert_uint_eq(count(ADSM_STAT_bytes_down), down);
    little_round(p, true);
    must(adsmFree(p));
}
END_TEST

START_TEST(little_comes_behind_the_kernel)
{
    enum { ROUNDS = 100, AT_FIRST = 2 };
    setenv("ADSM_FETCH_AHEAD", "early", 1);
    uint8_t *p = make_little();
    for (int k = 0; k < ROUNDS; k++) {
        uint64_t down = count(ADSM_STAT_bytes_down);
        device_fill(f.fill, p, LITTLE, ++round_number);
        ck_assert_uint_eq(count(ADSM_STAT_bytes_down) - down,
                          k < AT_FIRST ? 0 : 4096);
        must(adsmSync());
        ck_assert_uint_eq(p[PAGE_READ], filled(PAGE_READ, round_number));
        ck_assert_uint_eq(count(ADSM_STAT_bytes_down) - down, 4096);
    }
    ck_assert_uint_eq(count(ADSM_STAT_fetched_early), ROUNDS - AT_FIRST);
    must(adsmFree(p));
}
END_TEST

/* It comes behind each kernel by now. */
static uint8_t *make_little_early(void)
{
    setenv("ADSM_FETCH_AHEAD", "early", 1);
    uint8_t *p = make_little();
    for (int k = 0; k < 5; k++)
        little_round(p, true);
    ck_assert_uint_gt(count(ADSM_STAT_fetched_early), 0);
    return p;
}

/* Then something writes it once more, before anybody looks. */
START_TEST(what_came_behind_a_kernel_is_not_what_the_next_leaves)
{
    uint8_t *p = make_little_early();
    device_fill(f.fill, p, LITTLE, ++round_number);
    little_round(p, true);
    must(adsmFree(p));
}
END_TEST

START_TEST(what_came_behind_a_kernel_is_not_what_is_set_then)
{
    uint8_t *p = make_little_early();
    device_fill(f.fill, p, LITTLE, ++round_number);
    must(adsm_bulk_set(p, 77, LITTLE));
    ck_assert_uint_eq(((const volatile uint8_t *)p)[PAGE_READ], 77);
    must(adsmSync());
    ck_assert_uint_eq(((const volatile uint8_t *)p)[PAGE_READ], 77);
    must(adsmFree(p));
}
END_TEST

/* A program that looks at its result once in many launches does not pay for a
 * copy behind each. */
START_TEST(what_nobody_waits_for_does_not_come_behind_each_kernel)
{
    enum { LAUNCHES = 256 };
    uint8_t *p = make_little_early();
    uint64_t down = count(ADSM_STAT_bytes_down);
    for (int k = 0; k < LAUNCHES; k++)
        device_fill(f.fill, p, LITTLE, ++round_number);
    ck_assert_uint_le(count(ADSM_STAT_bytes_down) - down, 12 * 4096);
    must(adsmSync());
    ck_assert_uint_eq(p[PAGE_READ], filled(PAGE_READ, round_number));
    must(adsmFree(p));
}
END_TEST

START_TEST(writes_into_what_came_open_reach_the_device)
{
    uint8_t *p = make_little();
    for (int k = 0; k < 3; k++)
        little_round(p, true);
    ck_assert_uint_eq(count(ADSM_STAT_ahead_opened), 1);
    uint8_t *q = adsmAlloc(LITTLE);
    memset(q, 0, LITTLE);
    p[PAGE_READ] = 200;
    must(adsmLaunch(f.mix, adsmDim1(LITTLE / 256), adsmDim1(256), 0,
                    adsmInOut(q), adsmIn(p), adsmVal((uint32_t){LITTLE}),
                    adsmVal((uint32_t){0})));
    ck_assert_uint_eq(q[PAGE_READ], 200);
    ck_assert_uint_eq(q[PAGE_READ + 1], filled(PAGE_READ + 1, round_number));
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

/* Blocks of the default size, read from one end to the other. */
static uint64_t faults_of_rounds(const char *setting)
{
    setenv("ADSM_FETCH_AHEAD", setting, 1);
    unsetenv("ADSM_BLOCK_SIZE");
    f = fixture_up();
    uint8_t *p = make();
    for (int k = 0; k < 4; k++)
        run_round(p, 0, 1);
    must(adsmFree(p));
    ck_assert_uint_eq(count(ADSM_STAT_ahead), 0);
    return count(ADSM_STAT_faults_read);
}

START_TEST(off_brings_a_block_for_each_fault)
{
    ck_assert_uint_eq(faults_of_rounds("off"), 4 * 16);
}
END_TEST

START_TEST(sequential_brings_what_follows_and_nothing_before)
{
    ck_assert_uint_eq(faults_of_rounds("sequential"), 4 * (4 + 1));
}
END_TEST

static void lend(const uint8_t *p, uint32_t at)
{
    enum { N = 100 };
    struct adsm_loan loan;
    must(adsm_loan_begin(p + at, N, ADSM_READ, &loan));
    for (uint32_t k = 0; k < N; k++)
        ck_assert_uint_eq(((uint8_t *)loan.address)[k],
                          filled(at + k, round_number));
    must(adsm_loan_end(&loan, N));
}

/* Blocks of 1 MiB: up to eight times a few pages, and then all. */
START_TEST(a_few_bytes_for_a_system_call_bring_their_pages)
{
    enum { MIB = 1 << 20, TIMES = 8, PAGE = 4096 };
    setenv("ADSM_BLOCK_SIZE", "1M", 1);
    f = fixture_up();
    uint8_t *p = make();
    for (int k = 0; k < 2; k++) {
        fill(k ? f.fill_only : f.fill, p); /* nothing is expected */
        uint64_t down = count(ADSM_STAT_bytes_down);
        lend(p, MIB + 2 * PAGE - 50); /* two pages */
        for (uint32_t i = 1; i < TIMES; i++)
            lend(p, MIB + 10 * i * PAGE);
        ck_assert_uint_eq(count(ADSM_STAT_bytes_down) - down,
                          (TIMES + 1) * PAGE);
        lend(p, MIB);
        ck_assert_uint_eq(count(ADSM_STAT_bytes_down) - down,
                          (TIMES + 1) * PAGE + MIB);
        lend(p, MIB + 5 * PAGE); /* is there */
        lend(p, 2 * MIB);        /* goes on from there */
        ck_assert_uint_eq(count(ADSM_STAT_bytes_down) - down,
                          (TIMES + 1) * PAGE + 2 * MIB);
        ck_assert_uint_eq(p[3 * MIB + 9], filled(3 * MIB + 9, round_number));
    }
    ck_assert_uint_eq(count(ADSM_STAT_fetched_parts), 2 * TIMES);
    must(adsmFree(p));
}
END_TEST

static void must_hold(const uint8_t *p, uint32_t block, uint64_t down,
                      uint32_t blocks)
{
    enum { DEFAULT = 256 << 10 };
    uint32_t at = block * DEFAULT + 5;
    ck_assert_uint_eq(p[at], filled(at, round_number));
    ck_assert_uint_eq(count(ADSM_STAT_bytes_down) - down, blocks * DEFAULT);
}

/* Of the second 2 MiB, eight blocks of the default size, in no order. */
START_TEST(most_of_a_grain_brings_the_rest)
{
    enum { DEFAULT = 256 << 10, FIRST = 8 };
    static const uint32_t order[] = {6, 1, 3, 4};
    unsetenv("ADSM_BLOCK_SIZE");
    f = fixture_up();
    uint8_t *p = make();
    fill(f.fill, p);
    must(adsmSync());
    uint64_t down = count(ADSM_STAT_bytes_down);
    for (uint32_t k = 0; k < 4; k++) /* half of it, and half of its halves */
        must_hold(p, FIRST + order[k], down, k + 1);
    /* Three of four, and so six of eight. */
    must_hold(p, FIRST, down, FIRST);
    uint64_t faults = count(ADSM_STAT_faults_read);
    for (uint32_t at = FIRST * DEFAULT; at < 2 * FIRST * DEFAULT; at += 4096)
        ck_assert_uint_eq(p[at], filled(at, round_number));
    ck_assert_uint_eq(count(ADSM_STAT_faults_read), faults);
    must_hold(p, 0, down, FIRST + 1); /* other grains do not count */
    must(adsmFree(p));
}
END_TEST

/* The last grain has three blocks: two of them are more than half of it. */
START_TEST(most_of_the_last_blocks_brings_the_rest)
{
    enum { DEFAULT = 256 << 10, COUNT = 11 };
    unsetenv("ADSM_BLOCK_SIZE");
    f = fixture_up();
    uint8_t *p = adsmAlloc(COUNT * DEFAULT);
    ck_assert_ptr_nonnull(p);
    device_fill(f.fill, p, COUNT * DEFAULT, ++round_number);
    must(adsmSync());
    uint64_t down = count(ADSM_STAT_bytes_down);
    must_hold(p, 10, down, 1);
    must_hold(p, 8, down, 3);
    must(adsmFree(p));
}
END_TEST

SUITE_MAIN("ahead", 60, what_was_read_comes_at_the_next_return,
           first_access_brings_the_rest_where_no_return_is_seen,
           what_was_not_read_is_expected_no_more, wrong_guess_is_the_last,
           guesses_come_back_when_they_would_be_right, each_kernel_has_its_own,
           the_last_kernel_before_the_read_counts,
           system_calls_and_copies_count_as_reads,
           a_call_takes_what_came_and_was_not_read,
           writes_into_what_came_reach_the_device,
           what_came_in_order_opens_in_order,
           little_is_there_when_the_wait_is_over,
           little_that_is_read_each_time_faults_rarely,
           little_that_is_read_no_more_comes_no_more,
           little_comes_behind_the_kernel,
           what_came_behind_a_kernel_is_not_what_the_next_leaves,
           what_came_behind_a_kernel_is_not_what_is_set_then,
           what_nobody_waits_for_does_not_come_behind_each_kernel,
           writes_into_what_came_open_reach_the_device,
           off_brings_a_block_for_each_fault,
           sequential_brings_what_follows_and_nothing_before,
           a_few_bytes_for_a_system_call_bring_their_pages,
           most_of_a_grain_brings_the_rest,
           most_of_the_last_blocks_brings_the_rest)
