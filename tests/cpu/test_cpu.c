/*
 * The processors as a device (ADSM_DEVICES=cpu): kernels that are functions of
 * the program, in order, beside the CPU's own accesses.
 */
#include "common/must_api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char any_code[] = "// of a kernel that runs on the CPU";

static void rest(int ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000L}, NULL);
}

/* ---- kernels -------------------------------------------------------------- */

/* p[i] = p[i] * 3 + s for n words, after some milliseconds. */
static void step(const adsmBlocks *blocks, void *const *values)
{
    uint32_t *p = *(uint32_t **)values[0];
    long n = *(long *)values[1];
    int s = *(int *)values[2], ms = *(int *)values[3];
    long from = (long)blocks->first * blocks->block[0];
    long to = from + (long)blocks->count * blocks->block[0];
    if (ms > 0)
        rest(ms);
    for (long i = from; i < to && i < n; i++)
        p[i] = p[i] * 3 + (uint32_t)s;
}

static _Atomic uint64_t blocks_seen;
static _Atomic unsigned most[3];

/* Counts each block of a grid once. */
static void count(const adsmBlocks *blocks, void *const *values)
{
    uint8_t *seen = *(uint8_t **)values[0];
    for (uint64_t b = blocks->first; b < blocks->first + blocks->count; b++)
        seen[b]++;
    atomic_fetch_add(&blocks_seen, blocks->count);
    for (int d = 0; d < 3; d++)
        atomic_store(&most[d], blocks->grid[d]);
}

static const size_t step_bytes[] = {8, 8, 4, 4}, count_bytes[] = {8};
static adsmCpuCode step_code = {"step", step, 4, step_bytes, NULL},
                   count_code = {"count", count, 1, count_bytes, NULL};

struct up {
    adsmModule *module;
    adsmKernel *step, *count;
};

static struct up up(void)
{
    struct up up;
    must(adsmCpuAdd(&step_code));
    must(adsmCpuAdd(&count_code));
    must(adsmModuleLoad(&up.module, any_code, sizeof any_code - 1));
    must(adsmKernelGet(&up.step, up.module, "step", ADSM_ONLY_ARGUMENTS));
    must(adsmKernelGet(&up.count, up.module, "count", ADSM_ONLY_ARGUMENTS));
    return up;
}

static void run_step(adsmKernel *kernel, uint32_t *p, long n, int s, int ms)
{
    must(adsmLaunch(kernel, adsmDim1((unsigned)(n + 63) / 64), adsmDim1(64), 0,
                    adsmInOut(p), adsmVal(n), adsmVal(s), adsmVal(ms)));
}

/* ---- what works ----------------------------------------------------------- */

START_TEST(there_is_one_device_and_no_driver)
{
    size_t total, avail;
    ck_assert_int_eq(adsmDeviceCount(), 1);
    must(adsmDeviceMemory(0, &total, &avail));
    ck_assert(avail > 0 && avail <= total);
    ck_assert_int_eq(adsmDeviceUse(1), ADSM_E_INVALID);
}
END_TEST

START_TEST(accesses_wait_for_kernels)
{
    enum { N = 1 << 16 };
    struct up u = up();
    uint32_t *p = adsmAlloc(N * sizeof *p);
    uint32_t want = 0;
    for (int i = 0; i < N; i++)
        p[i] = 0;
    for (int round = 0; round < 20; round++) {
        run_step(u.step, p, N, round, round % 4 == 0 ? 20 : 0);
        want = want * 3 + (uint32_t)round;
        ck_assert_uint_eq(p[N - 1], want);
        if (round % 2)
            p[0] = p[N - 1] = want = (uint32_t)round;
        for (int i = 1; i < N - 1 && round % 2; i++)
            p[i] = want;
    }
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(p[i], want);
    must(adsmFree(p));
}
END_TEST

/* More launches than a stream has room for. */
START_TEST(launches_come_in_order)
{
    struct up u = up();
    uint32_t *p = adsmAlloc(64 * sizeof *p);
    uint32_t want = p[5] = 7;
    for (int i = 0; i < 5000; i++) {
        run_step(u.step, p, 64, i, i == 0 ? 50 : 0);
        want = want * 3 + (uint32_t)i;
    }
    ck_assert_uint_eq(p[5], want);
    must(adsmFree(p));
}
END_TEST

