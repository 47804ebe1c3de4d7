/*
 * Kernels at a pace: its time by the device's own clock, shares, lateness.
 */
#include <signal.h>
#include <softcuda.h>

#include "tests/driver/driver_test.h"
#include "tests/driver/find_device.h"
#include "tests/driver/kernels.h"

/* Threads are of `empty`: 1 ms each 50 blocks of 1000 at 50M/s. */
enum { BLOCK = 1000, MOST_DEVICES = 4 };

static CUcontext ctx[MOST_DEVICES];
static CUfunction empty[MOST_DEVICES], spin;
static CUdeviceptr word[MOST_DEVICES];

static void start(const char *pace, int devices)
{
    char number[16];
    CUmodule module;
    snprintf(number, sizeof number, "%d", devices);
    setenv("SOFTCUDA_PACE", pace, 1);
    setenv("SOFTCUDA_DEVICES", number, 1);
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    OK(cuInit(0));
    for (int i = 0; i < devices; i++) {
        OK(cuCtxCreate(&ctx[i], NULL, 0, i));
        OK(cuModuleLoadData(&module, kernels_ptx));
        OK(cuModuleGetFunction(&empty[i], module, "empty"));
        if (i == 0)
            OK(cuModuleGetFunction(&spin, module, "spin"));
        OK(cuMemAlloc(&word[i], 4));
        OK(cuCtxSynchronize());
    }
    OK(cuCtxSetCurrent(ctx[0]));
}

static void launch(int device, unsigned blocks, CUstream stream)
{
    OK(cuCtxSetCurrent(ctx[device]));
    OK(cuLaunchKernel(empty[device], blocks, 1, 1, BLOCK, 1, 1, 0, stream, NULL,
                      NULL));
}

/* One thread that works for a while, in the interpreter. */
static void launch_spin(void)
{
    unsigned turns = 2000000;
    OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL,
                      (void *[]){&word[0], &turns}, NULL));
}

static CUevent mark(CUstream stream)
{
    CUevent event;
    OK(cuEventCreate(&event, 0));
    OK(cuEventRecord(event, stream));
    return event;
}

static double between(CUevent a, CUevent b)
{
    float ms;
    OK(cuEventSynchronize(b));
    OK(cuEventElapsedTime(&ms, a, b));
    return ms;
}

/* What a launch takes by the events around it. */
static double time_launch(int device, unsigned blocks)
{
    OK(cuCtxSetCurrent(ctx[device]));
    CUevent begin = mark(NULL);
    launch(device, blocks, NULL);
    return between(begin, mark(NULL));
}

static struct softcuda_stats stats_of(int device)
{
    struct softcuda_stats stats;
    ck_assert_int_eq(softcudaStats(device, &stats), 0);
    return stats;
}

/* `got` is `want` or a little more, which a busy machine adds. */
static void check_time(double got, double want)
{
    ck_assert_msg(got >= want - 0.01 && got < want * 1.3 + 25, "%g ms, not %g",
                  got, want);
}

START_TEST(events_around_a_kernel_measure_its_threads_at_the_pace)
{
    start("10M/s", 1);
    check_time(time_launch(0, 1000), 100);
    check_time(time_launch(0, 500), 50);
    double before = now_ms();
    launch(0, 1000, NULL);
    OK(cuCtxSynchronize());
    check_time(now_ms() - before, 100);
    ck_assert_uint_eq(stats_of(0).paced, 3);
}
END_TEST

START_TEST(grid_and_block_count_in_all_dimensions)
{
    start("10M/s", 1);
    CUevent begin = mark(NULL);
    OK(cuLaunchKernel(empty[0], 10, 5, 4, 10, 10, 5, 0, NULL, NULL, NULL));
    check_time(between(begin, mark(NULL)), 10);
}
END_TEST

START_TEST(devices_have_paces_of_their_own_and_the_last_serves_the_rest)
{
    start("20M/s,10M/s", 3);
    check_time(time_launch(0, 1000), 50);
    check_time(time_launch(1, 1000), 100);
    check_time(time_launch(2, 1000), 100);
}
END_TEST

START_TEST(zero_is_no_pace)
{
    start("0,10M/s", 2);
    ck_assert_double_lt(time_launch(0, 10000), 900); /* 1 s at 10M/s */
    check_time(time_launch(1, 1000), 100);
    ck_assert_uint_eq(stats_of(0).paced, 0);
    ck_assert_uint_eq(stats_of(1).paced, 1);
}
END_TEST

