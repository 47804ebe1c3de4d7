/*
 * Regions: pieces are apart, aligned and whole; all of them come back; work like
 * some before it asks the system for nothing.
 */
#include "base/region.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/sanitized.h"
#include "common/suite.h"

enum { PIECES = 100 };

struct piece {
    uint8_t *at;
    size_t bytes;
};

/* Sizes of 0 to over a MiB, small ones mostly. */
static size_t bytes_of(unsigned *state)
{
    *state = *state * 1103515245 + 12345;
    unsigned r = *state >> 8;
    return r % (r >> 12 & 15 ? 200 : 1 << (r >> 16 & 7) * 3);
}

static bool all_are(const uint8_t *bytes, size_t count, uint8_t value)
{
    for (size_t b = 0; b < count; b++)
        if (bytes[b] != value)
            return false;
    return true;
}

/* Fill a region, each piece with its number, and look at all of them. */
static void fill(struct adsm_region *region, unsigned seed)
{
    struct piece pieces[PIECES];
    for (int i = 0; i < PIECES; i++) {
        size_t bytes = bytes_of(&seed);
        pieces[i] = (struct piece){adsm_region_get(region, 1, bytes), bytes};
        ck_assert_ptr_nonnull(pieces[i].at);
        ck_assert_uint_eq((uintptr_t)pieces[i].at % 16, 0);
        memset(pieces[i].at, i & 255, bytes);
    }
    for (int i = 0; i < PIECES; i++)
        ck_assert(all_are(pieces[i].at, pieces[i].bytes, i & 255));
}

START_TEST(pieces_are_apart_and_all_come_back)
{
    for (unsigned seed = 1; seed < 20; seed++) {
        struct adsm_region region = {NULL, NULL, NULL};
        fill(&region, seed);
        ck_assert_uint_gt(adsm_region_sheets(), 0);
        adsm_region_end(&region);
        ck_assert_uint_eq(adsm_region_sheets(), 0);
        ck_assert_ptr_null(region.sheets);
    }
}
END_TEST

START_TEST(zeros_are_zeros_in_used_memory)
{
    for (int turn = 0; turn < 3; turn++) {
        struct adsm_region region = {NULL, NULL, NULL};
        const size_t counts[] = {0, 1, 999, 70000, 600000};
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            uint8_t *zeros = adsm_region_zeros(&region, counts[i], 3);
            ck_assert_ptr_nonnull(zeros);
            ck_assert(all_are(zeros, 3 * counts[i], 0));
            memset(zeros, 0xff, 3 * counts[i]);
        }
        adsm_region_end(&region);
    }
}
END_TEST

START_TEST(region_may_lie_in_itself)
{
    struct adsm_region first = {NULL, NULL, NULL};
    struct adsm_region *own = adsm_region_get(&first, 1, sizeof *own);
    *own = first;
    fill(own, 7);
    adsm_region_end(own);
    ck_assert_uint_eq(adsm_region_sheets(), 0);
}
END_TEST

START_TEST(more_than_there_is_gives_nothing_and_loses_nothing)
{
    struct adsm_region region = {NULL, NULL, NULL};
    uint8_t *piece = adsm_region_get(&region, 1, 100);
    memset(piece, 5, 100);
    ck_assert_ptr_null(adsm_region_get(&region, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(adsm_region_get(&region, 1, SIZE_MAX));
    ck_assert_ptr_null(adsm_region_zeros(&region, SIZE_MAX, SIZE_MAX));
    ck_assert_ptr_null(adsm_region_get(&region, 1, SIZE_MAX / 8));
    uint8_t *next = adsm_region_get(&region, 1, 100);
    ck_assert_ptr_nonnull(next);
    memset(next, 6, 100);
    ck_assert(all_are(piece, 100, 5));
    adsm_region_end(&region);
    ck_assert_uint_eq(adsm_region_sheets(), 0);
}
END_TEST

START_TEST(what_was_given_back_is_used_again)
{
    uint8_t *first = NULL;
    if (SANITIZED)
        return;
    for (int turn = 0; turn < 3; turn++) {
        struct adsm_region region = {NULL, NULL, NULL};
        uint8_t *piece = adsm_region_get(&region, 1, 5000);
        ck_assert(turn == 0 || piece == first);
        first = piece;
        adsm_region_end(&region);
    }
}
END_TEST

/* The heap has some memory when nothing can be mapped any more. */
START_TEST(without_mappings_the_heap_is_asked)
{
    struct adsm_region region = {NULL, NULL, NULL};
    struct rlimit none = {1 << 20, 1 << 20};
    if (SANITIZED)
        return;
    free(malloc(60 << 10));
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
    ck_assert_ptr_nonnull(adsm_region_get(&region, 1, 5000));
    adsm_region_end(&region);
    ck_assert_uint_eq(adsm_region_sheets(), 0);
}
END_TEST

static void *work(void *seed)
{
    for (int turn = 0; turn < 5; turn++) {
        struct adsm_region region = {NULL, NULL, NULL};
        fill(&region, (unsigned)(uintptr_t)seed + (unsigned)turn);
        adsm_region_end(&region);
    }
    return NULL;
}

START_TEST(threads_have_regions_of_their_own)
{
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, work, (void *)(i * 1000)), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_uint_eq(adsm_region_sheets(), 0);
}
END_TEST

SUITE_MAIN("region", 60, pieces_are_apart_and_all_come_back,
           zeros_are_zeros_in_used_memory, region_may_lie_in_itself,
           more_than_there_is_gives_nothing_and_loses_nothing,
           what_was_given_back_is_used_again,
           without_mappings_the_heap_is_asked,
           threads_have_regions_of_their_own)
