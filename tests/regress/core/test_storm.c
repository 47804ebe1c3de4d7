/*
 * A timer of 10 kHz whose handler reads and writes shared memory, while the
 * thread that it interrupts calls kernels, waits for them, allocates and copies
 * through adsm.h. A case that hangs is ended by Check's timeout.
 */
#include "../../mm/fixture.h"

#include <signal.h>
#include <time.h>

enum { BYTES = 1 << 20, PAGE = 4096, PERIOD_NS = 100000, STORM_MS = 600 };

static adsmKernel *fill;
static uint8_t *object;
static volatile uint8_t *fours, *fives;
static volatile long signals, wrong;

static void on_timer(int number)
{
    size_t at = (size_t)++signals * PAGE % BYTES;
    (void)number;
    wrong += fours[at] != 4;
    fives[at] = 5;
}

static void call_and_wait(void)
{
    uint32_t n = BYTES, seed = 3;
    ck_assert_int_eq(adsmLaunch(fill, adsmDim1((n + 255) / 256), adsmDim1(256),
                                0, adsmInOut(object), adsmVal(n),
                                adsmVal(seed)),
                     ADSM_OK);
    ck_assert_int_eq(adsmSync(), ADSM_OK);
}

static void call_and_touch(void)
{
    uint32_t n = BYTES, seed = 3;
    ck_assert_int_eq(adsmLaunch(fill, adsmDim1((n + 255) / 256), adsmDim1(256),
                                0, adsmInOut(object), adsmVal(n),
                                adsmVal(seed)),
                     ADSM_OK);
    ck_assert_int_eq(((volatile uint8_t *)object)[PAGE], filled(PAGE, seed));
}

static void allocate(void)
{
    uint8_t *small = adsmAlloc(100), *large = adsmAlloc(3 * BYTES);
    ((volatile uint8_t *)small)[99] = 1;
    ((volatile uint8_t *)large)[BYTES] = 1;
    ck_assert_int_eq(adsmFree(small), ADSM_OK);
    ck_assert_int_eq(adsmFree(large), ADSM_OK);
}

static void start(void)
{
    adsmModule *module;
    ck_assert_int_eq(
        adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx - 1), ADSM_OK);
    ck_assert_int_eq(adsmKernelGet(&fill, module, "fill", ADSM_ANY_OBJECT),
                     ADSM_OK);
    object = adsmAlloc(BYTES);
    fours = adsmAlloc(BYTES);
    fives = adsmAlloc(BYTES);
    memset((void *)fours, 4, BYTES);
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void storm(void (*work)(void))
{
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    struct sigevent told = {.sigev_notify = SIGEV_SIGNAL,
                            .sigev_signo = SIGUSR1};
    struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}}, none = {0};
    timer_t timer;
    long rounds = 0;
    start();
    sigaction(SIGUSR1, &action, NULL);
    ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &told, &timer), 0);
    timer_settime(timer, 0, &period, NULL);
    for (long end = now_ms() + STORM_MS; now_ms() < end; rounds++)
        work();
    timer_settime(timer, 0, &none, NULL);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_gt(signals, 50);
    ck_assert_int_gt(rounds, 2);
}

START_TEST(handlers_touch_memory_beside_calls_and_waits)
{
    storm(call_and_wait);
}
END_TEST

START_TEST(handlers_touch_memory_beside_calls_and_accesses)
{
    storm(call_and_touch);
}
END_TEST

START_TEST(handlers_touch_memory_beside_allocations)
{
    storm(allocate);
}
END_TEST

SUITE_MAIN("regress-storm", 20, handlers_touch_memory_beside_calls_and_waits,
           handlers_touch_memory_beside_calls_and_accesses,
           handlers_touch_memory_beside_allocations)
