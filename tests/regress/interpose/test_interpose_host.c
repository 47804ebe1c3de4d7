/*
 * Defect 5: an unrelated SIGSEGV ended the program before its own handler ran,
 * and a sigaction installed later stole the faults. Defect 9: threads that
 * were not made by pthread_create crashed at their first shared access.
 */
#include "preloaded.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

static sigjmp_buf back;
static void *volatile fault_at;

static void on_segv(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    fault_at = info->si_addr;
    siglongjmp(back, 1);
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO};
    ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
}

static void touch(volatile uint8_t *object)
{
    for (size_t i = 0; i < BYTES; i += 4096) {
        ck_assert_int_eq(object[i], 5);
        object[i] = 6;
    }
}

/* A fault of the program's own reaches its handler. */
static void provoke(void)
{
    volatile uint8_t *hole =
        mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fault_at = NULL;
    if (sigsetjmp(back, 1) == 0)
        hole[100] = 1;
    ck_assert_ptr_eq(fault_at, (void *)(hole + 100));
}

START_TEST(defect_05_handler_installed_before_gets_foreign_faults)
{
    install();
    device_start();
    uint8_t *object = device_bytes(BYTES, 5);
    provoke();
    touch(object);
    provoke();
}
END_TEST

START_TEST(defect_05_handler_installed_later_does_not_steal_faults)
{
    device_start();
    uint8_t *object = device_bytes(BYTES, 5);
    install();
    touch(object);
    ck_assert_ptr_null(fault_at);
    provoke();
    must(cuMemsetD8((CUdeviceptr)object, 5, BYTES));
    touch(object);
}
END_TEST

START_TEST(defect_05_blocked_signal_does_not_kill)
{
    sigset_t all, now;
    device_start();
    uint8_t *object = device_bytes(BYTES, 5);
    sigfillset(&all);
    ck_assert_int_eq(sigprocmask(SIG_BLOCK, &all, NULL), 0);
    touch(object);
    sigprocmask(SIG_SETMASK, NULL, &now);
    ck_assert_int_eq(sigismember(&now, SIGSEGV), 1);
}
END_TEST

static int in_thread(void *object)
{
    for (size_t i = 0; i < BYTES; i += 512)
        ((volatile uint8_t *)object)[i]++;
    return 42;
}

START_TEST(defect_09_threads_of_c11_may_touch)
{
    thrd_t threads[4];
    device_start();
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(thrd_create(&threads[i], in_thread,
                                     device_bytes(BYTES, (uint8_t)i)),
                         thrd_success);
    for (int i = 0; i < 4; i++) {
        int result = 0;
        thrd_join(threads[i], &result);
        ck_assert_int_eq(result, 42);
    }
}
END_TEST

/* What a driver does in its threads: past every function of libc. */
static void block_all(void *nothing)
{
    uint64_t all = ~UINT64_C(0);
    (void)nothing;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all);
}

static void touch_in_host_function(void *object)
{
    touch(object);
}

START_TEST(host_functions_may_touch_where_the_driver_blocks_signals)
{
    device_start();
    uint8_t *object = device_bytes(BYTES, 5);
    must(cuLaunchHostFunc(NULL, block_all, NULL));
    must(cuLaunchHostFunc(NULL, touch_in_host_function, object));
    must(cuCtxSynchronize());
    ck_assert_int_eq(object[0], 6);
}
END_TEST

SUITE_MAIN("regress-interpose-host", 60,
           defect_05_handler_installed_before_gets_foreign_faults,
           defect_05_handler_installed_later_does_not_steal_faults,
           defect_05_blocked_signal_does_not_kill,
           defect_09_threads_of_c11_may_touch,
           host_functions_may_touch_where_the_driver_blocks_signals)