START_TEST(four_devices_compute_at_the_same_time)
{
    start("10M/s", 4);
    double one = time_launch(0, 1500), before = now_ms();
    for (int i = 0; i < 4; i++)
        launch(i, 1500, NULL);
    for (int i = 0; i < 4; i++) {
        OK(cuCtxSetCurrent(ctx[i]));
        OK(cuCtxSynchronize());
    }
    double four = now_ms() - before;
    ck_assert_msg(four < 1.3 * one, "%g ms for four, %g for one", four, one);
}
END_TEST

START_TEST(streams_of_a_device_share_its_pace)
{
    CUstream a, b;
    start("10M/s", 1);
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    CUevent begin = mark(a);
    launch(0, 500, a);
    launch(0, 500, b);
    check_time(between(begin, mark(b)), 100);
}
END_TEST

START_TEST(queued_launches_keep_the_sum)
{
    start("10M/s", 1);
    CUevent begin = mark(NULL);
    for (int i = 0; i < 200; i++)
        launch(0, 5, NULL);
    check_time(between(begin, mark(NULL)), 100);
    ck_assert_uint_eq(stats_of(0).paced, 200);
}
END_TEST

START_TEST(graph_of_kernels_keeps_the_pace)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode last = NULL;
    CUDA_KERNEL_NODE_PARAMS params = {.gridDimX = 200,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = BLOCK,
                                      .blockDimY = 1,
                                      .blockDimZ = 1};
    start("10M/s", 1);
    params.func = empty[0];
    OK(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 5; i++)
        OK(cuGraphAddKernelNode(&last, graph, last ? &last : NULL, last != NULL,
                                &params));
    OK(cuGraphInstantiate(&exec, graph, 0));
    CUevent begin = mark(NULL);
    OK(cuGraphLaunch(exec, NULL));
    check_time(between(begin, mark(NULL)), 100);
}
END_TEST

START_TEST(idle_time_is_lost)
{
    start("10M/s", 1);
    time_launch(0, 1);
    usleep(60000);
    check_time(time_launch(0, 500), 50);
}
END_TEST

START_TEST(copies_inside_the_device_take_no_time_from_kernels)
{
    CUdeviceptr p;
    start("10M/s", 1);
    OK(cuMemAlloc(&p, 32 * MIB));
    OK(cuMemsetD8(p, 1, 32 * MIB));
    OK(cuCtxSynchronize());
    CUevent begin = mark(NULL);
    for (int i = 0; i < 8; i++)
        OK(cuMemcpyDtoDAsync(p, p + 16 * MIB, 16 * MIB, NULL));
    launch(0, 500, NULL);
    CUevent end = mark(NULL);
    double both = between(begin, end);
    begin = mark(NULL);
    for (int i = 0; i < 8; i++)
        OK(cuMemcpyDtoDAsync(p, p + 16 * MIB, 16 * MIB, NULL));
    double copies = between(begin, mark(NULL));
    ck_assert_msg(both > 50 + copies / 4, "%g ms, %g of them copies", both,
                  copies);
}
END_TEST

START_TEST(launch_that_overran_and_those_it_held_up_are_late)
{
    setenv("SOFTCUDA_NATIVE", "off", 1);
    start("10M/s", 1);
    launch_spin();
    for (int i = 0; i < 3; i++)
        launch(0, 5, NULL);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(stats_of(0).paced, 4);
    ck_assert_uint_eq(stats_of(0).late, 4);
    /* what comes later is on time again, but for what the machine adds */
    for (int i = 0; i < 20; i++)
        time_launch(0, 50);
    ck_assert_uint_eq(stats_of(0).paced, 24);
    ck_assert_uint_lt(stats_of(0).late, 14);
}
END_TEST

START_TEST(launches_catch_up_after_a_late_one)
{
    setenv("SOFTCUDA_NATIVE", "off", 1);
    start("10M/s", 1);
    CUevent begin = mark(NULL);
    launch_spin();
    CUevent middle = mark(NULL);
    for (int i = 0; i < 40; i++)
        launch(0, 50, NULL);
    CUevent end = mark(NULL);
    double late = between(begin, middle), all = between(begin, end);
    double want = late > 200 ? late : 200;
    ck_assert_msg(late > 10 && all < want + 5 + late / 2,
                  "%g ms, %g of them the late one's", all, late);
}
END_TEST

