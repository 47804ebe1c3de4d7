/*
 * Every way out of a program while a kernel that never ends runs: it ends, with
 * the status that it would have, also beside a thread that waits for the
 * kernel.
 */
#include "endless.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { STATUS = 7, MOST_MS = 15000 };

static void begin(void)
{
    expect_done(cuInit(0));
    (void)begin_own();
    struct memory memory = make(0);
    ((volatile uint8_t *)memory.small)[3] = 1;
    launch_endless(memory);
}

static void by_exit(int say)
{
    (void)say;
    begin();
    exit(STATUS);
}

static void by_exit_now(int say)
{
    (void)say;
    begin();
    _exit(STATUS);
}

static void by_quick_exit(int say)
{
    (void)say;
    begin();
    quick_exit(STATUS);
}

static void *exit_later(void *unused)
{
    pause_ms(200);
    exit(STATUS);
    return unused;
}

/* What main's thread leaves behind goes on; another one ends it. */
static void by_thread_exit(int say)
{
    pthread_t thread;
    (void)say;
    begin();
    expect(pthread_create(&thread, NULL, exit_later, NULL) == 0);
    pthread_exit(NULL);
}

static void by_abort(int say)
{
    (void)say;
    signal(SIGABRT, SIG_DFL);
    begin();
    abort();
}

static void by_signal(int say)
{
    (void)say;
    begin();
    raise(SIGTERM);
}

static void on_signal(int number)
{
    (void)number;
    exit(STATUS);
}

static void by_handler(int say)
{
    (void)say;
    begin();
    signal(SIGTERM, on_signal);
    raise(SIGTERM);
}

static void *touch_body(void *at)
{
    (void)*(volatile uint8_t *)at;
    return NULL;
}

static void *wait_body(void *unused)
{
    expect_done(cuCtxSetCurrent(unused));
    (void)cuCtxSynchronize();
    return NULL;
}

/* One thread waits in a fault, one in the driver. */
static void begin_waiting(void)
{
    pthread_t threads[2];
    expect_done(cuInit(0));
    CUcontext context = begin_own();
    struct memory memory = make(0);
    launch_endless(memory);
    expect(pthread_create(&threads[0], NULL, touch_body,
                          (void *)memory.large) == 0);
    expect(pthread_create(&threads[1], NULL, wait_body, context) == 0);
    pause_ms(300);
}

static void beside_waits(int say)
{
    (void)say;
    begin_waiting();
    exit(STATUS);
}

static void beside_waits_by_signal(int say)
{
    (void)say;
    begin_waiting();
    kill(getpid(), SIGTERM);
    pause_ms(MOST_MS);
}

static bool is_as_it_should(int status, int signal_number)
{
    return signal_number
               ? WIFSIGNALED(status) && WTERMSIG(status) == signal_number
               : WIFEXITED(status) && WEXITSTATUS(status) == STATUS;
}

START_TEST(program_ends_beside_an_endless_kernel)
{
    static const struct {
        situation_fn *way;
        int signal_number;
    } ways[] = {{by_exit, 0},
                {by_exit_now, 0},
                {by_quick_exit, 0},
                {by_thread_exit, 0},
                {by_abort, SIGABRT},
                {by_signal, SIGTERM},
                {by_handler, 0},
                {beside_waits, 0},
                {beside_waits_by_signal, SIGTERM}};
    enum { COUNT = sizeof ways / sizeof *ways };
    struct child child[COUNT];
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (int i = 0; i < COUNT; i++)
        child[i] = start(ways[i].way);
    for (int i = 0; i < COUNT; i++) {
        int status = end_of(child[i]);
        ck_assert_msg(status != -1 &&
                          is_as_it_should(status, ways[i].signal_number),
                      "way %d: %x", i, (unsigned)status);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    ck_assert_int_lt((ended.tv_sec - begun.tv_sec) * 1000, MOST_MS);
}
END_TEST

SUITE_MAIN("regress-interpose-exit", 60, program_ends_beside_an_endless_kernel)
