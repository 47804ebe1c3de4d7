/*
 * Calls in chunks: what is brought, computed and fetched piece by piece.
 */
#include "call/fixture.h"

#include "base/stats.h"

#include <pthread.h>
#include <stdlib.h>

enum { N = 1 << 20, A = 5 };

static uint64_t down(void)
{
    return adsm_stats_get(ADSM_STAT_bytes_down);
}

static void map(const adsmOpts *opts, const int *x, int *y, long n)
{
    must(adsmCallWith(opts, kernel("map"), adsmR1(n), adsmIn(x), adsmInOut(y),
                      adsmVal((int){A})));
}

/* What element i of y is after it. */
static int mapped(long i)
{
    return (int)(2 * (i * 61 + 1) + i * 61 + 2 + A);
}

static void check_mapped(const int *y, long n)
{
    long bad = 0;
    for (long i = 0; i < n; i++)
        bad += y[i] != mapped(i);
    ck_assert_int_eq(bad, 0);
}

/* Kernels that take a second: what the first chunk wrote is there long before
 * the last is computed. */
START_TEST(access_waits_for_its_own_chunk)
{
    setenv("SOFTCUDA_PACE", "1M/s", 1);
    for (int fetch = 0; fetch < 2; fetch++) {
        int *x = array(adsmR1(N), ADSM_NO_HOME),
            *y = array(adsmR1(N), ADSM_NO_HOME), done;
        adsmEvent event;
        number(x, N, 1);
        number(y, N, 2);
        map(adsmWith(.devices = 1, .chunks = 8, .fetch = fetch,
                     .event = &event),
            x, y, N);
        ck_assert_int_eq(y[7], mapped(7));
        must(adsmTest(event, &done));
        ck_assert_int_eq(done, 0);
        check_mapped(y, N);
        must(adsmTest(event, &done));
        ck_assert_int_eq(done, 1);
    }
}
END_TEST

/* A thread for each chunk of a call that takes a second: it stores to what the
 * call reads and to what it writes, and looks whether the call has ended. */
enum { CHUNKS = 8, CHUNK = N / CHUNKS };

struct visit {
    pthread_t thread;
    int *x, *y, seen, done;
    adsmEvent event;
    long at;
};

static void *visit_chunk(void *argument)
{
    struct visit *v = argument;
    v->x[v->at] = -1;
    v->seen = v->y[v->at];
    v->y[v->at + 1] = -2;
    adsmTest(v->event, &v->done);
    return NULL;
}

START_TEST(threads_wait_for_their_own_chunks)
{
    setenv("SOFTCUDA_PACE", "1M/s", 1);
    int *x = array(adsmR1(N), ADSM_NO_HOME), *y = array(adsmR1(N), 0);
    struct visit visits[CHUNKS];
    adsmEvent event;
    number(x, N, 1);
    number(y, N, 2);
    map(adsmWith(.devices = 1, .chunks = CHUNKS, .fetch = 1, .event = &event),
        x, y, N);
    for (int i = 0; i < CHUNKS; i++) {
        visits[i] = (struct visit){.x = x, .y = y, .event = event};
        visits[i].at = (long)i * CHUNK + 4001 * i;
        ck_assert_int_eq(
            pthread_create(&visits[i].thread, NULL, visit_chunk, &visits[i]),
            0);
    }
    for (int i = 0; i < CHUNKS; i++) {
        long at = visits[i].at;
        pthread_join(visits[i].thread, NULL);
        ck_assert_int_eq(visits[i].seen, mapped(at));
        /* Half of the call is left when these are there. */
        ck_assert_msg(i >= CHUNKS / 2 || !visits[i].done, "chunk %d", i);
        ck_assert_int_eq(x[at], -1);
        ck_assert_int_eq(y[at + 1], -2);
        x[at] = (int)(at * 61 + 1);
        y[at + 1] = mapped(at + 1);
    }
    check_mapped(y, N);
    for (long i = 0; i < N; i++)
        ck_assert_int_eq(x[i], (int)(i * 61 + 1));
}
END_TEST

START_TEST(what_is_fetched_comes_once_and_without_being_asked_for)
{
    int *x = array(adsmR1(N), ADSM_NO_HOME), *y = array(adsmR1(N), 0);
    number(x, N, 1);
    number(y, N, 2);
    uint64_t before = down();
    map(adsmWith(.devices = 3, .chunks = 5, .fetch = 1), x, y, N);
    ck_assert_uint_eq(down() - before, N * sizeof(int));
    check_mapped(y, N);
    ck_assert_uint_eq(down() - before, N * sizeof(int));
}
END_TEST