START_TEST(every_block_runs_once)
{
    struct up u = up();
    static const unsigned grids[][3] = {{1, 1, 1},    {7, 1, 1},
                                        {1000, 1, 1}, {3, 5, 11},
                                        {1, 4093, 2}, {65536, 1, 1}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        const unsigned *grid = grids[g];
        size_t n = (size_t)grid[0] * grid[1] * grid[2];
        uint8_t *seen = adsmAlloc(n);
        memset(seen, 0, n);
        atomic_store(&blocks_seen, 0);
        must(adsmLaunch(u.count, adsmDim3(grid[0], grid[1], grid[2]),
                        adsmDim1(1), 0, adsmInOut(seen)));
        must(adsmSync());
        ck_assert_uint_eq(atomic_load(&blocks_seen), n);
        for (size_t i = 0; i < n; i++)
            ck_assert_int_eq(seen[i], 1);
        for (int d = 0; d < 3; d++)
            ck_assert_uint_eq(atomic_load(&most[d]), grid[d]);
        must(adsmFree(seen));
    }
}
END_TEST

static void *use_own(void *kernel)
{
    enum { N = 4096 };
    uint32_t *p = adsmAlloc(N * sizeof *p), want = 1;
    for (int i = 0; i < N; i++)
        p[i] = 1;
    for (int round = 0; round < 300; round++) {
        run_step(kernel, p, N, round, 0);
        want = want * 3 + (uint32_t)round;
        ck_assert_uint_eq(p[round * 13 % N], want);
    }
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(p[i], want);
    must(adsmFree(p));
    return NULL;
}

START_TEST(threads_use_it_at_once)
{
    struct up u = up();
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_own, u.step), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

/* The copies are in streams of their own, which wait for the kernel, and it for
 * them. */
START_TEST(arrays_without_home_are_copied)
{
    enum { N = 100000 };
    struct up u = up();
    uint32_t *p = adsmAllocArray(sizeof *p, adsmR1(N), ADSM_NO_HOME);
    uint32_t want = 3;
    ck_assert_ptr_nonnull(p);
    for (int i = 0; i < N; i++)
        p[i] = want;
    for (int round = 0; round < 12; round++) {
        run_step(u.step, p, N, round, round % 3 == 0 ? 10 : 0);
        want = want * 3 + (uint32_t)round;
        for (int i = 0; i < N && round % 3 != 1; i += 997)
            ck_assert_uint_eq(p[i], want);
    }
    must(adsmFree(p));
}
END_TEST

START_TEST(memory_in_use_is_not_another_s)
{
    enum { N = 1 << 18 };
    struct up u = up();
    for (int round = 0; round < 8; round++) {
        uint32_t *p = adsmAlloc(N * sizeof *p);
        p[5] = 1;
        run_step(u.step, p, N, 1, 20);
        must(adsmFree(p));
        uint32_t *q = adsmAlloc(N * sizeof *q);
        for (int i = 0; i < N; i++)
            q[i] = 9;
        rest(30);
        for (int i = 0; i < N; i++)
            ck_assert_uint_eq(q[i], 9);
        must(adsmFree(q));
    }
}
END_TEST

/* ---- what does not -------------------------------------------------------- */

START_TEST(kernel_without_a_function_is_told)
{
    adsmKernel *kernel;
    struct up u = up();
    ck_assert_int_eq(
        adsmKernelGet(&kernel, u.module, "missing", ADSM_ANY_OBJECT),
        ADSM_E_NOT_FOUND);
    ck_assert_ptr_nonnull(
        strstr(adsmErrorDetail(), "ADSM_CPU_KERNEL(missing)"));
}
END_TEST

