/*
 * Grains: what an access opens where accesses come in order and where they do
 * not, and the huge pages below. Wants ADSM_PROTOCOL=rolling.
 */
#include "fixture.h"
#include "accel/fence.h"
#include "base/stats.h"
#include "common/pmd.h"
#include "mm/doors/boundary.h"
#include "mm/state/coherence.h"
#include "mm/state/run.h"
#include "mm/state/dirty.h"
#include "os/huge.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB   ((size_t)1 << 20)
#define GRAIN (2 * MIB)
#define BLOCK ((size_t)256 << 10)

static uint64_t count(enum adsm_stat stat)
{
    return adsm_stats_get(stat);
}

static uint8_t *make(size_t bytes)
{
    uint8_t *p = adsmAlloc(bytes);
    ck_assert_ptr_nonnull(p);
    return p;
}

/* All of it on the device, nothing on the host: bytes i * 7 + seed. */
static void fill(struct fixture *f, uint8_t *p, size_t bytes, uint32_t seed)
{
    device_fill(f->fill, p, (uint32_t)bytes, seed);
    must(adsmSync());
}

static void must_be_filled(const uint8_t *p, size_t bytes, uint32_t seed)
{
    size_t i = 0;
    while (i < bytes && p[i] == filled((uint32_t)i, seed))
        i++;
    ck_assert_uint_eq(i, bytes);
}

static void must_be(const uint8_t *p, size_t bytes, uint8_t value)
{
    size_t i = 0;
    while (i < bytes && p[i] == value)
        i++;
    ck_assert_uint_eq(i, bytes);
}

static bool is_dirty(const uint8_t *p, size_t offset)
{
    struct adsm_object *object = adsm_index_find(p);
    return adsm_block_state(object, adsm_block_of(object, offset)) ==
           ADSM_DIRTY;
}

/* 1, 1, 2, 4 blocks, and then a grain for each fault. */
START_TEST(writing_in_order_faults_once_for_each_grain)
{
    setenv("ADSM_ROLLING_LEARN", "0", 1); /* a larger size opens several */
    (void)fixture_up();
    uint8_t *p = make(64 * MIB);
    memset(p, 1, 64 * MIB);
    ck_assert_uint_eq(count(ADSM_STAT_faults_write), 4 + 31);
    memset(p, 2, BLOCK); /* was written back: in order again from here */
    memset(p + BLOCK, 2, 64 * MIB - BLOCK);
    ck_assert_uint_eq(count(ADSM_STAT_faults_write), 2 * (4 + 31));
    must(adsmFree(p));
}
END_TEST

START_TEST(reading_in_order_fetches_a_grain_at_once)
{
    struct fixture f = fixture_up();
    uint8_t *p = make(16 * MIB + 4096);
    fill(&f, p, 16 * MIB + 4096, 3);
    must_be_filled(p, 16 * MIB + 4096, 3);
    ck_assert_uint_eq(count(ADSM_STAT_faults_read), 4 + 7 + 1);
    ck_assert_uint_eq(count(ADSM_STAT_fetches), 4 + 7 + 1);
    ck_assert_uint_eq(count(ADSM_STAT_bytes_down), 16 * MIB + 4096);
    must(adsmFree(p));
}
END_TEST

START_TEST(scattered_accesses_move_single_blocks)
{
    struct fixture f = fixture_up();
    uint8_t *p = make(64 * MIB);
    fill(&f, p, 64 * MIB, 0);
    uint64_t up = count(ADSM_STAT_bytes_up);
    for (size_t at = MIB; at < 64 * MIB; at += GRAIN)
        p[at] = 1;
    ck_assert_uint_eq(count(ADSM_STAT_bytes_down), 32 * BLOCK);
    ck_assert(!is_dirty(p, 64 * MIB - 1));
    fill(&f, p, 64 * MIB, 0);
    ck_assert_uint_eq(count(ADSM_STAT_bytes_up) - up, 32 * BLOCK);
    must(adsmFree(p));
}
END_TEST

/* Three arrays written side by side: as many grains as the rolling size was
 * made for, and none is sent before it is full. */
START_TEST(arrays_written_side_by_side_are_sent_once)
{
    enum { ARRAYS = 3 };
    (void)fixture_up();
    uint8_t *p[ARRAYS];
    for (int k = 0; k < ARRAYS; k++)
        p[k] = make(16 * MIB);
    for (size_t i = 0; i < 16 * MIB; i += 64)
        for (int k = 0; k < ARRAYS; k++)
            memset(p[k] + i, (int)i, 64);
    ck_assert_uint_eq(count(ADSM_STAT_faults_write), ARRAYS * (4 + 7));
    ck_assert_uint_le(count(ADSM_STAT_bytes_up), ARRAYS * 16 * MIB);
    for (int k = 0; k < ARRAYS; k++)
        must(adsmFree(p[k]));
}
END_TEST

