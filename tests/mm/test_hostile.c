/*
 * What an adversary would try: a device process killed at the worst moment, no
 * driver at all, signals in the middle of system calls, stack overflows and
 * wild pointers beside shared objects.
 */
#include "fixture.h"
#include "mm/doors/bulk.h"
#include "mm/doors/loan.h"
#include "mm/object/index.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(killed_device_gives_a_status_and_the_program_goes_on)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(300000), *q = adsmAlloc(300000);
    memset(p, 4, 300000);
    device_fill(f.fill, q, 1000, 1);
    must(adsmSync());
    ck_assert_int_eq(kill_children(), 1);
    usleep(100000);
    uint32_t n = 10, s = 1;
    int status = ADSM_OK;
    for (int i = 0; i < 50 && status == ADSM_OK; i++) {
        status = adsmLaunch(f.fill, adsmDim1(1), adsmDim1(32), 0, adsmInOut(p),
                            adsmVal(n), adsmVal(s));
        if (status == ADSM_OK)
            status = adsmSync();
    }
    ck_assert_int_eq(status, ADSM_E_DEVICE_LOST);
    ck_assert_str_ne(adsmErrorDetail(), "");
    /* Data that only the device had is gone; touching it ends nothing. */
    volatile uint8_t *lost = q;
    (void)lost[5];
    lost[6] = 1;
    ck_assert_int_eq(lost[6], 1);
    ck_assert_int_ne(adsmSync(), ADSM_OK);
    ck_assert_ptr_null(adsmAlloc(1 << 20));
    (void)adsmFree(p);
    (void)adsmFree(q);
}
END_TEST

START_TEST(no_driver_at_all_is_one_status_with_a_reason)
{
    int pipe_fds[2];
    ck_assert_int_eq(pipe(pipe_fds), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipe_fds[1], 1);
        setenv("LD_LIBRARY_PATH", "/dev/null", 1);
        setenv("MM_HOSTILE_NO_DRIVER", "1", 1);
        execl("/proc/self/exe", "test", (char *)NULL);
        _exit(127);
    }
    close(pipe_fds[1]);
    char text[1024] = "";
    size_t n = 0;
    ssize_t got;
    while (n < sizeof text - 1 &&
           (got = read(pipe_fds[0], text + n, sizeof text - 1 - n)) > 0)
        n += (size_t)got;
    int status;
    waitpid(child, &status, 0);
    if (strstr(text, "driver found"))
        return; /* the system has a driver of its own */
    ck_assert_msg(strstr(text, "ADSM_E_NO_DEVICE: ") &&
                      strstr(text, "libcuda.so.1"),
                  "said '%s'", text);
}
END_TEST

static int without_driver(void)
{
    void *p = adsmAlloc(100);
    if (p) {
        printf("driver found\n");
        return 0;
    }
    printf("%s: %s\n", adsmErrorName(adsmLastStatus()), adsmErrorDetail());
    adsmModule *module;
    return adsmDeviceCount() != 0 || adsmSync() != ADSM_E_NO_DEVICE ||
           adsmModuleLoad(&module, "x", 1) != ADSM_E_NO_DEVICE ||
           adsmFree(NULL) != ADSM_OK || adsmFree(&p) != ADSM_E_NOT_SHARED;
}

/* A handler touches the very bytes that a call is being lent. */
static uint8_t *volatile handled;
static volatile sig_atomic_t ticks;

static void on_alarm(int signal)
{
    (void)signal;
    handled[70000]++;
    (void)handled[200000];
    ticks++;
}

START_TEST(handler_that_touches_a_lent_buffer_runs_behind_the_loan)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(1 << 20);
    device_fill(f.fill, p, 300000, 1);
    must(adsmSync());
    handled = p;
    struct sigaction act = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &act, NULL);
    struct adsm_loan loan;
    must(adsm_loan_begin(p, 1 << 20, ADSM_WRITE, &loan));
    ck_assert_int_eq(raise(SIGALRM), 0);
    ck_assert_int_eq(ticks, 0);
    must(adsm_loan_end(&loan, 0));
    ck_assert_int_eq(ticks, 1);
    /* Nothing was read: the object is as the device left it. */
    for (uint32_t i = 0; i < 300000; i += 7)
        if (i != 70000)
            ck_assert_int_eq(p[i], filled(i, 1));
    must(adsmFree(p));
}
END_TEST

