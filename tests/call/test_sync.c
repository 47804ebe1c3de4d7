/*
 * What adsmSync waits for. The arrays are adsmAlloc's, whose accesses wait for
 * nothing where the device shares the host's memory: Meson runs it on such
 * devices, too.
 */
#include "call/fixture.h"

#include <pthread.h>
#include <time.h>

enum { STAMPS = 16 };
static const long slow_ns = 300 * 1000000L;

static long *what, *began, *ended;
static adsmKernel *stamp;

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static long *zeros(void)
{
    long *p = adsmAlloc(STAMPS * sizeof *p);
    ck_assert_msg(p, "%s", adsmErrorDetail());
    memset(p, 0, STAMPS * sizeof *p);
    return p;
}

static void call(long ns)
{
    must(adsmCall(stamp, STAMPS, adsmIn(what), adsmOut(began), adsmOut(ended),
                  adsmVal(ns)));
}

static void launch(long ns)
{
    must(adsmLaunch(stamp, adsmDim1(1), adsmDim1(STAMPS), 0, adsmVal((long){0}),
                    adsmVal((long){STAMPS}), adsmIn(what), adsmOut(began),
                    adsmOut(ended), adsmVal(ns)));
}

/* All on device 0, but for the thread from here on. */
static void start(void)
{
    adsmModule *module;
    must(adsmModuleLoad(&module, STAMP_PTX, 0));
    must(adsmKernelGet(&stamp, module, "stamp", ADSM_ONLY_ARGUMENTS));
    what = zeros();
    began = zeros();
    ended = zeros();
    call(0);
    must(adsmSync());
    must(adsmDeviceUse(1));
}

static void must_wait_for(void (*begin)(long ns))
{
    start();
    for (int round = 0; round < 2; round++) {
        long before = now();
        begin(slow_ns);
        must(adsmSync());
        long heard = now();
        for (int i = 0; i < STAMPS; i++) {
            ck_assert_int_gt(began[i], before);
            ck_assert_int_ge(ended[i] - began[i], slow_ns);
            ck_assert_int_lt(ended[i], heard);
        }
    }
}

START_TEST(sync_waits_for_calls_on_the_modules_device)
{
    must_wait_for(call);
}
END_TEST

START_TEST(sync_waits_for_launches_on_the_modules_device)
{
    must_wait_for(launch);
}
END_TEST

static void *sync_on_1(void *heard)
{
    must(adsmDeviceUse(1));
    must(adsmSync());
    *(long *)heard = now();
    return NULL;
}

/* A thread for each device, which is how many programs do it. A thread may get no
 * processor until the call has ended, but not each time; one that waits for the
 * call never hears before its end. */
START_TEST(sync_does_not_wait_for_other_threads_calls_elsewhere)
{
    pthread_t other;
    long heard;
    start();
    for (int tries = 0; tries < 10; tries++) {
        call(slow_ns);
        ck_assert_int_eq(pthread_create(&other, NULL, sync_on_1, &heard), 0);
        pthread_join(other, NULL);
        must(adsmSync());
        if (heard < ended[0])
            return;
    }
    ck_abort_msg("heard after the call on the other device, each time");
}
END_TEST

SUITE_MAIN("sync", 60, sync_waits_for_calls_on_the_modules_device,
           sync_waits_for_launches_on_the_modules_device,
           sync_does_not_wait_for_other_threads_calls_elsewhere)
