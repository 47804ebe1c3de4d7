/*
 * Shares of a job: every piece is taken once, whoever comes and however many
 * do not.
 */
#include <pthread.h>
#include <string.h>

#include "exec/share.h"
#include "tests/common/suite.h"

enum { MOST = 100000, WORKERS = 5 };

static struct sc_share shares[WORKERS];
static _Atomic unsigned char taken[MOST];

struct worker {
    uint32_t number, most;
    uint64_t count;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    uint64_t piece;
    while (worker->count < worker->most &&
           sc_share_take(shares, WORKERS, worker->number, &piece)) {
        if (piece < MOST)
            atomic_fetch_add(&taken[piece], 1);
        worker->count++;
    }
    return NULL;
}

static void check_taken(uint64_t pieces)
{
    for (uint64_t i = 0; i < pieces; i++)
        if (taken[i] != 1)
            ck_abort_msg("piece %llu of %llu: %d times", (unsigned long long)i,
                         (unsigned long long)pieces, taken[i]);
}

START_TEST(one_worker_takes_the_shares_of_all)
{
    for (uint64_t pieces = 0; pieces < 40; pieces++) {
        struct worker worker = {3, UINT32_MAX, 0};
        memset(taken, 0, sizeof taken);
        sc_share_deal(shares, WORKERS, pieces);
        work(&worker);
        ck_assert_uint_eq(worker.count, pieces);
        check_taken(pieces);
    }
}
END_TEST

START_TEST(own_share_comes_first_and_in_order)
{
    uint64_t piece;
    sc_share_deal(shares, WORKERS, 50);
    for (uint64_t i = 20; i < 30; i++) {
        ck_assert(sc_share_take(shares, WORKERS, 2, &piece));
        ck_assert_uint_eq(piece, i);
    }
    ck_assert(sc_share_take(shares, WORKERS, 2, &piece));
    ck_assert(piece < 20 || piece >= 30);
}
END_TEST

START_TEST(racing_workers_take_every_piece_once)
{
    for (int round = 0; round < 20; round++) {
        struct worker workers[WORKERS];
        pthread_t threads[WORKERS];
        memset(taken, 0, sizeof taken);
        sc_share_deal(shares, WORKERS, MOST);
        for (uint32_t i = 0; i < WORKERS; i++) {
            /* the second leaves early, as one whose job stops */
            workers[i] = (struct worker){i, i == 1 ? 100 : UINT32_MAX, 0};
            ck_assert_int_eq(
                pthread_create(&threads[i], NULL, work, &workers[i]), 0);
        }
        uint64_t count = 0;
        for (int i = 0; i < WORKERS; i++) {
            pthread_join(threads[i], NULL);
            count += workers[i].count;
        }
        /* what a thief carried while all others left is his to finish */
        struct worker last = {1, UINT32_MAX, 0};
        work(&last);
        ck_assert_uint_eq(count + last.count, MOST);
        check_taken(MOST);
    }
}
END_TEST

SUITE_MAIN("softcuda: shares", 30, one_worker_takes_the_shares_of_all,
           own_share_comes_first_and_in_order,
           racing_workers_take_every_piece_once)