static uint32_t dirty_blocks(const uint8_t *p)
{
    struct adsm_object *object = adsm_index_find(p);
    ck_assert_ptr_nonnull(object);
    return atomic_load(&object->dirty);
}

START_TEST(rolling_size_is_kept_and_grains_leave_whole)
{
    (void)fixture_up();
    uint8_t *p = make(32 * MIB), *small = make(100000);
    uint32_t limit = adsm_dirty_limit();
    small[0] = 1; /* the size is no multiple of a grain's blocks */
    ck_assert_uint_eq(limit, 2 * GRAIN / BLOCK + 2);
    for (size_t at = 0; at < 32 * MIB; at += BLOCK) {
        memset(p + at, 1, BLOCK);
        ck_assert_uint_le(dirty_blocks(p), limit);
        for (size_t g = GRAIN; g + GRAIN <= at; g += GRAIN)
            ck_assert(is_dirty(p, g) == is_dirty(p, g + GRAIN - 1));
    }
    must(adsmFree(p));
    must(adsmFree(small));
}
END_TEST

/* Who says what a block or the rolling size is, gets that. */
START_TEST(block_size_from_the_environment_is_what_opens)
{
    setenv("ADSM_BLOCK_SIZE", "256K", 1);
    setenv("ADSM_ROLLING_SIZE", "40", 1);
    (void)fixture_up();
    uint8_t *p = make(16 * MIB);
    for (size_t i = 0; i < 16 * MIB / BLOCK; i++) {
        memset(p + i * BLOCK, 1, BLOCK);
        ck_assert_uint_eq(count(ADSM_STAT_faults_write), i + 1);
        ck_assert_uint_eq(dirty_blocks(p), i + 1 < 40 ? i + 1 : 40);
    }
    must(adsmFree(p));
}
END_TEST

START_TEST(rolling_size_of_one_still_serves_stores_in_order)
{
    setenv("ADSM_ROLLING_SIZE", "1", 1);
    setenv("ADSM_ROLLING_LEARN", "0", 1); /* such stores make it two */
    (void)fixture_up();
    uint8_t *p = make(8 * MIB);
    for (size_t i = 0; i + 8 <= 8 * MIB; i += 7)
        memcpy(p + i, &i, 8);
    ck_assert_uint_le(dirty_blocks(p), 2); /* the last store's two */
    must(adsmFree(p));
}
END_TEST

/* All that can be had, however long it takes. */
static struct fixture up_for_huge_pages(void)
{
    if (strcmp(getenv("ADSM_HUGE_PAGES"), "auto") == 0)
        setenv("ADSM_HUGE_PAGES", "on", 1);
    return fixture_up();
}

/* The mapping that the program uses, not only the memory. */
START_TEST(grains_that_are_used_whole_are_huge_and_stay_so)
{
    const char *why;
    struct fixture f = up_for_huge_pages();
    if (!adsm_huge_try(&why))
        SUITE_SKIP_CASE(why);
    uint8_t *p = make(32 * MIB);
    memset(p, 1, 32 * MIB);
    ck_assert_uint_ge(count(ADSM_STAT_huge_pages), 16);
    /* The first grain was opened bit by bit. */
    ck_assert_uint_eq(pmd_bytes(p, 32 * MIB), 30 * MIB);
    for (uint32_t round = 0; round < 3; round++) {
        fill(&f, p, 32 * MIB, round);
        must_be_filled(p, 32 * MIB, round);
        memset(p, 1, 32 * MIB);
        ck_assert_uint_eq(pmd_bytes(p, 32 * MIB), 30 * MIB);
    }
    must(adsmFree(p));
}
END_TEST

/* The device has read it all: closed as a whole, on huge pages. */
static void close_all(uint8_t *p, size_t bytes)
{
    struct adsm_accel *home = adsm_index_find(p)->home;
    must(adsm_boundary_device_read(p, bytes, adsm_accel_launch_stream(home)));
}

/* Grains for each fault: 4 for the first, 1 for each of the next seven, then
 * 2, 2, 3, 3, 4, 4, 4 and what is left, and never more in vain than a quarter. */
START_TEST(writing_huge_pages_in_order_opens_several_at_once)
{
    const char *why;
    setenv("ADSM_ROLLING_SIZE", "60000", 1);
    (void)up_for_huge_pages();
    if (!adsm_huge_try(&why))
        SUITE_SKIP_CASE(why);
    uint8_t *p = make(64 * MIB);
    memset(p, 1, 64 * MIB);
    ck_assert_uint_eq(count(ADSM_STAT_faults_write), 4 + 31);
    close_all(p, 64 * MIB);
    for (size_t at = 0; at < 64 * MIB; at += BLOCK) {
        memset(p + at, 2, BLOCK);
        ck_assert_uint_le(dirty_blocks(p) * BLOCK,
                          (at + GRAIN) / GRAIN * GRAIN * 5 / 4);
    }
    ck_assert_uint_eq(count(ADSM_STAT_faults_write), 4 + 31 + 4 + 7 + 8);
    ck_assert_uint_eq(pmd_bytes(p, 64 * MIB), 62 * MIB);
    must(adsmFree(p));
}
END_TEST