START_TEST(event_of_a_paced_device_holds_a_stream_of_another)
{
    CUstream fast, slow;
    CUevent ready;
    unsigned got = 0;
    start("100M/s,1M/s", 2);
    OK(cuStreamCreate(&fast, CU_STREAM_NON_BLOCKING));
    OK(cuCtxSetCurrent(ctx[1]));
    OK(cuStreamCreate(&slow, CU_STREAM_NON_BLOCKING));
    OK(cuMemsetD32Async(word[1], 1, 1, slow));
    launch(1, 100, slow);
    OK(cuMemsetD32Async(word[1], 2, 1, slow));
    ready = mark(slow);
    OK(cuCtxSetCurrent(ctx[0]));
    OK(cuStreamWaitEvent(fast, ready, 0));
    OK(cuMemcpyPeerAsync(word[0], ctx[0], word[1], ctx[1], 4, fast));
    launch(0, 100, fast);
    CUevent after = mark(fast);
    WANT(CUDA_ERROR_NOT_READY, cuStreamQuery(fast));
    OK(cuStreamSynchronize(fast));
    OK(cuMemcpyDtoH(&got, word[0], 4));
    ck_assert_uint_eq(got, 2);
    ck_assert_double_ge(between(ready, after), 0.99); /* 1 ms of its own */
}
END_TEST

/* Milliseconds of processor time of this process or its device's. */
static double used_ms(pid_t pid)
{
    clockid_t clock;
    struct timespec ts;
    ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
    ck_assert_int_eq(clock_gettime(clock, &ts), 0);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

START_TEST(waiting_for_the_pace_takes_no_processor)
{
    start("10M/s", 1);
    pid_t device = device_of(getpid(), 0);
    ck_assert_int_gt(device, 0);
    double here = used_ms(0), there = used_ms(device);
    check_time(time_launch(0, 5000), 500);
    here = used_ms(0) - here;
    there = used_ms(device) - there;
    ck_assert_msg(here < 100 && there < 100, "%g and %g ms", here, there);
}
END_TEST

START_TEST(killed_device_ends_the_wait)
{
    start("1M/s", 1);
    launch(0, 100000, NULL); /* 100 s */
    pid_t device = device_of(getpid(), 0);
    ck_assert_int_gt(device, 0);
    usleep(50000);
    kill(device, SIGKILL);
    double before = now_ms();
    WANT(CUDA_ERROR_DEVICE_UNAVAILABLE, cuCtxSynchronize());
    ck_assert_double_lt(now_ms() - before, 20e3);
}
END_TEST

START_TEST(destroying_a_context_ends_its_wait)
{
    CUcontext other;
    start("1M/s", 1);
    launch(0, 100000, NULL); /* 100 s */
    OK(cuCtxCreate(&other, NULL, 0, 0));
    double before = now_ms();
    OK(cuCtxDestroy(ctx[0]));
    ck_assert_double_lt(now_ms() - before, 20e3);
    OK(cuCtxSynchronize());
}
END_TEST

START_TEST(wrong_list_leaves_no_pace)
{
    start("10M/s,fast", 2);
    ck_assert_double_lt(time_launch(0, 10000), 900); /* 1 s at 10M/s */
    ck_assert_uint_eq(stats_of(0).paced, 0);
}
END_TEST

SUITE_MAIN("softcuda driver: pace", 60,
           events_around_a_kernel_measure_its_threads_at_the_pace,
           grid_and_block_count_in_all_dimensions,
           devices_have_paces_of_their_own_and_the_last_serves_the_rest,
           zero_is_no_pace, four_devices_compute_at_the_same_time,
           streams_of_a_device_share_its_pace, queued_launches_keep_the_sum,
           graph_of_kernels_keeps_the_pace, idle_time_is_lost,
           copies_inside_the_device_take_no_time_from_kernels,
           launch_that_overran_and_those_it_held_up_are_late,
           launches_catch_up_after_a_late_one,
           event_of_a_paced_device_holds_a_stream_of_another,
           waiting_for_the_pace_takes_no_processor, killed_device_ends_the_wait,
           destroying_a_context_ends_its_wait, wrong_list_leaves_no_pace)
