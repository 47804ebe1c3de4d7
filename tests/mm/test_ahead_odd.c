/*
 * Fetching ahead where something is in the way: other streams, other threads,
 * more objects than are remembered, no thread, signals, forks, a device that is
 * lost, the end of the process. Wants ADSM_PROTOCOL=rolling and
 * ADSM_BLOCK_SIZE=64K.
 */
#include "ahead_rounds.h"
#include "base/sanitized.h"
#include "common/kill_device.h"
#include "mm/doors/fetcher.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Objects that go while theirs is on its way, and others in their place. */
START_TEST(objects_may_be_freed_meanwhile)
{
    f = fixture_up();
    for (int k = 0; k < 60; k++) {
        uint8_t *p = make();
        for (int n = 0; n < 3; n++)
            run_round(p, 0, 1 + (uint32_t)k % 3);
        fill(f.fill, p);
        must(adsmSync());
        must(adsmFree(p));
    }
    ck_assert_uint_gt(count(ADSM_STAT_ahead), 0);
}
END_TEST

static void *read_all(void *p)
{
    for (uint32_t i = 0; i < BLOCKS; i++)
        must_read(p, i);
    return NULL;
}

START_TEST(threads_read_while_it_comes)
{
    enum { THREADS = 3 };
    f = fixture_up();
    uint8_t *p = make();
    for (int k = 0; k < 30; k++) {
        pthread_t thread[THREADS];
        fill(f.fill, p);
        if (k % 2)
            must(adsmSync());
        for (int t = 0; t < THREADS; t++)
            ck_assert_int_eq(pthread_create(&thread[t], NULL, read_all, p), 0);
        for (int t = 0; t < THREADS; t++)
            pthread_join(thread[t], NULL);
    }
    ck_assert_uint_gt(count(ADSM_STAT_ahead), 0);
    must(adsmFree(p));
}
END_TEST

/* Another stream's return, while the kernel runs, is none of the object's. */
START_TEST(return_of_other_work_leaves_it_to_the_kernels_own)
{
    setenv("SOFTCUDA_PACE", "20M/s", 1); /* a fifth of a second */
    f = fixture_up();
    uint8_t *p = make();
    run_round(p, 0, 8);
    fill(f.fill, p);
    adsm_fetcher_returned(adsm_index_find(p)->home);
    must(adsmSync());
    await_ahead(p, BLOCKS / 8);
    must(adsmFree(p));
}
END_TEST

/* More than are remembered, and their places are used again. */
START_TEST(objects_beyond_those_that_are_remembered_are_read_as_ever)
{
    enum { OBJECTS = 300, REMEMBERED = 256 };
    static uint8_t *p[OBJECTS];
    setenv("ADSM_SLAB_MAX", "0", 1);
    f = fixture_up();
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < OBJECTS; i++)
            ck_assert_ptr_nonnull(p[i] = adsmAlloc(BLOCK));
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < OBJECTS; i++) {
                device_fill(f.fill_only, p[i], BLOCK, (uint32_t)(i + k));
                must(adsmSync());
                ck_assert_uint_eq(p[i][i], filled((uint32_t)i, i + k));
            }
        for (int i = 0; i < OBJECTS; i++) {
            const struct adsm_object *object = adsm_index_find(p[i]);
            ck_assert_int_eq(object->ahead->place > 0, i < REMEMBERED);
            must(adsmFree(p[i]));
        }
    }
}
END_TEST

/* As with `ulimit -u`: the program goes on, and nothing comes. */
START_TEST(without_a_thread_all_is_fetched_as_it_is_read)
{
    enum { SOMEBODY = 61233 };
    setenv("SOFTCUDA_NATIVE", "off", 1);
    if (SANITIZED) /* looks for leaks in a thread of its own */
        return;
    f = fixture_up();
    if (geteuid() == 0 && setresuid(SOMEBODY, SOMEBODY, SOMEBODY) != 0)
        return;
    must(setrlimit(RLIMIT_NPROC, &(struct rlimit){1, 1}));
    uint8_t *p = make();
    for (int k = 0; k < 4; k++)
        run_round(p, 0, 8);
    ck_assert_uint_eq(count(ADSM_STAT_ahead), 0);
    ck_assert_uint_eq(count(ADSM_STAT_faults_read), 4 * BLOCKS / 8);
    must(adsmFree(p));
}
END_TEST