START_TEST(sparse_use_splits_a_grain_and_dense_use_joins_it_again)
{
    const char *why;
    struct fixture f = up_for_huge_pages();
    if (!adsm_huge_try(&why))
        SUITE_SKIP_CASE(why);
    uint8_t *p = make(8 * MIB);
    memset(p, 1, 8 * MIB);
    fill(&f, p, 8 * MIB, 5);
    ck_assert_uint_eq(pmd_bytes(p, 8 * MIB), 6 * MIB);
    p[5 * MIB] = 1; /* in the third */
    ck_assert_uint_eq(pmd_bytes(p, 8 * MIB), 4 * MIB);
    p[5 * MIB] = filled(5 * MIB, 5);
    must_be_filled(p, 8 * MIB, 5);
    fill(&f, p, 8 * MIB, 6);
    must_be_filled(p, 8 * MIB, 6);
    memset(p, 1, 8 * MIB);
    ck_assert_uint_eq(pmd_bytes(p, 8 * MIB), 6 * MIB);
    must(adsmFree(p));
}
END_TEST

/* No free one, or none at all: the same program, on small pages. */
START_TEST(without_huge_pages_all_is_as_before)
{
    struct fixture f = fixture_up();
    ck_assert_int_eq(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
    uint8_t *p = make(16 * MIB);
    memset(p, 1, 16 * MIB);
    ck_assert_uint_eq(pmd_bytes(p, 16 * MIB), 0);
    ck_assert_uint_eq(count(ADSM_STAT_huge_pages), 0);
    ck_assert_uint_eq(count(ADSM_STAT_faults_write), 4 + 7);
    fill(&f, p, 16 * MIB, 9);
    must_be_filled(p, 16 * MIB, 9);
    must(adsmFree(p));
}
END_TEST

/* What a system call is lent and what a signal handler sees of it go through
 * parts of a grain. */
START_TEST(system_call_into_a_part_of_a_grain_leaves_the_rest)
{
    struct fixture f = fixture_up();
    uint8_t *p = make(8 * MIB);
    struct adsm_object *object = adsm_index_find(p);
    memset(p, 1, 8 * MIB);
    must(adsm_run_show(object, adsm_block_of(object, 5 * MIB), 0, SIZE_MAX,
                       ADSM_READ_ONLY));
    must_be(p + 4 * MIB, 2 * MIB, 1);
    fill(&f, p, 8 * MIB, 2);
    must_be_filled(p, 8 * MIB, 2);
    must(adsmFree(p));
}
END_TEST

START_TEST(child_process_changes_nothing_of_the_parents)
{
    struct fixture f = fixture_up();
    uint8_t *p = make(8 * MIB);
    memset(p, 1, 8 * MIB);
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WEXITSTATUS(status), 7);
    must_be(p, 8 * MIB, 1);
    fill(&f, p, 8 * MIB, 4);
    must_be_filled(p, 8 * MIB, 4);
    must(adsmFree(p));
}
END_TEST

#define ADD_ALL(tcase, cases)                                                  \
    for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++)               \
    tcase_add_test(tcase, (cases)[i])

int main(void)
{
    const TTest *const on_any_pages[] = {
        writing_in_order_faults_once_for_each_grain,
        reading_in_order_fetches_a_grain_at_once,
        scattered_accesses_move_single_blocks,
        arrays_written_side_by_side_are_sent_once,
        rolling_size_is_kept_and_grains_leave_whole,
        block_size_from_the_environment_is_what_opens,
        rolling_size_of_one_still_serves_stores_in_order,
        without_huge_pages_all_is_as_before,
        system_call_into_a_part_of_a_grain_leaves_the_rest,
        child_process_changes_nothing_of_the_parents,
    };
    const TTest *const on_huge_pages[] = {
        grains_that_are_used_whole_are_huge_and_stay_so,
        writing_huge_pages_in_order_opens_several_at_once,
        sparse_use_splits_a_grain_and_dense_use_joins_it_again,
    };
    Suite *suite = suite_create("grain");
    TCase *tcase = tcase_create("grain");
    tcase_set_timeout(tcase, 120);
    ADD_ALL(tcase, on_any_pages);
    if (strcmp(getenv("ADSM_HUGE_PAGES"), "off") != 0)
        ADD_ALL(tcase, on_huge_pages);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
