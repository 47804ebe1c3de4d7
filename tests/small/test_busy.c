/*
 * Accesses that meet a block another thread holds (BUSY): they wait for its
 * transfer, go on whatever became of that, and let go of an object that was
 * freed. A kernel that waits for the test keeps the transfer from ending.
 */
#include "small/fixture.h"

#include "base/clock.h"
#include "base/stats.h"
#include "mm/doors/touch.h"
#include "mm/object/block.h"

#include <pthread.h>
#include <semaphore.h>

enum { WAITERS = 2 };

static struct adsm_accel *accel;
static struct adsm_object *object;
static sem_t entered, go;

static void wait_for_test(const void *argument)
{
    (void)argument;
    ck_assert_int_eq(sem_post(&entered), 0);
    ck_assert_int_eq(sem_wait(&go), 0);
}

static struct small_kernel kernel = {wait_for_test, 1};

static void object_up(void)
{
    accel = up("rolling", 1);
    object = new_object(accel, PAGE, ADSM_INVALID);
    memset(on_device(object), 'd', PAGE);
}

/* The object's next transfer waits for the kernel. */
static void launch(void)
{
    adsm_stream stream = adsm_accel_launch_stream(accel);
    char none = 0;
    void *values[] = {&none};
    ck_assert_int_eq(sem_init(&entered, 0, 0), 0);
    ck_assert_int_eq(sem_init(&go, 0, 0), 0);
    must(adsm_accel_launch(accel, &(struct adsm_launch){.kernel = &kernel,
                                                        .grid = {1, 1, 1},
                                                        .block = {1, 1, 1},
                                                        .stream = stream,
                                                        .values = values}));
    must(adsm_fence_record(accel, stream, &object->work));
}

/* ---- threads that touch the object ---------------------------------------- */

struct toucher {
    pthread_t thread;
    const uint8_t *address;
    _Atomic pid_t id;
    _Atomic bool done;
    bool opened;
};

/* As the handler of its fault does, which would end the process where this
 * fails. */
static void *touch(void *arg)
{
    struct toucher *toucher = arg;
    atomic_store(&toucher->id, gettid());
    toucher->opened = adsm_touch((uintptr_t)toucher->address, ADSM_READ, 0);
    atomic_store(&toucher->done, true);
    return NULL;
}

static void *load(void *arg)
{
    struct toucher *toucher = arg;
    atomic_store(&toucher->id, gettid());
    toucher->opened = *(const volatile uint8_t *)toucher->address == 'd';
    atomic_store(&toucher->done, true);
    return NULL;
}

static void start(struct toucher *toucher, void *work(void *arg))
{
    toucher->address = object->host;
    atomic_init(&toucher->id, 0);
    atomic_init(&toucher->done, false);
    ck_assert_int_eq(pthread_create(&toucher->thread, NULL, work, toucher), 0);
}

static bool finish(struct toucher *toucher)
{
    ck_assert_int_eq(pthread_join(toucher->thread, NULL), 0);
    return toucher->opened;
}

/* Until it sleeps, which it does nowhere but where it waits for the block. */
static void until_it_waits(const struct toucher *toucher)
{
    char path[64], state = '?';
    while (state != 'S' && !atomic_load(&toucher->done)) {
        snprintf(path, sizeof path, "/proc/self/task/%d/stat",
                 (int)atomic_load(&toucher->id));
        FILE *stat = fopen(path, "r");
        if (stat && fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
            state = '?';
        if (stat)
            fclose(stat);
    }
    ck_assert(!atomic_load(&toucher->done));
}

/* ---- cases ------------------------------------------------------------------- */

START_TEST(accesses_wait_for_the_transfer_of_another_and_go_on)
{
    struct toucher first, waiter[WAITERS];
    object_up();
    launch();
    start(&first, load);
    ck_assert_int_eq(sem_wait(&entered), 0);
    for (int i = 0; i < WAITERS; i++) {
        start(&waiter[i], load);
        until_it_waits(&waiter[i]);
    }
    ck_assert_int_eq(sem_post(&go), 0);
    ck_assert(finish(&first));
    for (int i = 0; i < WAITERS; i++)
        ck_assert(finish(&waiter[i]));
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_fetches), 1);
    ck_assert_int_eq(adsm_block_state(object, 0), ADSM_READ_ONLY);
    ck_assert(!adsm_block_is_held(object, 0));
    free_object(object);
}
END_TEST