/* A handler that touches shared memory, whatever the thread was doing. */
static void on_tick(int signal)
{
    (void)signal;
    ticks += handled[ticks * 4096 % 600000] != 77;
    handled[ticks * 8192 % 600000] = 1;
}

START_TEST(handler_that_touches_shared_memory_may_interrupt_anything)
{
    struct fixture f = fixture_up();
    static uint8_t plain[600000];
    uint8_t *p = adsmAlloc(600000), *q = adsmAlloc(600000);
    memset(p, 0, 600000);
    handled = p;
    struct sigaction act = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &act, NULL);
    struct itimerval often = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 4000; i++) {
        uint32_t s = (uint32_t)i;
        device_fill(f.fill, q, 1000, s);
        must(adsm_bulk_move(plain, q, 2000));
        ck_assert_int_eq(plain[999], filled(999, s));
        must(adsm_bulk_move(q + 100000, p, 300000));
        if (i % 50 == 0) {
            void *other = adsmAlloc(100 + (size_t)i * 100);
            must(adsmFree(other));
        }
    }
    setitimer(ITIMER_REAL, &never, NULL);
    ck_assert_int_gt(ticks, 100);
    must(adsmFree(p));
    must(adsmFree(q));
}
END_TEST

START_TEST(full_disk_and_bad_descriptor_leave_the_object_alone)
{
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(1 << 20);
    device_fill(f.fill, p, 300000, 1);
    struct adsm_loan loan;
    int full = open("/dev/full", O_WRONLY);
    must(adsm_loan_begin(p, 300000, ADSM_READ, &loan));
    ck_assert_int_eq(write(full, loan.address, loan.bytes), -1);
    ck_assert_int_eq(errno, ENOSPC);
    must(adsm_loan_end(&loan, 0));
    must(adsm_loan_begin(p + 5, 300000, ADSM_WRITE, &loan));
    ck_assert_int_eq(read(-1, loan.address, loan.bytes), -1);
    must(adsm_loan_end(&loan, 0));
    for (uint32_t i = 0; i < 300000; i += 7)
        ck_assert_int_eq(p[i], filled(i, 1));
    close(full);
    must(adsmFree(p));
}
END_TEST

/* Faults that are not ours reach the program's own handler. */
static sigjmp_buf jump;
static volatile sig_atomic_t caught;

static void on_segv(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    caught = info->si_addr == (void *)16;
    siglongjmp(jump, 1);
}

START_TEST(wild_pointer_beside_shared_objects_reaches_the_programs_handler)
{
    struct sigaction act = {.sa_sigaction = on_segv,
                            .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &act, NULL); /* before the runtime is up */
    struct fixture f = fixture_up();
    uint8_t *p = adsmAlloc(300000);
    int *volatile nowhere = (int *)16;
    volatile int *wild = nowhere;
    device_fill(f.fill, p, 100, 1);
    if (sigsetjmp(jump, 1) == 0)
        *wild = 1;
    ck_assert_int_eq(caught, 1);
    ck_assert_int_eq(p[50], filled(50, 1));
    must(adsmFree(p));
}
END_TEST

START_TEST(use_after_free_is_an_ordinary_fault)
{
    (void)fixture_up();
    uint8_t *p = adsmAlloc(3 << 20);
    p[100] = 1;
    must(adsmFree(p));
    *(volatile uint8_t *)(p + 100) = 2;
}
END_TEST

int main(void)
{
    if (getenv("MM_HOSTILE_NO_DRIVER"))
        return without_driver();
    const TTest *const cases[] = {
        killed_device_gives_a_status_and_the_program_goes_on,
        no_driver_at_all_is_one_status_with_a_reason,
        handler_that_touches_a_lent_buffer_runs_behind_the_loan,
        handler_that_touches_shared_memory_may_interrupt_anything,
        full_disk_and_bad_descriptor_leave_the_object_alone,
        wild_pointer_beside_shared_objects_reaches_the_programs_handler,
    };
    Suite *suite = suite_create("hostile");
    TCase *tcase = tcase_create("hostile");
    tcase_set_timeout(tcase, 60);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tcase_add_test(tcase, cases[i]);
    tcase_add_test_raise_signal(tcase, use_after_free_is_an_ordinary_fault,
                                SIGSEGV);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
