/*
 * Bytes that stay with the CPU: no fetch changes them, everything around them
 * is coherent, and they are like any others once that ends.
 */
#include "fixture.h"
#include "mm/doors/bulk.h"
#include "mm/doors/kept.h"
#include "mm/watch/keep.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { BYTES = 3 << 16, AT = 5000, KEPT = 40, THREADS = 4, ROUNDS = 60 };

static struct fixture f;
static uint8_t *memory;

static void begin(void)
{
    f = fixture_up();
    memory = adsmAlloc(BYTES);
    ck_assert_ptr_nonnull(memory);
    for (uint32_t i = 0; i < BYTES; i++)
        memory[i] = filled(i, 1);
}

static uint8_t *keep(size_t at, size_t bytes)
{
    void *place;
    must(adsm_keep(memory + at, bytes, &place));
    ck_assert_ptr_eq(adsm_keep_find(memory + at, bytes), place);
    return place;
}

/* Everything is as a kernel filled it, but for `bytes` from `at` on. */
static void check_beside(size_t at, size_t bytes, uint32_t seed)
{
    for (uint32_t i = 0; i < BYTES; i++)
        if (!(i >= at && i < at + bytes) && memory[i] != filled(i, seed))
            ck_abort_msg("byte %u is %d", i, memory[i]);
}

START_TEST(first_they_are_what_the_device_has)
{
    begin();
    device_fill(f.fill, memory, BYTES, 2);
    uint8_t *place = keep(AT, KEPT);
    ck_assert_ptr_ne(place, memory + AT);
    for (uint32_t i = 0; i < KEPT; i++)
        ck_assert_int_eq(place[i], filled(AT + i, 2));
    must(adsmFree(memory));
}
END_TEST

START_TEST(a_fetch_leaves_them_out)
{
    begin();
    uint8_t *place = keep(AT, KEPT);
    for (uint32_t seed = 3; seed < 8; seed++) {
        memset(place, (int)(100 + seed), KEPT);
        device_fill(f.fill, memory, BYTES, seed);
        check_beside(AT, KEPT, seed);
        for (uint32_t i = 0; i < KEPT; i++)
            ck_assert_int_eq(memory[AT + i], 100 + seed);
    }
    must(adsmFree(memory));
}
END_TEST

/* Four bytes of every eight, over page and block ends, and a whole page. */
START_TEST(many_of_them_have_their_neighbours_between)
{
    begin();
    for (size_t i = 0; i < 9000; i += 8)
        keep(AT + i, 4);
    keep(1 << 16, 4096);
    for (size_t i = 0; i < 9000; i += 8)
        memset(adsm_keep_find(memory + AT + i, 4), 1, 4);
    memset(adsm_keep_find(memory + (1 << 16), 4096), 1, 4096);
    device_fill(f.fill, memory, BYTES, 9);
    for (uint32_t i = 0; i < BYTES; i++) {
        bool kept = (i >= AT && i < AT + 9000 && (i - AT) % 8 < 4) ||
                    (i >= 1 << 16 && i < (1 << 16) + 4096);
        if (memory[i] != (kept ? 1 : filled(i, 9)))
            ck_abort_msg("byte %u is %d", i, memory[i]);
    }
    must(adsmFree(memory));
}
END_TEST

START_TEST(ended_they_are_like_any_others)
{
    begin();
    memset(keep(AT, KEPT), 1, KEPT);
    device_fill(f.fill, memory, BYTES, 4);
    adsm_keep_end(memory + AT, KEPT);
    ck_assert_ptr_null(adsm_keep_find(memory + AT, KEPT));
    device_fill(f.fill, memory, BYTES, 5);
    check_beside(0, 0, 5);
    must(adsmFree(memory));
}
END_TEST

