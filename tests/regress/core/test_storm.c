/*
 * A storm (common/storm.h) whose handler reads and writes shared memory, while the thread that it
 * interrupts calls kernels, waits for them, allocates and copies through adsm.h.
 */
#include "../../mm/fixture.h"
#include "common/storm.h"

enum { BYTES = 1 << 20, PAGE = 4096 };

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

static void must_weather(void (*work)(void))
{
    start();
    long rounds = storm(work, on_timer);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_gt(signals, 50);
    ck_assert_int_gt(rounds, 2);
}

START_TEST(handlers_touch_memory_beside_calls_and_waits)
{
    must_weather(call_and_wait);
}
END_TEST

START_TEST(handlers_touch_memory_beside_calls_and_accesses)
{
    must_weather(call_and_touch);
}
END_TEST

START_TEST(handlers_touch_memory_beside_allocations)
{
    must_weather(allocate);
}
END_TEST

SUITE_MAIN("regress-storm", 20, handlers_touch_memory_beside_calls_and_waits,
           handlers_touch_memory_beside_calls_and_accesses,
           handlers_touch_memory_beside_allocations)
