/* Who bars the way meets nobody on it, and nobody comes past him. */
#include "common/must.h"

#include "mm/object/object.h"
#include "mm/object/passing.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 400, LOOKS = 50 };

static struct {
    /* Each on a line of its own, as the records are. */
    struct {
        _Alignas(64) _Atomic uint32_t on_the_way;
        _Atomic uint64_t passed, kept_back, wrong;
    } thread[THREADS];
    _Atomic bool stop;
    pthread_t threads[THREADS];
    int number[THREADS];
} way;

/* The thread has begun to pass: what it does there, and the end. With no fence of
 * its own: those of passing.h have to do. Return: how many objects it met */
static uint64_t walk(int i)
{
    atomic_store_explicit(&way.thread[i].on_the_way, 1, memory_order_relaxed);
    for (volatile int k = 0; k < 20; k++)
        ;
    uint64_t objects = adsm_index_count();
    atomic_store_explicit(&way.thread[i].on_the_way, 0, memory_order_relaxed);
    adsm_passing_end();
    atomic_fetch_add_explicit(&way.thread[i].passed, 1, memory_order_relaxed);
    return objects;
}

static void *pass(void *number)
{
    int i = *(int *)number;
    while (!atomic_load_explicit(&way.stop, memory_order_relaxed)) {
        if (adsm_passing_begin())
            (void)walk(i);
        else
            atomic_fetch_add(&way.thread[i].kept_back, 1);
    }
    return NULL;
}

static void start(void *(*run)(void *))
{
    memset(&way, 0, sizeof way);
    for (int i = 0; i < THREADS; i++) {
        way.number[i] = i;
        ck_assert_int_eq(
            pthread_create(&way.threads[i], NULL, run, &way.number[i]), 0);
    }
}

static void finish(void)
{
    atomic_store(&way.stop, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(way.threads[i], NULL);
        ck_assert_uint_gt(atomic_load(&way.thread[i].passed), 0);
        ck_assert_uint_eq(atomic_load(&way.thread[i].wrong), 0);
    }
}

/* Return: how often somebody is on the way */
static int look_around(void)
{
    int met = 0;
    for (int look = 0; look < LOOKS; look++)
        for (int i = 0; i < THREADS; i++)
            met += atomic_load(&way.thread[i].on_the_way) != 0;
    return met;
}

START_TEST(nobody_is_met)
{
    int met = 0;
    start(pass);
    for (int round = 0; round < ROUNDS; round++) {
        adsm_passing_bar();
        met += look_around();
        adsm_passing_allow();
        nanosleep(&(struct timespec){0, 20000}, NULL);
    }
    finish();
    ck_assert_int_eq(met, 0);
}
END_TEST

/* Beside the objects that it knows of; none comes meanwhile. */
static void *pass_beside(void *number)
{
    int i = *(int *)number;
    uint64_t known = 0;
    while (!atomic_load_explicit(&way.stop, memory_order_relaxed)) {
        if (!adsm_passing_begin_beside(known))
            known = adsm_index_count();
        else if (walk(i) != known)
            atomic_fetch_add(&way.thread[i].wrong, 1);
    }
    return NULL;
}

static struct adsm_object page_of_nobody(void)
{
    void *page =
        mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(page, MAP_FAILED);
    return (struct adsm_object){
        .host = page, .bytes = 4096, .span = {.bytes = 4096}};
}

/* Something is shared all the time, and some thing more comes again and again. */
START_TEST(no_object_comes_while_calls_pass_beside)
{
    int met = 0;
    struct adsm_object object = page_of_nobody();
    atomic_fetch_add(&adsm_passing_barred, 1);
    start(pass_beside);
    for (int round = 0; round < ROUNDS; round++) {
        adsm_passing_bar();
        met += look_around();
        ck_assert_int_eq(adsm_index_insert(&object), ADSM_OK);
        adsm_passing_allow();
        nanosleep(&(struct timespec){0, 20000}, NULL);
        adsm_index_remove(&object);
    }
    finish();
    ck_assert_int_eq(met, 0);
    ck_assert(!adsm_passing_begin());
    atomic_fetch_sub(&adsm_passing_barred, 1);
}
END_TEST

/* Who looked before an object came does not pass behind that. */
START_TEST(what_was_known_before_counts_no_more)
{
    struct adsm_object object = page_of_nobody();
    uint64_t known = adsm_index_count();
    ck_assert(adsm_passing_begin_beside(known));
    adsm_passing_end();
    adsm_passing_bar();
    ck_assert(!adsm_passing_begin_beside(known));
    ck_assert_int_eq(adsm_index_insert(&object), ADSM_OK);
    adsm_passing_allow();
    ck_assert(!adsm_passing_begin_beside(known));
    ck_assert(adsm_passing_begin_beside(known + 1));
    adsm_passing_end();
    adsm_index_remove(&object);
    ck_assert(adsm_passing_begin_beside(known + 1));
    adsm_passing_end();
}
END_TEST

START_TEST(one_thread_bars_itself_and_is_not_waited_for)
{
    ck_assert(adsm_passing_begin());
    adsm_passing_bar();
    ck_assert(!adsm_passing_begin());
    adsm_passing_end();
    adsm_passing_bar();
    adsm_passing_allow();
    ck_assert(!adsm_passing_begin());
    adsm_passing_allow();
    ck_assert(adsm_passing_begin());
    ck_assert(adsm_passing_begin());
    adsm_passing_leave();
    adsm_passing_bar();
    adsm_passing_allow();
}
END_TEST

/* More threads than there is room for at first, one after the other and at the
 * same time: records are used again. */
static void *once(void *unused)
{
    (void)unused;
    if (adsm_passing_begin())
        adsm_passing_end();
    return NULL;
}

START_TEST(threads_come_and_go)
{
    enum { MANY = 200 };
    pthread_t threads[MANY];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, once, NULL), 0);
        for (int i = 0; i < MANY; i++)
            pthread_join(threads[i], NULL);
    }
    adsm_passing_bar();
    adsm_passing_allow();
}
END_TEST

SUITE_MAIN("passing", 60, nobody_is_met,
           no_object_comes_while_calls_pass_beside,
           what_was_known_before_counts_no_more,
           one_thread_bars_itself_and_is_not_waited_for, threads_come_and_go)
