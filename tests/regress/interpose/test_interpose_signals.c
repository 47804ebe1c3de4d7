/*
 * The program's own SIGSEGV and SIGBUS beside shared memory: sent by somebody,
 * faults of its own, flags of actions.
 */
#include "noted.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { TICKET = 4711 };

/* ---- sent ------------------------------------------------------------------ */

START_TEST(segv_that_is_sent_says_by_whom)
{
    union sigval ticket = {.sival_int = TICKET};
    begin();
    install(SIGSEGV, note, 0);
    kill(getpid(), SIGSEGV);
    expect_handled(SIGSEGV, SI_USER);
    close_all();
    raise(SIGSEGV);
    expect_handled(SIGSEGV, SI_TKILL);
    pthread_kill(pthread_self(), SIGSEGV);
    expect_handled(SIGSEGV, SI_TKILL);
    syscall(SYS_tgkill, getpid(), gettid(), SIGSEGV);
    expect_handled(SIGSEGV, SI_TKILL);
    close_all();
    sigqueue(getpid(), SIGSEGV, ticket);
    expect_handled(SIGSEGV, SI_QUEUE);
    ck_assert_int_eq(value, TICKET);
    pthread_sigqueue(pthread_self(), SIGSEGV, ticket);
    expect_handled(SIGSEGV, SI_QUEUE);
}
END_TEST

START_TEST(segv_that_is_sent_while_blocked_is_waited_for)
{
    sigset_t segv;
    siginfo_t info;
    union sigval ticket = {.sival_int = TICKET};
    begin();
    sigemptyset(&segv);
    sigaddset(&segv, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &segv, NULL);
    pthread_sigqueue(pthread_self(), SIGSEGV, ticket);
    ck_assert_int_eq(shared[7], 3);
    ck_assert_int_eq(sigwaitinfo(&segv, &info), SIGSEGV);
    ck_assert_int_eq(info.si_code, SI_QUEUE);
    ck_assert_int_eq(info.si_value.sival_int, TICKET);
    close_all();
    ck_assert_int_eq(shared[7], 3);
}
END_TEST

/* ---- flags ----------------------------------------------------------------- */

static int end_of(void (*body)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        begin();
        body();
        _exit(99);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

static void use_reset_handler(void)
{
    struct sigaction now;
    install(SIGSEGV, note, SA_RESETHAND);
    for (int i = 0; i < 3; i++) {
        close_all();
        shared[i * PAGE] = 1;
    }
    sigaction(SIGSEGV, NULL, &now);
    if (now.sa_sigaction != note)
        _exit(1);
    raise(SIGSEGV);
    sigaction(SIGSEGV, NULL, &now);
    if (handled != SIGSEGV || now.sa_handler != SIG_DFL)
        _exit(2);
    close_all();
    if (shared[PAGE] != 3)
        _exit(3);
    touch_bad();
}

START_TEST(handler_for_once_is_reset_by_its_signal_alone)
{
    int status = end_of(use_reset_handler);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}
END_TEST

static volatile int depth;

static void nest(int number, siginfo_t *info, void *context)
{
    note(number, info, context);
    close_all();
    if (++depth < 3)
        touch_bad();
    siglongjmp(away, 1);
}

START_TEST(handler_that_does_not_defer_may_fault_itself)
{
    begin();
    install(SIGSEGV, nest, SA_NODEFER);
    if (sigsetjmp(away, 1) == 0)
        touch_bad();
    ck_assert_int_eq(depth, 3);
    expect_handled(SIGSEGV, SEGV_MAPERR);
    ck_assert_int_eq(shared[1], 3);
}
END_TEST

static void nest_deferred(void)
{
    install(SIGSEGV, nest, 0);
    touch_bad();
}

START_TEST(fault_of_a_handler_that_defers_ends_the_program)
{
    int status = end_of(nest_deferred);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}
END_TEST

/* ---- faults of the program's own ------------------------------------------- */

static char *truncated_mapping(void)
{
    char name[] = "/tmp/adsm-signals-XXXXXX";
    int file = mkstemp(name);
    ck_assert_int_ge(file, 0);
    unlink(name);
    ck_assert_int_eq(ftruncate(file, 4 * PAGE), 0);
    char *at =
        mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ck_assert_ptr_ne(at, MAP_FAILED);
    ck_assert_int_eq(ftruncate(file, PAGE), 0);
    close(file);
    return at;
}

START_TEST(bus_error_of_a_short_file_arrives)
{
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    begin();
    char *at = truncated_mapping();
    install(SIGBUS, note_and_jump, 0);
    if (sigsetjmp(away, 1) == 0)
        at[2 * PAGE] = 1;
    expect_handled(SIGBUS, BUS_ADRERR);
    ck_assert_ptr_eq(address, at + 2 * PAGE);
    close_all();
    if (sigsetjmp(away, 1) == 0)
        copy((void *)shared, at, 4 * PAGE);
    expect_handled(SIGBUS, BUS_ADRERR);
    for (int i = 4 * PAGE; i < BYTES; i += PAGE)
        ck_assert_int_eq(shared[i], 3);
    shared[0] = 1;
}
END_TEST

/* Deeper until there is no stack. */
static volatile long deepest = 1L << 60;

static __attribute__((noinline)) long overflow(long down)
{
    volatile char room[1024];
    room[down % 1024] = (char)down;
    return down == deepest ? 0 : overflow(down + 1) + room[down % 1024];
}

static void *overflow_here(void *context)
{
    static char stacks[2][64 << 10];
    static int next;
    stack_t stack = {.ss_sp = stacks[next++], .ss_size = sizeof stacks[0]};
    ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
    must(cuCtxSetCurrent(context));
    close_all();
    if (sigsetjmp(away, 1) == 0)
        overflow(0);
    return NULL;
}

START_TEST(stack_overflow_arrives_on_the_alternate_stack)
{
    pthread_t thread;
    CUcontext context;
    begin();
    must(cuCtxGetCurrent(&context));
    install(SIGSEGV, note_and_jump, SA_ONSTACK);
    overflow_here(context);
    expect_handled(SIGSEGV, code);
    ck_assert_int_eq(pthread_create(&thread, NULL, overflow_here, context), 0);
    pthread_join(thread, NULL);
    expect_handled(SIGSEGV, code);
    close_all();
    ck_assert_int_eq(shared[9], 3);
}
END_TEST

SUITE_MAIN("regress-interpose-signals", 60, segv_that_is_sent_says_by_whom,
           segv_that_is_sent_while_blocked_is_waited_for,
           handler_for_once_is_reset_by_its_signal_alone,
           handler_that_does_not_defer_may_fault_itself,
           fault_of_a_handler_that_defers_ends_the_program,
           bus_error_of_a_short_file_arrives,
           stack_overflow_arrives_on_the_alternate_stack)