static volatile sig_atomic_t taken;

static void take(int signal)
{
    (void)signal;
    taken = 1;
}

START_TEST(signals_of_the_program_do_not_go_to_the_thread)
{
    sigset_t set, pending;
    signal(SIGUSR1, take);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    f = fixture_up();
    uint8_t *p = make_expected(0, 1, BLOCKS); /* the thread is there */
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    must(kill(getpid(), SIGUSR1));
    for (int k = 0; k < 10; k++)
        run_round(p, 0, 1);
    ck_assert_int_eq(taken, 0);
    must(sigpending(&pending));
    ck_assert(sigismember(&pending, SIGUSR1));
    must(adsmFree(p));
}
END_TEST

/* The child has no such thread, and none of the memory. */
START_TEST(child_of_a_fork_ends_and_the_parent_goes_on)
{
    int status;
    setenv("SOFTCUDA_LINK", "100MB/s", 1);
    f = fixture_up();
    uint8_t *p = make();
    for (int k = 0; k < 3; k++) {
        run_round(p, 0, 1);
        fill(f.fill, p);
        must(adsmSync()); /* it is coming */
        pid_t child = fork();
        /* A sanitizer has locks of its own, which the thread may have held, and
         * wants them where a program ends by exit. */
        if (child == 0)
            (SANITIZED ? _exit : exit)(adsmSync() == ADSM_E_FORKED ? 7 : 1);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 7);
    }
    for (uint32_t i = 0; i < BLOCKS; i++)
        must_read(p, i);
    must(adsmFree(p));
}
END_TEST

START_TEST(device_lost_while_it_comes_ends_nothing)
{
    setenv("SOFTCUDA_LINK", "20MB/s", 1); /* a fifth of a second */
    f = fixture_up();
    uint8_t *p = make();
    run_round(p, 0, 1);
    fill(f.fill, p);
    must(adsmSync());
    while (count(ADSM_STAT_ahead) == 0)
        sched_yield();
    ck_assert_int_eq(kill_device(ANY_DEVICE), 1);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        volatile uint8_t *lost = p + i * BLOCK;
        lost[1] = 3;
        ck_assert_uint_eq(lost[1], 3);
    }
    ck_assert_int_ne(adsmSync(), ADSM_OK);
    (void)adsmFree(p);
}
END_TEST

/* After the runtime's own exit handler. */
static void must_be_over(void)
{
    uint64_t ahead = count(ADSM_STAT_bytes_ahead);
    usleep(300 * 1000); /* nothing is to happen, and that takes time */
    if (ahead == 0 || count(ADSM_STAT_bytes_ahead) != ahead)
        _exit(1);
}

START_TEST(nothing_comes_behind_the_exit)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        atexit(must_be_over);
        setenv("SOFTCUDA_LINK", "20MB/s", 1); /* a fifth of a second */
        f = fixture_up();
        uint8_t *p = make();
        run_round(p, 0, 1);
        fill(f.fill, p);
        must(adsmSync());
        while (count(ADSM_STAT_ahead) == 0)
            sched_yield();
        exit(7);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

SUITE_MAIN("ahead_odd", 60, objects_may_be_freed_meanwhile,
           threads_read_while_it_comes,
           return_of_other_work_leaves_it_to_the_kernels_own,
           objects_beyond_those_that_are_remembered_are_read_as_ever,
           without_a_thread_all_is_fetched_as_it_is_read,
           signals_of_the_program_do_not_go_to_the_thread,
           child_of_a_fork_ends_and_the_parent_goes_on,
           device_lost_while_it_comes_ends_nothing,
           nothing_comes_behind_the_exit)
