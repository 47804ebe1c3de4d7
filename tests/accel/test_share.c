/*
 * Shared granules against a plain array of pages. Needs no device: nothing is
 * mapped at their addresses.
 */
#include "accel/share.h"
#include "common/suite.h"

#include <string.h>

enum { PAGES = ADSM_SHARE_PAGES, PAGE = ADSM_SHARE_PAGE_BYTES };
#define GRANULE ((uint64_t)PAGES * PAGE)

static struct adsm_shares shares;

struct run {
    struct adsm_share *share;
    uint64_t at;
    size_t pages;
};

/* Granules 0, 1, … as a device would map them. */
static struct run take(size_t pages)
{
    static uint64_t mapped;
    struct run run = {.pages = pages};
    run.share = adsm_share_take(&shares, pages, &run.at);
    if (!run.share) {
        run.at = mapped++ * GRANULE;
        run.share = adsm_share_create(&shares, run.at, 1, pages);
        ck_assert_ptr_nonnull(run.share);
    }
    ck_assert_uint_ge(run.at, run.share->at);
    ck_assert_uint_le(run.at + pages * PAGE, run.share->at + GRANULE);
    return run;
}

static bool give(struct run run)
{
    bool gave;
    bool last = adsm_share_give(&shares, run.share, run.at, run.pages, &gave);
    ck_assert(gave);
    if (last)
        adsm_share_destroy(run.share);
    return last;
}

START_TEST(random_runs_never_overlap_and_all_granules_come_back)
{
    enum { RUNS = 400, GRANULES = 400 };
    static struct run live[RUNS];
    static uint8_t used[GRANULES][PAGES];
    srand(3);
    for (int step = 0; step < 40000; step++) {
        struct run *run = &live[rand() % RUNS];
        bool taking = run->pages == 0;
        if (taking)
            *run = take(1 + (size_t)rand() % (step % 100 == 0 ? 511 : 40));
        size_t granule = run->at / GRANULE;
        ck_assert_uint_lt(granule, GRANULES);
        for (size_t i = 0; i < run->pages; i++) {
            uint8_t *page = &used[granule][run->at % GRANULE / PAGE + i];
            ck_assert_int_eq(*page, !taking);
            *page = taking;
        }
        if (!taking) {
            (void)give(*run);
            run->pages = 0;
        }
        ck_assert(step % 64 || adsm_shares_are_valid(&shares));
    }
    for (int i = 0; i < RUNS; i++)
        if (live[i].pages)
            (void)give(live[i]);
    for (size_t run = 0; run <= PAGES; run++)
        ck_assert_ptr_null(shares.with[run]);
}
END_TEST

START_TEST(run_is_taken_where_it_fits_best)
{
    struct run wide = take(400), narrow = take(490);
    ck_assert_ptr_ne(wide.share, narrow.share);
    struct run small = take(20);
    ck_assert_ptr_eq(small.share, narrow.share);
    struct run medium = take(30);
    ck_assert_ptr_eq(medium.share, wide.share);
    (void)give(small);
    struct run hole = take(22);
    ck_assert_ptr_eq(hole.share, narrow.share);
    (void)give(hole);
    (void)give(medium);
    ck_assert(give(wide));
    ck_assert(give(narrow));
}
END_TEST

START_TEST(granule_is_filled_to_its_last_page)
{
    struct run first = take(12), run[20];
    for (int i = 0; i < 20; i++) {
        run[i] = take(25);
        ck_assert_ptr_eq(run[i].share, first.share);
    }
    struct run other = take(1);
    ck_assert_ptr_ne(other.share, first.share);
    for (int i = 0; i < 20; i++)
        ck_assert(!give(run[i]));
    ck_assert(give(first));
    ck_assert(give(other));
}
END_TEST

START_TEST(pages_not_in_use_are_not_taken_back)
{
    struct run run = take(12);
    bool gave;
    ck_assert(!adsm_share_give(&shares, run.share, run.at + PAGE, 12, &gave));
    ck_assert(!gave);
    ck_assert(adsm_shares_are_valid(&shares));
    ck_assert(give(run));
}
END_TEST

SUITE_MAIN("accel/share", 60,
           random_runs_never_overlap_and_all_granules_come_back,
           run_is_taken_where_it_fits_best, granule_is_filled_to_its_last_page,
           pages_not_in_use_are_not_taken_back)
