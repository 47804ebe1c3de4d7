/*
 * Ctrl-C in the middle of a long call: the program ends at once, by the signal
 * or by exit() of its handler, and its devices with it.
 */
#include "call/fixture.h"

#include "common/kill_device.h"

#include <sys/wait.h>
#include <time.h>

enum { N = 1 << 20, CHUNKS = 8 };

static void map(const adsmOpts *opts, const int *x, int *y, long n)
{
    must(adsmCallWith(opts, kernel("map"), adsmR1(n), adsmIn(x), adsmInOut(y),
                      adsmVal((int){7})));
}

static void nap_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

enum { COMPUTES, WAITS, READS, CALLS, DOES };
enum { CODE = 7 };

static void leave(int number)
{
    (void)number;
    exit(CODE);
}

/* A program in the middle of a call of 16 seconds; it says when. */
_Noreturn static void run(int does, bool handles, int ready)
{
    int *x = array(adsmR1(N), ADSM_NO_HOME), *y = array(adsmR1(N), 0);
    volatile long turns = 0;
    adsmEvent event;
    number(x, N, 1);
    number(y, N, 2);
    signal(SIGINT, handles ? leave : SIG_DFL);
    map(adsmWith(.devices = 3, .parts = 2, .chunks = CHUNKS, .fetch = 1,
                 .event = &event),
        x, y, N);
    ck_assert_int_eq(write(ready, "", 1), 1);
    if (does == WAITS)
        adsmWait(event);
    if (does == READS) /* an access ends first: its chunk takes 2 seconds */
        turns += y[handles ? 0 : N - 1];
    while (does == CALLS)
        map(adsmWith(.devices = 3, .parts = 2), x, y, 64);
    for (time_t end = time(NULL) + 20; time(NULL) < end;)
        turns++;
    _exit(1); /* nobody came */
}

/* Does it end within so many seconds? Then `*status` is how. */
static bool ends(pid_t pid, int seconds, int *status)
{
    for (int i = 0; i < seconds * 100; i++) {
        if (waitpid(pid, status, WNOHANG) == pid)
            return true;
        nap_ms(10);
    }
    kill(pid, SIGKILL);
    waitpid(pid, status, 0);
    return false;
}

static void interrupt(int does, bool handles)
{
    int status, ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0)
        run(does, handles, ready[1]);
    close(ready[1]); /* what it has is closed where it fails */
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    nap_ms(300);
    kill(pid, SIGINT);
    ck_assert_msg(ends(pid, 8, &status), "%d %d: does not end", does, handles);
    if (handles)
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == CODE,
                      "%d: %x", does, (unsigned)status);
    else
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT,
                      "%d: %x", does, (unsigned)status);
    for (int i = 0; i < 500 && count_devices(pid) > 0; i++)
        nap_ms(10);
    ck_assert_msg(count_devices(pid) == 0, "%d %d: its devices stay", does,
                  handles);
}

START_TEST(interrupt_ends_a_program_in_the_middle_of_a_call)
{
    setenv("SOFTCUDA_PACE", "32K/s", 1);
    interrupt(_i, false);
}
END_TEST

START_TEST(handler_may_exit_in_the_middle_of_a_call)
{
    setenv("SOFTCUDA_PACE", "32K/s", 1);
    interrupt(_i, true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interrupt");
    TCase *cases = tcase_create("interrupt");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, interrupt_ends_a_program_in_the_middle_of_a_call,
                        0, DOES);
    /* A call may be in malloc, where no handler may exit. */
    tcase_add_loop_test(cases, handler_may_exit_in_the_middle_of_a_call, 0,
                        CALLS);
    suite_add_tcase(suite, cases);
    return suite_finish(suite);
}
