/*
 * Shared granules against a plain array of pages. Needs no device: nothing is
 * mapped at their addresses.
 */
#include "accel/share.h"
#include "common/suite.h"

#include <string.h>

enum { PAGES = ADSM_SHARE_PAGES, PAGE = 4096 };
enum { GRANULES = 400 };
#define GRANULE ((uint64_t)PAGES * PAGE)

static struct adsm_shares shares = {.page_bytes = PAGE};
static struct adsm_share *mapped[GRANULES + 1]; /* by address; one is spare */
static size_t stride = 1, room = GRANULES;

struct run {
    struct adsm_share *share;
    uint64_t at;
    size_t pages;
};

/* The lowest granule that is free, as a window would map it: the next one, or
 * with `stride` one without neighbours. NULL share: the device is full. */
static struct run take_or_not(size_t pages)
{
    struct run run = {.pages = pages};
    run.share = adsm_share_take(&shares, pages, &run.at);
    if (run.share)
        return run;
    size_t i = 0;
    while (i < room && mapped[i])
        i += stride;
    if (i >= room)
        return run;
    struct adsm_share *before = i > 0 ? mapped[i - 1] : NULL;
    mapped[i] = adsm_share_create(&shares, i * GRANULE, 1, before,
                                  mapped[i + 1], pages, &run.at);
    if (!mapped[i])
        ck_abort_msg("no memory");
    run.share = mapped[run.at / GRANULE];
    return run;
}

static struct run take(size_t pages)
{
    struct run run = take_or_not(pages);
    /* Not by ck_assert, which costs a system call. */
    if (!run.share || run.at % PAGE || run.share != mapped[run.at / GRANULE] ||
        !mapped[(run.at + pages * PAGE - 1) / GRANULE])
        ck_abort_msg("no run of %zu pages, or one that is not mapped", pages);
    return run;
}

/* Return: granules that came back. */
static int give(struct run run)
{
    struct adsm_share *empty[2];
    int n = 0;
    if (!adsm_share_give(&shares, run.share, run.at, run.pages, empty))
        ck_abort_msg("%zu pages are not taken back", run.pages);
    for (int i = 0; i < 2; i++) {
        if (!empty[i])
            continue;
        mapped[empty[i]->at / GRANULE] = NULL;
        adsm_share_destroy(empty[i]);
        n++;
    }
    return n;
}

static void nothing_is_left(void)
{
    bool left = false;
    for (size_t run = 0; run <= ADSM_SHARE_RUNS; run++)
        left = left || shares.with[run];
    for (size_t i = 0; i < GRANULES; i++)
        left = left || mapped[i];
    ck_assert(!left);
}

START_TEST(random_runs_never_overlap_and_all_granules_come_back)
{
    enum { RUNS = 400 };
    static struct run live[RUNS];
    static uint8_t used[GRANULES * PAGES];
    srand(3);
    for (int step = 0; step < 40000; step++) {
        struct run *run = &live[rand() % RUNS];
        bool taking = run->pages == 0;
        if (taking)
            *run = take(1 + (size_t)rand() % (step % 4 == 0 ? 511 : 40));
        for (size_t i = 0; i < run->pages; i++) {
            uint8_t *page = &used[run->at / PAGE + i];
            if (*page == taking)
                ck_abort_msg("page %zu of a run at %#lx", i, run->at);
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
    nothing_is_left();
}
END_TEST

/* Of sizes up to half a granule, in steps of what a driver gives. */
START_TEST(every_size_uses_nine_tenths_of_a_device)
{
    enum { LEAST = 64 << 10, MOST = 1 << 20, STEP = 512 };
    static struct run live[1024];
    double worst = 1;
    size_t sizes = 0;
    room = 32;
    for (size_t bytes = LEAST + STEP; bytes <= MOST; bytes += STEP, sizes++) {
        size_t n = 0, pages = (bytes + PAGE - 1) / PAGE;
        while ((live[n] = take_or_not(pages)).share)
            n++;
        /* What is given back in between is there for the same size again. */
        for (size_t i = 0; i < n; i += 3)
            (void)give(live[i]);
        for (size_t i = 0; i < n; i += 3)
            live[i] = take(pages);
        ck_assert(adsm_shares_are_valid(&shares));
        for (size_t i = 0; i < n; i++)
            (void)give(live[i * 7919 % n]);
        nothing_is_left();
        double ratio = (double)n / (double)(room * GRANULE / bytes);
        if (ratio < 0.9)
            printf("%zu bytes: %.3f\n", bytes, ratio);
        worst = ratio < worst ? ratio : worst;
    }
    printf("%zu sizes, the worst %.3f\n", sizes, worst);
    fflush(stdout);
    ck_assert_uint_eq(sizes, 1920);
    ck_assert(worst >= 0.9);
}
END_TEST

START_TEST(span_goes_on_in_the_next_granule)
{
    struct run run[3] = {take(300), take(300), take(300)};
    ck_assert_uint_eq(run[1].at, 300 * PAGE);
    ck_assert_ptr_eq(run[1].share, mapped[0]);
    ck_assert_ptr_eq(run[2].share, mapped[1]);
    ck_assert_int_eq(give(run[0]), 0);
    ck_assert_int_eq(give(run[2]), 0);
    ck_assert_int_eq(give(run[1]), 2);
    nothing_is_left();
}
END_TEST

START_TEST(granule_of_its_own_ends_where_the_next_one_was)
{
    struct run run[3] = {take(500), take(400), take(90)};
    /* 12 pages in the first, 388 and 90 in the second. */
    ck_assert_uint_eq(run[1].at, 500 * PAGE);
    ck_assert_int_eq(give(run[1]), 0);
    ck_assert_int_eq(give(run[2]), 1);
    /* Nothing is mapped behind the twelve pages. */
    struct run again = take(13);
    ck_assert_uint_eq(again.at, 500 * PAGE);
    ck_assert_ptr_nonnull(mapped[1]);
    ck_assert_int_eq(give(run[0]), 0);
    ck_assert_int_eq(give(again), 2);
    nothing_is_left();
}
END_TEST

START_TEST(run_is_taken_where_it_fits_best)
{
    stride = 2;
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
    stride = 2;
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
    struct adsm_share *empty[2];
    ck_assert(!adsm_share_give(&shares, run.share, run.at + PAGE, 12, empty));
    ck_assert(!adsm_share_give(&shares, run.share, run.at, 600, empty));
    ck_assert(adsm_shares_are_valid(&shares));
    ck_assert(give(run));
}
END_TEST

SUITE_MAIN("accel/share", 60,
           random_runs_never_overlap_and_all_granules_come_back,
           every_size_uses_nine_tenths_of_a_device,
           span_goes_on_in_the_next_granule,
           granule_of_its_own_ends_where_the_next_one_was,
           run_is_taken_where_it_fits_best, granule_is_filled_to_its_last_page,
           pages_not_in_use_are_not_taken_back)
