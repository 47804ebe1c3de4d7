/*
 * Handlers that do not return to what they interrupted, threads that end in the
 * middle of an access, and copies that a handler has to help.
 */
#include "noted.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

START_TEST(jump_out_of_a_call_that_waits_leaves_nothing_behind)
{
    static const struct itimerval once = {{0, 0}, {0, 50000}};
    int ends[2];
    begin();
    ck_assert_int_eq(pipe(ends), 0);
    install(SIGALRM, note_and_jump, SA_RESTART);
    for (int i = 0; i < 3; i++) {
        close_all();
        setitimer(ITIMER_REAL, &once, NULL);
        if (sigsetjmp(away, 1) == 0)
            (void)!read(ends[0], (void *)shared, BYTES);
        expect_handled(SIGALRM, SI_KERNEL);
    }
    close_all();
    ck_assert_int_eq(write(ends[1], "abc", 3), 3);
    ck_assert_int_eq(read(ends[0], (void *)(shared + BYTES / 2), 300), 3);
    ck_assert_int_eq(shared[BYTES / 2 + 1], 'b');
    ck_assert_int_eq(shared[BYTES / 2 + 3], 3);
}
END_TEST

static void leave_thread(int number, siginfo_t *info, void *context)
{
    note(number, info, context);
    pthread_exit((void *)&handled);
}

static void *faulting_thread(void *unused)
{
    touch_bad();
    return unused;
}

START_TEST(thread_may_end_in_a_handler_of_its_fault)
{
    pthread_t thread;
    void *result;
    begin();
    install(SIGSEGV, leave_thread, 0);
    for (int i = 0; i < 10; i++) {
        close_all();
        ck_assert_int_eq(pthread_create(&thread, NULL, faulting_thread, NULL),
                         0);
        pthread_join(thread, &result);
        ck_assert_ptr_eq(result, (void *)&handled);
        expect_handled(SIGSEGV, SEGV_MAPERR);
    }
}
END_TEST

static void *touching_thread(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;)
        for (int i = 0; i < BYTES; i += PAGE)
            shared[i] = 3;
    return unused;
}

START_TEST(thread_may_be_cancelled_in_the_middle_of_an_access)
{
    pthread_t thread;
    void *result;
    begin();
    for (int i = 0; i < 50; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, touching_thread, NULL),
                         0);
        for (int k = 0; k <= i % 5; k++)
            close_all();
        nanosleep(&(struct timespec){0, i * 7000}, NULL);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
        close_all();
        for (int k = 0; k < BYTES; k += PAGE)
            ck_assert_int_eq(shared[k], 3);
    }
}
END_TEST

/* Plain memory that a thread takes away again and again: the handler gives it
 * back, also in the middle of a copy to shared memory, whose blocks it uses. */
static uint8_t *plain;
static _Atomic int repaired, stops;

static void repair(int number, siginfo_t *info, void *context)
{
    note(number, info, context);
    shared[0] = shared[1];
    repaired++;
    mprotect(plain, BYTES, PROT_READ | PROT_WRITE);
}

static void *take_away(void *unused)
{
    while (!stops)
        mprotect(plain + BYTES - PAGE, PAGE, PROT_NONE);
    return unused;
}

START_TEST(handler_may_use_what_the_interrupted_copy_writes)
{
    pthread_t thread;
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    begin();
    plain = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(plain, 3, BYTES);
    install(SIGSEGV, repair, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, take_away, NULL), 0);
    for (time_t end = time(NULL) + 2; time(NULL) < end;) {
        copy((void *)shared, plain, BYTES);
        close_all();
    }
    stops = 1;
    pthread_join(thread, NULL);
    ck_assert_int_gt(repaired, 10);
    for (int i = 0; i < BYTES; i++)
        ck_assert_int_eq(shared[i], 3);
}
END_TEST

SUITE_MAIN("regress-interpose-jumps", 60,
           jump_out_of_a_call_that_waits_leaves_nothing_behind,
           thread_may_end_in_a_handler_of_its_fault,
           thread_may_be_cancelled_in_the_middle_of_an_access,
           handler_may_use_what_the_interrupted_copy_writes)
