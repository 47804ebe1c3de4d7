/*
 * A timer of 10 kHz whose handler reads and writes shared memory, while the
 * thread that it interrupts launches, allocates, reads files and copies by the
 * CPU. Copies and waits of the driver are no place for such a handler (README,
 * Limits).
 */
#include "preloaded.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 1 << 20, PERIOD_NS = 100000, SECONDS = 1, SIGNALS_LEAST = 100 };

static const char bump_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry bump(.param .u64 p)\n{\n"
    ".reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n"
    "ld.global.u32 %r1, [%rd2];\nadd.u32 %r2, %r1, 1;\n"
    "st.global.u32 [%rd2], %r2;\nret;\n}\n";

static volatile uint8_t *fours, *fives;
static uint8_t *counter, plain[BYTES];
static CUfunction bump;
static volatile long signals, wrong;
static uint32_t launches;

static void on_timer(int number)
{
    size_t at = (size_t)++signals * 4096 % BYTES;
    (void)number;
    wrong += fours[at] != 4;
    fives[at] = 5;
}

static void launch(void)
{
    void *params[] = {&counter};
    must(cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    if (++launches % 16 == 0)
        ck_assert_uint_eq(*(volatile uint32_t *)counter, launches);
}

static void read_file(void)
{
    static int zeros;
    if (!zeros)
        zeros = open("/dev/zero", O_RDONLY);
    ck_assert_int_gt(read(zeros, counter + 4096, BYTES / 4), 0);
}

static void copy_on_cpu(void)
{
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    copy(plain, (void *)fours, BYTES);
    ck_assert_int_eq(plain[777], 4);
}

static void allocate(void)
{
    uint8_t *fresh = device_bytes(70000, 9);
    ck_assert_int_eq(((volatile uint8_t *)fresh)[69999], 9);
    must(cuMemFree((CUdeviceptr)fresh));
}

static void start(void)
{
    CUmodule module;
    device_start();
    counter = device_bytes(BYTES, 0);
    fours = device_bytes(BYTES, 4);
    fives = device_bytes(BYTES, 5);
    must(cuModuleLoadData(&module, bump_ptx));
    must(cuModuleGetFunction(&bump, module, "bump"));
}

static void storm(void (*work)(void))
{
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGUSR1};
    struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}}, none = {0};
    timer_t timer;
    start();
    sigaction(SIGUSR1, &action, NULL);
    ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &period, NULL);
    for (time_t end = time(NULL) + SECONDS + 1; time(NULL) < end;)
        work();
    timer_settime(timer, 0, &none, NULL);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_gt(signals, SIGNALS_LEAST);
}

#define STORM(name)                                                            \
    START_TEST(handlers_touch_memory_beside_##name)                            \
    {                                                                          \
        storm(name);                                                           \
    }                                                                          \
    END_TEST

STORM(launch)
STORM(read_file)
STORM(copy_on_cpu)
STORM(allocate)

SUITE_MAIN("regress-interpose-storm", 60, handlers_touch_memory_beside_launch,
           handlers_touch_memory_beside_read_file,
           handlers_touch_memory_beside_copy_on_cpu,
           handlers_touch_memory_beside_allocate)
