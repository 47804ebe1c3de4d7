/*
 * Threads that have every signal blocked, as those have that leave signals to one
 * of them, and use shared memory. Meson runs it under the engines that use a
 * signal and under one that uses none.
 */
#include "../../mm/fixture.h"

#include "os/fault.h"

#include <pthread.h>
#include <signal.h>

enum { BYTES = 1 << 20, PAGE = 4096 };

static adsmKernel *fill;
static uint8_t *object;

static void call(uint32_t seed)
{
    device_fill(fill, object, BYTES, seed);
}

static void look(uint32_t seed)
{
    for (uint32_t i = 0; i < BYTES; i += PAGE)
        ck_assert_int_eq(((volatile uint8_t *)object)[i], filled(i, seed));
}

static void block_all(void)
{
    sigset_t all;
    sigfillset(&all);
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, &all, NULL), 0);
}

static void start(void)
{
    fill = fixture_up().fill;
    object = adsmAlloc(BYTES);
    call(1);
}

static void in_thread(void *(*run)(void *))
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
    pthread_join(thread, NULL);
}

static void *call_and_look(void *unused)
{
    (void)unused;
    for (uint32_t seed = 2; seed < 5; seed++) {
        block_all();
        call(seed);
        look(seed);
    }
    return NULL;
}

START_TEST(thread_that_calls_the_library_looks_at_memory)
{
    start();
    in_thread(call_and_look);
    block_all();
    call(7);
    look(7);
}
END_TEST

static void *say_and_look(void *unused)
{
    (void)unused;
    must(adsmDeviceUse(0));
    look(1);
    return NULL;
}

START_TEST(thread_that_is_made_with_all_blocked_says_a_word_and_looks)
{
    start();
    block_all();
    in_thread(say_and_look);
}
END_TEST

/* The values of a call are read before anything else. */
START_TEST(arguments_in_shared_memory_are_read_with_all_blocked)
{
    uint32_t *seed = adsmAlloc(BYTES);
    start();
    seed[5] = 9;
    device_fill(fill, (uint8_t *)seed, PAGE, 0);
    must(adsmSync());
    uint32_t expected = seed[5];
    device_fill(fill, (uint8_t *)seed, PAGE, 0);
    must(adsmSync());
    block_all();
    must(adsmLaunch(fill, adsmDim1(BYTES / 256), adsmDim1(256), 0,
                    adsmInOut(object), adsmVal((uint32_t){BYTES}),
                    ((adsmArg){.p = &seed[5], .bytes = 4})));
    look(expected);
}
END_TEST

static void *only_look(void *unused)
{
    (void)unused;
    look(1);
    return NULL;
}

/* Where nobody opens the signal, nobody needs it. */
START_TEST(thread_that_never_calls_looks_where_no_signal_is_used)
{
    start();
    if (!adsm_fault_is_remote())
        return;
    block_all();
    in_thread(only_look);
}
END_TEST

SUITE_MAIN("blocked", 30, thread_that_calls_the_library_looks_at_memory,
           thread_that_is_made_with_all_blocked_says_a_word_and_looks,
           arguments_in_shared_memory_are_read_with_all_blocked,
           thread_that_never_calls_looks_where_no_signal_is_used)
