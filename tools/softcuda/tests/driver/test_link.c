/*
 * The throttled link: rate, full duplex, byte counters; and what a call takes
 * however little it does.
 *
 * The clock is the test's: it passes when threads of the driver sleep, and by
 * nothing else, so that a busy machine changes no result.
 */
#include <errno.h>
#include <pthread.h>
#include <softcuda.h>
#include <stdbool.h>
#include <sys/syscall.h>

#include "tests/driver/driver_test.h"
#include "tests/driver/kernels.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static uint64_t clock_ns; /* 0: the system's */
static int beside;        /* threads that sleep at a time, */
static int patience_ms;   /* or so long after one of them  */
static int asleep;
static uint64_t next_ns; /* what the first of those sleeps for */
static unsigned rounds;  /* times that they were woken         */

static uint64_t ns_of(const struct timespec *at)
{
    return (uint64_t)at->tv_sec * 1000000000 + (uint64_t)at->tv_nsec;
}

/* The driver's, too: its calls find these before the C library's. */
#define INSTEAD __attribute__((visibility("default")))

INSTEAD int clock_gettime(clockid_t clock, struct timespec *now)
{
    pthread_mutex_lock(&lock);
    uint64_t ns = clock == CLOCK_MONOTONIC ? clock_ns : 0;
    clock_ns += ns ? 10 : 0; /* who looks again and again sees it pass */
    pthread_mutex_unlock(&lock);
    if (ns == 0)
        return (int)syscall(SYS_clock_gettime, clock, now);
    now->tv_sec = (time_t)(ns / 1000000000);
    now->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

/* As threads do; what they carry next makes up for it. */
enum { LATE_NS = 60000 };

static void wake_the_first(void)
{
    if (clock_ns < next_ns)
        clock_ns = next_ns + LATE_NS;
    asleep = 0;
    rounds++;
    pthread_cond_broadcast(&passed);
}

/* Until all sleep; who is the last at work sleeps alone. */
static void wait_for_the_others(void)
{
    unsigned round = rounds;
    struct timespec late;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &late);
    late.tv_nsec += patience_ms * 1000000L;
    late.tv_sec += late.tv_nsec / 1000000000;
    late.tv_nsec %= 1000000000;
    while (rounds == round)
        if (pthread_cond_timedwait(&passed, &lock, &late) == ETIMEDOUT &&
            rounds == round)
            wake_the_first();
}

