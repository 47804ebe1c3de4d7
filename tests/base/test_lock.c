/*
 * Locks: exclusion under 8 threads, try, readers and writers, ranks.
 */
#include "base/lock.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/capture.h"
#include "common/suite.h"

#define THREADS 8
#define ROUNDS  20000

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_OBJECT);
static struct adsm_rwlock rwlock = ADSM_RWLOCK_INIT(ADSM_RANK_OBJECT_TABLE);
static unsigned long plain[2]; /* guarded by the lock under test */
static _Atomic unsigned long good;

static void run_threads(int n, void *(*fn)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fn, NULL), 0);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static void *count_locked(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 4 != 0)
            adsm_lock_acquire(&lock);
        else
            while (!adsm_lock_try(&lock))
                sched_yield();
        plain[0]++;
        if (i % 64 == 0)
            sched_yield(); /* others must sleep, not only spin */
        plain[1]++;
        adsm_lock_release(&lock);
    }
    return NULL;
}

START_TEST(eight_threads_lose_no_update)
{
    plain[0] = plain[1] = 0;
    run_threads(THREADS, count_locked);
    ck_assert_uint_eq(plain[0], THREADS * ROUNDS);
    ck_assert_uint_eq(plain[1], THREADS * ROUNDS);
    ck_assert(!adsm_lock_is_held(&lock));
}
END_TEST

static void *read_and_write(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 8 == 0) {
            adsm_rwlock_acquire(&rwlock);
            plain[0]++;
            if (i % 64 == 0)
                sched_yield();
            plain[1]++;
            adsm_rwlock_release(&rwlock);
        } else {
            adsm_rwlock_acquire_shared(&rwlock);
            if (plain[0] == plain[1])
                good++;
            if (i % 64 == 1)
                sched_yield();
            adsm_rwlock_release_shared(&rwlock);
        }
    }
    return NULL;
}

START_TEST(readers_never_see_half_a_write)
{
    plain[0] = plain[1] = 0;
    good = 0;
    run_threads(THREADS, read_and_write);
    ck_assert_uint_eq(plain[0], THREADS * ROUNDS / 8);
    ck_assert_uint_eq(good, THREADS * ROUNDS / 8 * 7);
    ck_assert_uint_eq(rwlock.state, 0);
    ck_assert_uint_eq(rwlock.waiters, 0);
}
END_TEST

static _Atomic int step;

static void wait_for(int value)
{
    struct timespec pause = {0, 1000000};
    while (step < value)
        nanosleep(&pause, NULL);
}

static void *second_reader(void *arg)
{
    adsm_rwlock_acquire_shared(&rwlock);
    step = 1;
    adsm_rwlock_release_shared(&rwlock);
    return NULL;
}

START_TEST(readers_enter_together)
{
    pthread_t thread;
    step = 0;
    adsm_rwlock_acquire_shared(&rwlock);
    pthread_create(&thread, NULL, second_reader, NULL);
    wait_for(1); /* hangs, and times out, when readers exclude each other */
    adsm_rwlock_release_shared(&rwlock);
    pthread_join(thread, NULL);
}
END_TEST

static void *writer(void *arg)
{
    adsm_rwlock_acquire(&rwlock);
    plain[0] = 1;
    adsm_rwlock_release(&rwlock);
    return NULL;
}

static void *late_reader(void *arg)
{
    adsm_rwlock_acquire_shared(&rwlock);
    plain[1] = plain[0];
    adsm_rwlock_release_shared(&rwlock);
    return NULL;
}

START_TEST(waiting_writer_goes_before_new_readers)
{
    pthread_t threads[2];
    struct timespec pause = {0, 20000000};
    plain[0] = plain[1] = 0;
    adsm_rwlock_acquire_shared(&rwlock);
    pthread_create(&threads[0], NULL, writer, NULL);
    while (atomic_load(&rwlock.writers) == 0)
        sched_yield();
    pthread_create(&threads[1], NULL, late_reader, NULL);
    nanosleep(&pause, NULL);
    adsm_rwlock_release_shared(&rwlock);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    ck_assert_uint_eq(plain[1], 1);
}
END_TEST

START_TEST(try_fails_on_a_held_lock)
{
    adsm_lock_acquire(&lock);
    ck_assert(adsm_lock_is_held(&lock));
    ck_assert(!adsm_lock_try(&lock));
    adsm_lock_release(&lock);
    ck_assert(adsm_lock_try(&lock));
    adsm_lock_release(&lock);
}
END_TEST

START_TEST(try_to_read_fails_on_a_lock_that_is_written)
{
    adsm_rwlock_acquire(&rwlock);
    ck_assert(!adsm_rwlock_try_shared(&rwlock));
    adsm_rwlock_release(&rwlock);
    adsm_rwlock_acquire_shared(&rwlock);
    ck_assert(adsm_rwlock_try_shared(&rwlock));
    ck_assert(!adsm_rwlock_try(&rwlock));
    adsm_rwlock_release_shared(&rwlock);
    adsm_rwlock_release_shared(&rwlock);
    ck_assert(adsm_rwlock_try(&rwlock));
    adsm_rwlock_release(&rwlock);
}
END_TEST

static void *hold_a_while(void *arg)
{
    struct timespec pause = {0, 50000000};
    adsm_lock_acquire(&lock);
    step = 1;
    nanosleep(&pause, NULL);
    adsm_lock_release(&lock);
    return NULL;
}