/* The CPU's bytes are not overwritten by what is still on its way. */
START_TEST(store_behind_the_call_stays)
{
    for (int turn = 0; turn < 20; turn++) {
        int *x = array(adsmR1(N), ADSM_NO_HOME),
            *y = array(adsmR1(N), ADSM_NO_HOME);
        number(x, N, 1);
        number(y, N, 2);
        map(adsmWith(.devices = 1, .chunks = 16, .fetch = 1), x, y, N);
        for (long i = 0; i < N; i += N / 37)
            y[i] = -1;
        long bad = 0;
        for (long i = 0; i < N; i++) {
            bad += y[i] != (i % (N / 37) == 0 ? -1 : mapped(i));
        }
        ck_assert_int_eq(bad, 0);
        must(adsmFree(x));
        must(adsmFree(y));
    }
}
END_TEST

/* A copy of all of it serves a later call that has no chunks. */
START_TEST(chunks_share_a_copy)
{
    int *x = array(adsmR1(N), ADSM_NO_HOME), *y = array(adsmR1(N), 0);
    adsmCopyInfo info[4];
    number(x, N, 1);
    number(y, N, 2);
    map(adsmWith(.devices = 2, .chunks = 7), x, y, N);
    ck_assert_int_eq(adsmCopies(x, info, 4), 1);
    ck_assert_int_eq(info[0].box.hi[0] - info[0].box.lo[0], N);
    check_mapped(y, N);
}
END_TEST

START_TEST(chunks_that_do_not_fit_together_go_one_by_one)
{
    setenv("SOFTCUDA_MEMORY", "16M", 1);
    enum { LARGE = 8 << 20 };
    int *x = array(adsmR1(LARGE), ADSM_NO_HOME),
        *y = array(adsmR1(LARGE), ADSM_NO_HOME);
    number(x, LARGE, 1);
    number(y, LARGE, 2);
    map(adsmWith(.devices = 1, .chunks = 3, .fetch = 1), x, y, LARGE);
    check_mapped(y, LARGE);
}
END_TEST

START_TEST(number_of_chunks_is_looked_at)
{
    int a = 0, *x = array(adsmR1(100), 0);
    number(x, 100, 1);
    const int bad[] = {-1, 33};
    for (int i = 0; i < 2; i++)
        expect(adsmCallWith(adsmWith(.chunks = bad[i]), kernel("map"),
                            adsmR1(100), adsmIn(x), adsmInOut(x), adsmVal(a)),
               ADSM_E_INVALID, "0 to 32 are possible");
    /* More than there are indices are as many as there are. */
    must(adsmCallWith(adsmWith(.chunks = 32), kernel("map"), adsmR1(3),
                      adsmIn(x), adsmInOut(x), adsmVal(a)));
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(x[i], (i < 3 ? 3 : 1) * (i * 61 + 1));
}
END_TEST

static uint64_t launches_of_call(const int *x, int *y)
{
    uint64_t before = adsm_stats_get(ADSM_STAT_launches);
    map(adsmWith(.devices = 1, .sync = 1), x, y, N);
    return adsm_stats_get(ADSM_STAT_launches) - before;
}

START_TEST(calls_that_wait_for_their_data_are_cut_and_others_are_not)
{
    setenv("SOFTCUDA_LINK", "200MB/s", 1);
    setenv("SOFTCUDA_PACE", "20M/s", 1);
    int *x = array(adsmR1(N), ADSM_NO_HOME), *y = array(adsmR1(N), 0);
    uint64_t launches = 0;
    for (int i = 0; i < 8; i++) {
        number(x, N, 1);
        number(y, N, 2);
        launches = launches_of_call(x, y);
    }
    ck_assert_uint_gt(launches, 1);
    check_mapped(y, N);
    for (int i = 0; i < 2; i++)
        launches = launches_of_call(x, y); /* the first brings y again */
    ck_assert_uint_eq(launches_of_call(x, y), 1);
}
END_TEST

SUITE_MAIN("chunks", 60,
           calls_that_wait_for_their_data_are_cut_and_others_are_not,
           access_waits_for_its_own_chunk, threads_wait_for_their_own_chunks,
           what_is_fetched_comes_once_and_without_being_asked_for,
           store_behind_the_call_stays, chunks_share_a_copy,
           chunks_that_do_not_fit_together_go_one_by_one,
           number_of_chunks_is_looked_at)