INSTEAD int clock_nanosleep(clockid_t clock, int flags,
                            const struct timespec *until, struct timespec *rest)
{
    if (clock_ns == 0)
        return (int)-syscall(SYS_clock_nanosleep, clock, flags, until, rest);
    pthread_mutex_lock(&lock);
    while (clock_ns < ns_of(until)) {
        if (asleep++ == 0 || ns_of(until) < next_ns)
            next_ns = ns_of(until);
        if (asleep < beside)
            wait_for_the_others();
        else
            wake_the_first();
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

/* From here on; so many threads of the driver sleep at a time. */
static void own_clock(int threads)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    beside = threads;
    clock_ns = ns_of(&now);
}

#define BYTES (24 * MIB)

struct transfer {
    CUdeviceptr device;
    uint8_t *host;
    CUstream stream;
};

static struct transfer prepare(void)
{
    struct transfer t;
    OK(cuMemAlloc(&t.device, BYTES));
    OK(cuMemHostAlloc((void **)&t.host, BYTES, 0));
    OK(cuStreamCreate(&t.stream, CU_STREAM_NON_BLOCKING));
    memset(t.host, 1, BYTES);
    OK(cuMemcpyHtoD(t.device, t.host, BYTES));
    OK(cuCtxSynchronize());
    return t;
}

/* In ms, but for the last one's being late. */
static bool is_near(double took, double want)
{
    return took > want - 0.02 && took < want + 0.2;
}

START_TEST(rate_is_kept_in_each_direction)
{
    setenv("SOFTCUDA_LINK", "200MB/s", 1);
    begin();
    own_clock(1);
    struct transfer t = prepare();
    double want = (double)BYTES / 200e6 * 1e3;
    double start = now_ms();
    OK(cuMemcpyHtoD(t.device, t.host, BYTES));
    double up = now_ms() - start;
    start = now_ms();
    OK(cuMemcpyDtoHAsync(t.host, t.device, BYTES, t.stream));
    OK(cuStreamSynchronize(t.stream));
    double down = now_ms() - start;
    ck_assert_msg(is_near(up, want), "up %g of %g", up, want);
    ck_assert_msg(is_near(down, want), "down %g of %g", down, want);
}
END_TEST

START_TEST(each_device_has_a_rate_of_its_own)
{
    static const double rate[] = {200e6, 100e6, 100e6};
    setenv("SOFTCUDA_DEVICES", "3", 1);
    setenv("SOFTCUDA_LINK", "200MB/s,100MB/s", 1);
    begin();
    own_clock(1);
    for (int d = 0; d < 3; d++) {
        CUcontext context;
        OK(cuCtxCreate(&context, NULL, 0, d));
        struct transfer t = prepare();
        double want = (double)BYTES / rate[d] * 1e3;
        double start = now_ms();
        OK(cuMemcpyHtoD(t.device, t.host, BYTES));
        double up = now_ms() - start;
        ck_assert_msg(is_near(up, want), "%d: up %g of %g", d, up, want);
        OK(cuCtxDestroy(context));
    }
}
END_TEST

START_TEST(directions_overlap)
{
    setenv("SOFTCUDA_LINK", "200MB/s", 1);
    begin();
    own_clock(1);
    struct transfer a = prepare(), b = prepare();
    beside = 2;
    patience_ms = 1500;
    double want = (double)BYTES / 200e6 * 1e3;
    double start = now_ms();
    OK(cuMemcpyHtoDAsync(a.device, a.host, BYTES, a.stream));
    OK(cuMemcpyDtoHAsync(b.host, b.device, BYTES, b.stream));
    OK(cuStreamSynchronize(a.stream));
    OK(cuStreamSynchronize(b.stream));
    double both = now_ms() - start;
    ck_assert_msg(is_near(both, want), "%g ms for both, %g for one", both,
                  want);
    /* By one thread, or by two that take turns: not one after the other. */
    enum { LITTLE = MIB };
    patience_ms = 50;
    want = (double)LITTLE / 200e6 * 1e3;
    start = now_ms();
    OK(cuMemcpyHtoDAsync(a.device, a.host, LITTLE, a.stream));
    OK(cuMemcpyHtoDAsync(b.device, b.host, LITTLE, b.stream));
    OK(cuStreamSynchronize(a.stream));
    OK(cuStreamSynchronize(b.stream));
    both = now_ms() - start;
    ck_assert_msg(is_near(both, 2 * want), "%g ms for two, %g for one", both,
                  want);
}
END_TEST

START_TEST(counters_see_what_crossed_the_link)
{
    struct softcuda_stats before, after;
    begin();
    struct transfer t = prepare();
    ck_assert_int_eq(softcudaStats(0, &before), 0);
    OK(cuMemcpyHtoD(t.device, t.host, 1000));
    OK(cuMemcpyDtoH(t.host, t.device, 70));
    OK(cuMemcpyDtoD(t.device, t.device + MIB, 5000));
    OK(cuCtxSynchronize());
    ck_assert_int_eq(softcudaStats(0, &after), 0);
    ck_assert_uint_eq(after.upload_bytes - before.upload_bytes, 1000);
    ck_assert_uint_eq(after.download_bytes - before.download_bytes, 70);
    ck_assert_int_eq(softcudaStats(5, &after), -1);
}
END_TEST

static double ms_of_copies(size_t bytes, bool up, int count)
{
    static uint8_t host[2 * MIB];
    CUdeviceptr device;
    OK(cuMemAlloc(&device, bytes));
    double start = now_ms();
    for (int i = 0; i < count; i++)
        OK(up ? cuMemcpyHtoD(device, host, bytes)
              : cuMemcpyDtoH(host, device, bytes));
    return now_ms() - start;
}

START_TEST(copies_take_their_latency_besides)
{
    setenv("SOFTCUDA_LATENCY", "0,0,3ms,4ms", 1);
    setenv("SOFTCUDA_LINK", "200MB/s", 1);
    begin();
    own_clock(1);
    double wire = (double)MIB / 200e6 * 1e3;
    const struct {
        size_t bytes;
        bool up;
        int count;
        double want;
    } cases[] = {{4, true, 1, 3},
                 {4, false, 1, 4},
                 {4, true, 5, 15},
                 {MIB, true, 1, 3 + wire},
                 {MIB, false, 1, 4 + wire}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double took = ms_of_copies(cases[i].bytes, cases[i].up, cases[i].count);
        /* Each is late by a little. */
        ck_assert_msg(took > cases[i].want - 0.02 &&
                          took < cases[i].want + 0.2 * cases[i].count,
                      "%zu: %g of %g", i, took, cases[i].want);
    }
}
END_TEST

static double ms_of_launches(CUfunction empty, int count, bool waits)
{
    double start = now_ms();
    for (int i = 0; i < count; i++)
        OK(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    if (waits)
        OK(cuCtxSynchronize());
    return now_ms() - start;
}

START_TEST(launches_and_waits_take_their_latency)
{
    CUmodule module;
    CUfunction empty;
    CUevent event;
    setenv("SOFTCUDA_LATENCY", "2ms,5ms,0,0", 1);
    begin();
    OK(cuModuleLoadData(&module, kernels_ptx));
    OK(cuModuleGetFunction(&empty, module, "empty"));
    OK(cuEventCreate(&event, 0));
    ms_of_launches(empty, 1, true);
    own_clock(1);
    double one = ms_of_launches(empty, 1, false);
    ck_assert_msg(is_near(one, 2), "a launch %g", one);
    double waited = ms_of_launches(empty, 1, true);
    ck_assert_msg(is_near(waited, 5), "and a wait %g", waited);
    double three = ms_of_launches(empty, 3, true);
    ck_assert_msg(three > 8.9 && three < 9.6, "three and a wait %g", three);
    double start = now_ms();
    ms_of_launches(empty, 1, false);
    OK(cuEventRecord(event, NULL));
    OK(cuEventSynchronize(event));
    waited = now_ms() - start;
    ck_assert_msg(is_near(waited, 5), "and an event %g", waited);
    start = now_ms();
    ms_of_launches(empty, 1, false);
    OK(cuStreamSynchronize(NULL));
    waited = now_ms() - start;
    ck_assert_msg(is_near(waited, 5), "and its stream %g", waited);
    start = now_ms();
    OK(cuCtxSynchronize());
    waited = now_ms() - start;
    ck_assert_msg(waited < 0.2, "a second wait %g", waited);
}
END_TEST

SUITE_MAIN("softcuda driver: link", 30, rate_is_kept_in_each_direction,
           each_device_has_a_rate_of_its_own, directions_overlap,
           counters_see_what_crossed_the_link,
           copies_take_their_latency_besides,
           launches_and_waits_take_their_latency)
