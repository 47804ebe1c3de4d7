/*
 * ADSM_OVERSUBSCRIBE while other threads use the device's memory: what one of
 * them gives up or takes in that moment is waited for, and is no failure.
 *
 * Meson runs it preloaded, as test_oversubscribe.c.
 */
#include "interpose/oversubscribe.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SMALL_BYTES = 300000 };

/* A thread that takes and gives up memory until the program has seen enough. */
struct beside {
    pthread_t thread;
    CUcontext context;
    atomic_bool stop;
};

static void *take_and_give(void *argument)
{
    struct beside *beside = argument;
    must(cuCtxSetCurrent(beside->context));
    while (!atomic_load(&beside->stop)) {
        CUdeviceptr small;
        must(cuMemAlloc(&small, SMALL_BYTES));
        must(cuMemFree(small));
    }
    return NULL;
}

static void begin(struct beside *beside)
{
    must(cuCtxGetCurrent(&beside->context));
    ck_assert_int_eq(
        pthread_create(&beside->thread, NULL, take_and_give, beside), 0);
}

static void end(struct beside *beside)
{
    atomic_store(&beside->stop, true);
    pthread_join(beside->thread, NULL);
}

/* Small ones share 2 MiB of the driver's: the first are full, and threads take
 * and give up the second, of which one may be on its way back to the driver
 * when the next is made. */
START_TEST(launch_waits_for_memory_that_is_given_up)
{
    enum { ROUNDS = 150, FULL = (2 << 20) / SMALL_BYTES };
    struct array all[3];
    struct beside threads[3] = {0};
    CUdeviceptr full[FULL];
    oversubscribe_with(2 * (BYTES >> 20) + 4);
    for (int i = 0; i < 3; i++)
        all[i] = array_make((uint32_t)i);
    for (int i = 0; i < FULL; i++)
        must(cuMemAlloc(&full[i], SMALL_BYTES));
    for (int i = 0; i < 3; i++)
        begin(&threads[i]);
    for (int i = 0; i < ROUNDS; i++)
        add(&all[i % 3], &all[(i + 1) % 3], NULL);
    for (int i = 0; i < 3; i++)
        end(&threads[i]);
    for (int i = 0; i < 3; i++)
        array_check(&all[i]);
}
END_TEST

SUITE_MAIN("interpose-oversubscribe-beside", 60,
           launch_waits_for_memory_that_is_given_up)