/* A copy to memory that is not page-locked waits for what is ahead, so the
 * failure comes behind the kernel. */
START_TEST(accesses_wait_for_a_transfer_that_fails_and_make_another)
{
    struct toucher first, waiter[WAITERS];
    object_up();
    launch();
    small_fail("host_pin", 1, ADSM_E_LIMIT);
    start(&first, touch);
    ck_assert_int_eq(sem_wait(&entered), 0);
    ck_assert(small_has_failed());
    for (int i = 0; i < WAITERS; i++) {
        start(&waiter[i], touch);
        until_it_waits(&waiter[i]);
    }
    small_fail("event_record", 1, ADSM_E_SYSTEM);
    ck_assert_int_eq(sem_post(&go), 0);
    ck_assert(!finish(&first));
    ck_assert(small_has_failed());
    for (int i = 0; i < WAITERS; i++)
        ck_assert(finish(&waiter[i]));
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_fetches), 2);
    ck_assert_int_eq(*object->host, 'd');
    free_object(object);
}
END_TEST

static void hold(void)
{
    adsm_rwlock_acquire_shared(&object->lock);
    ck_assert(adsm_block_try_hold(object, 0));
    adsm_rwlock_release_shared(&object->lock);
}

/* Who is not woken looks again after 10 ms, whatever the machine does. */
START_TEST(all_waiters_are_woken)
{
    enum { ROUNDS = 20, LIMIT_NS = 10 * 1000 * 1000 };
    uint64_t least = UINT64_MAX;
    object_up();
    for (int k = 0; k < ROUNDS; k++) {
        struct toucher waiter[WAITERS];
        hold();
        for (int i = 0; i < WAITERS; i++) {
            start(&waiter[i], touch);
            until_it_waits(&waiter[i]);
        }
        uint64_t began = adsm_now_ns();
        adsm_block_release(object, 0, 1);
        for (int i = 0; i < WAITERS; i++)
            ck_assert(finish(&waiter[i]));
        if (adsm_now_ns() - began < least)
            least = adsm_now_ns() - began;
    }
    ck_assert_uint_lt(least, LIMIT_NS / 4);
    free_object(object);
}
END_TEST

/* Its structure is the next object's, of which the waiter must leave the block
 * alone. */
START_TEST(waiter_lets_go_of_an_object_that_is_freed)
{
    struct toucher waiter[WAITERS];
    object_up();
    hold();
    for (int i = 0; i < WAITERS; i++) {
        start(&waiter[i], touch);
        until_it_waits(&waiter[i]);
    }
    free_object(object);
    struct adsm_object *next = NULL;
    if (_i == 1) {
        next = new_object(accel, PAGE, ADSM_INVALID);
        ck_assert_ptr_eq(next, object);
    }
    for (int i = 0; i < WAITERS; i++)
        ck_assert(finish(&waiter[i])); /* to fault again, on what is there */
    ck_assert_uint_eq(adsm_stats_get(ADSM_STAT_fetches), 0);
    if (next) {
        ck_assert(!adsm_block_is_held(next, 0));
        free_object(next);
    } else {
        ck_assert(!adsm_touch((uintptr_t)waiter[0].address, ADSM_READ, 0));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("busy");
    TCase *tcase = tcase_create("busy");
    tcase_set_timeout(tcase, 10);
    tcase_add_test(tcase, accesses_wait_for_the_transfer_of_another_and_go_on);
    tcase_add_test(tcase,
                   accesses_wait_for_a_transfer_that_fails_and_make_another);
    tcase_add_test(tcase, all_waiters_are_woken);
    tcase_add_loop_test(tcase, waiter_lets_go_of_an_object_that_is_freed, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