START_TEST(a_device_set_over_them_ends_it)
{
    begin();
    memset(keep(AT, KEPT), 1, KEPT);
    device_fill(f.fill, memory, BYTES, 4);
    must(adsm_bulk_set(memory, 0x33, BYTES));
    for (uint32_t i = 0; i < BYTES; i++)
        ck_assert_int_eq(memory[i], 0x33);
    device_fill(f.fill, memory, BYTES, 5);
    check_beside(0, 0, 5);
    must(adsmFree(memory));
}
END_TEST

START_TEST(freed_memory_has_none)
{
    begin();
    /* One of a slab, which stays; the next one gets its place. */
    uint8_t *other = adsmAlloc(1000), *first = adsmAlloc(1000);
    void *place;
    must(adsm_keep(first, KEPT, &place));
    memset(place, 1, KEPT);
    must(adsmFree(first));
    uint8_t *second = adsmAlloc(1000);
    ck_assert_ptr_eq(second, first);
    ck_assert_ptr_null(adsm_keep_find(second, KEPT));
    device_fill(f.fill, second, 1000, 6);
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_int_eq(second[i], filled(i, 6));
    must(adsmFree(second));
    must(adsmFree(other));
    (void)keep(AT, KEPT);
    must(adsmFree(memory));
    ck_assert_ptr_null(adsm_keep_find(memory + AT, KEPT));
}
END_TEST

START_TEST(what_cannot_be_kept_is_refused)
{
    void *place;
    int local;
    begin();
    ck_assert_int_eq(adsm_keep(&local, 4, &place), ADSM_E_NOT_SHARED);
    ck_assert_int_eq(adsm_keep(memory + 2, 4, &place), ADSM_E_INVALID);
    ck_assert_int_eq(adsm_keep(memory + BYTES - 4, 8, &place), ADSM_E_INVALID);
    ck_assert_ptr_null(adsm_keep_find(&local, 4));
    ck_assert_ptr_null(adsm_keep_find(memory + BYTES - 4, 8));
    adsm_keep_end(&local, 4);
    keep(BYTES - 4, 4);
    must(adsmFree(memory));
}
END_TEST

static atomic_bool done;
static atomic_int started;

/* A word of each thread beside those of the others, one page on. Return: how
 * often the word was not what the thread left there */
static void *count(void *which)
{
    size_t at = AT + 8 * (size_t)(intptr_t)which;
    uint32_t before = 0;
    intptr_t wrong = 0;
    void *place;
    must(adsm_keep(memory + at, 4, &place));
    atomic_store((_Atomic uint32_t *)place, 0);
    atomic_fetch_add(&started, 1);
    for (size_t i = 0; !atomic_load(&done); i++) {
        wrong += atomic_fetch_add((_Atomic uint32_t *)place, 1) != before++;
        (void)((volatile uint8_t *)memory)[at + 4 + i % 4000];
    }
    return (void *)wrong;
}

START_TEST(threads_keep_theirs_while_kernels_run)
{
    pthread_t threads[THREADS];
    begin();
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, (void *)i);
    uint32_t seed = 0;
    while (atomic_load(&started) < THREADS)
        sched_yield();
    for (int i = 0; i < ROUNDS; i++) {
        device_fill(f.fill, memory, BYTES, ++seed);
        must(adsmSync());
    }
    atomic_store(&done, true);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        ck_assert_int_eq((intptr_t)wrong, 0);
    }
    device_fill(f.fill, memory, BYTES, ++seed);
    check_beside(AT, 8 * THREADS, seed);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(memory[AT + 8 * i + 5], filled(AT + 8 * i + 5, seed));
    must(adsmFree(memory));
}
END_TEST

SUITE_MAIN("keep", 60, first_they_are_what_the_device_has,
           a_fetch_leaves_them_out, many_of_them_have_their_neighbours_between,
           ended_they_are_like_any_others, a_device_set_over_them_ends_it,
           freed_memory_has_none, what_cannot_be_kept_is_refused,
           threads_keep_theirs_while_kernels_run)