START_TEST(waiting_keeps_errno)
{
    pthread_t thread;
    step = 0;
    pthread_create(&thread, NULL, hold_a_while, NULL);
    wait_for(1);
    errno = ENOTTY;
    adsm_lock_acquire(&lock);
    int after = errno;
    adsm_lock_release(&lock);
    pthread_join(thread, NULL);
    ck_assert_int_eq(after, ENOTTY);
}
END_TEST

static void *hold_and_wait(void *arg)
{
    adsm_lock_acquire(&lock);
    pthread_cancel(pthread_self());
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    good++;
    adsm_lock_release(&lock);
    pthread_testcancel();
    return NULL;
}

static void *hold_and_wait_at_any_place(void *arg)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    return hold_and_wait(arg);
}

START_TEST(thread_that_holds_a_lock_is_cancelled_after_it)
{
    void *(*const threads[])(void *) = {hold_and_wait,
                                        hold_and_wait_at_any_place};
    good = 0;
    for (size_t i = 0; i < 2; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, threads[i], NULL);
        pthread_join(thread, &result);
        ck_assert_uint_eq(good, i + 1);
        ck_assert(!adsm_lock_is_held(&lock));
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    }
}
END_TEST

#if ADSM_LOCK_CHECKED && !defined(ADSM_DEBUG_LOCKS)
static struct capture said;

START_TEST(rising_ranks_are_silent)
{
    struct adsm_lock inner, twin;
    adsm_lock_init(&inner, ADSM_RANK_POOL);
    adsm_lock_init(&twin, ADSM_RANK_OBJECT);
    capture_begin(&said);
    for (int i = 0; i < 3; i++) {
        adsm_rwlock_acquire_shared(&rwlock);
        adsm_lock_acquire(&lock);
        adsm_lock_acquire_another(&twin);
        adsm_lock_acquire(&inner);
        adsm_lock_release(&lock); /* any order of release */
        adsm_lock_release(&inner);
        adsm_lock_release(&twin);
        adsm_rwlock_release_shared(&rwlock);
        adsm_rwlock_acquire(&rwlock);
        adsm_rwlock_release(&rwlock);
    }
    ck_assert_str_eq(capture_end(&said), "");
}
END_TEST

START_TEST(falling_rank_is_reported_once)
{
    capture_begin(&said);
    for (int i = 0; i < 3; i++) {
        adsm_lock_acquire(&lock);
        adsm_rwlock_acquire(&rwlock);
        adsm_rwlock_release(&rwlock);
        adsm_lock_release(&lock);
    }
    ck_assert_str_eq(capture_end(&said),
                     "libadsm: error: locks taken out of rank order\n");
}
END_TEST

START_TEST(same_rank_is_reported)
{
    struct adsm_lock twin;
    adsm_lock_init(&twin, ADSM_RANK_OBJECT);
    capture_begin(&said);
    adsm_lock_acquire(&lock);
    adsm_lock_acquire(&twin);
    adsm_lock_release(&twin);
    adsm_lock_release(&lock);
    ck_assert_str_eq(capture_end(&said),
                     "libadsm: error: locks taken out of rank order\n");
}
END_TEST

START_TEST(another_lock_of_a_rank_is_silent_below_a_later_one_it_is_not)
{
    struct adsm_rwlock other;
    adsm_rwlock_init(&other, ADSM_RANK_OBJECT_TABLE);
    capture_begin(&said);
    adsm_rwlock_acquire(&rwlock);
    adsm_rwlock_acquire_another(&other);
    ck_assert_uint_eq(other.state, ADSM_RWLOCK_WRITER);
    adsm_rwlock_release(&other);
    ck_assert_str_eq(capture_end(&said), "");
    capture_begin(&said);
    adsm_lock_acquire(&lock);
    adsm_rwlock_acquire_another(&other);
    adsm_rwlock_release(&other);
    adsm_lock_release(&lock);
    adsm_rwlock_release(&rwlock);
    ck_assert_str_eq(capture_end(&said),
                     "libadsm: error: locks taken out of rank order\n");
}
END_TEST

START_TEST(try_may_be_out_of_order)
{
    struct adsm_lock inner;
    adsm_lock_init(&inner, ADSM_RANK_POOL);
    capture_begin(&said);
    adsm_lock_acquire(&inner);
    ck_assert(adsm_lock_try(&lock));
    adsm_lock_release(&lock);
    adsm_lock_release(&inner);
    ck_assert_str_eq(capture_end(&said), "");
}
END_TEST

SUITE_MAIN("lock", 60, eight_threads_lose_no_update,
           readers_never_see_half_a_write, readers_enter_together,
           waiting_writer_goes_before_new_readers, try_fails_on_a_held_lock,
           try_to_read_fails_on_a_lock_that_is_written, waiting_keeps_errno,
           thread_that_holds_a_lock_is_cancelled_after_it,
           rising_ranks_are_silent, falling_rank_is_reported_once,
           same_rank_is_reported,
           another_lock_of_a_rank_is_silent_below_a_later_one_it_is_not,
           try_may_be_out_of_order)
#else
SUITE_MAIN("lock", 60, eight_threads_lose_no_update,
           readers_never_see_half_a_write, readers_enter_together,
           waiting_writer_goes_before_new_readers, try_fails_on_a_held_lock,
           try_to_read_fails_on_a_lock_that_is_written, waiting_keeps_errno,
           thread_that_holds_a_lock_is_cancelled_after_it)
#endif