START_TEST(functions_that_are_none_are_told)
{
    adsmCpuCode no_name = {NULL, step, 4, step_bytes, NULL};
    adsmCpuCode no_code = {"other", NULL, 4, step_bytes, NULL};
    adsmCpuCode no_sizes = {"other", step, 4, NULL, NULL};
    adsmCpuCode again = {"step", count, 1, count_bytes, NULL};
    struct up u = up();
    (void)u;
    ck_assert_int_eq(adsmCpuAdd(NULL), ADSM_E_INVALID);
    ck_assert_int_eq(adsmCpuAdd(&no_name), ADSM_E_INVALID);
    ck_assert_int_eq(adsmCpuAdd(&no_code), ADSM_E_INVALID);
    ck_assert_int_eq(adsmCpuAdd(&no_sizes), ADSM_E_INVALID);
    ck_assert_int_eq(adsmCpuAdd(&again), ADSM_E_INVALID);
    ck_assert_ptr_nonnull(strstr(adsmErrorDetail(), "'step'"));
    must(adsmCpuRemove(&again)); /* which is not there */
    must(adsmCpuRemove(&step_code));
    must(adsmCpuAdd(&again));
}
END_TEST

START_TEST(more_memory_than_there_is_is_refused)
{
    size_t total, avail;
    must(adsmDeviceMemory(0, &total, &avail));
    static const size_t sizes[] = {SIZE_MAX / 4, SIZE_MAX - 4096, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ck_assert_ptr_null(adsmAlloc(sizes[i]));
    ck_assert_ptr_null(adsmAlloc(total + 1));
    ck_assert_int_eq(adsmLastStatus(), ADSM_E_DEVICE_NOMEM);
    /* What is not touched costs nothing. */
    uint8_t *p = adsmAlloc(total / 2);
    ck_assert_ptr_nonnull(p);
    p[total / 2 - 1] = 1;
    must(adsmFree(p));
}
END_TEST

START_TEST(forked_child_has_no_device)
{
    struct up u = up();
    uint32_t *p = adsmAlloc(4096);
    p[0] = 1;
    run_step(u.step, p, 64, 2, 0);
    ck_assert_uint_eq(p[0], 5);
    pid_t child = fork();
    if (child == 0) {
        int s = 0, ms = 0;
        long n = 64;
        int rc = adsmLaunch(u.step, adsmDim1(1), adsmDim1(64), 0, adsmInOut(p),
                            adsmVal(n), adsmVal(s), adsmVal(ms));
        _exit(rc == ADSM_E_FORKED ? 0 : 1);
    }
    int status = 1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    run_step(u.step, p, 64, 2, 0);
    ck_assert_uint_eq(p[0], 17);
}
END_TEST

static pthread_barrier_t at_once;

static void *first_call(void *rank)
{
    pthread_barrier_wait(&at_once);
    for (volatile long wait = (long)rank * 2000; wait > 0; wait--)
        ;
    uint32_t *p = adsmAlloc(4096);
    if (p)
        p[0] = 1;
    return p;
}

/* Whoever comes while another starts the runtime waits for it. */
START_TEST(first_calls_at_once_start_it_once)
{
    enum { THREADS = 8 };
    pthread_t thread[THREADS];
    ck_assert_int_eq(pthread_barrier_init(&at_once, NULL, THREADS), 0);
    for (long i = 0; i < THREADS; i++)
        ck_assert_int_eq(
            pthread_create(&thread[i], NULL, first_call, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *p = NULL;
        pthread_join(thread[i], &p);
        ck_assert_ptr_nonnull(p);
        must(adsmFree(p));
    }
}
END_TEST

/* Nothing of ours runs while there is nothing to do. */
START_TEST(idle_threads_take_no_time)
{
    struct up u = up();
    uint32_t *p = adsmAlloc(4096);
    struct timespec before, after;
    run_step(u.step, p, 64, 2, 0);
    must(adsmSync());
    rest(20);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    rest(300);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    long ns = (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec -
              before.tv_nsec;
    ck_assert_int_lt(ns, 3000000);
}
END_TEST

SUITE_MAIN("cpu", 60, there_is_one_device_and_no_driver,
           first_calls_at_once_start_it_once, accesses_wait_for_kernels,
           launches_come_in_order, every_block_runs_once,
           threads_use_it_at_once, arrays_without_home_are_copied,
           memory_in_use_is_not_another_s, kernel_without_a_function_is_told,
           functions_that_are_none_are_told,
           more_memory_than_there_is_is_refused, forked_child_has_no_device,
           idle_threads_take_no_time)
