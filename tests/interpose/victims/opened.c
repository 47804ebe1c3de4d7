/*
 * Masks that are changed by an instruction of the program's own, as Go does when
 * C has made a thread for it: faults of the program's, with handlers for them,
 * where SIGSEGV was blocked by a call and is open since, or is not. Each case is
 * a child, which ends or says what its handler saw. See memory.h for the command
 * line.
 */
#include "memory.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

static sigset_t all, none;
static __thread sigjmp_buf out;
static volatile int *volatile nowhere;

static void by_instruction(int how, const sigset_t *set)
{
    long result;
#if defined(__x86_64__)
    register long r10 __asm__("r10") = 8;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_rt_sigprocmask), "D"(how), "S"(set), "d"(0),
                       "r"(r10)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = SYS_rt_sigprocmask;
    register long x0 __asm__("x0") = how;
    register long x1 __asm__("x1") = (long)set;
    register long x2 __asm__("x2") = 0;
    register long x3 __asm__("x3") = 8;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
                     : "memory");
    result = x0;
#endif
    if (result != 0)
        _exit(9);
}

static void on_fault(int number)
{
    siglongjmp(out, number);
}

static void fault(const char *where)
{
    if (sigsetjmp(out, 1) == 0)
        *nowhere = 1;
    printf("%s: handled\n", where);
    fflush(stdout);
}

static void *in_thread(void *nothing)
{
    by_instruction(SIG_SETMASK, &none);
    fault("thread");
    return nothing;
}

/* All is blocked while the thread is made. */
static void thread(void)
{
    pthread_t made;
    sigset_t old;
    sigprocmask(SIG_SETMASK, &all, &old);
    pthread_create(&made, NULL, in_thread, NULL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    pthread_join(made, NULL);
    fault("its maker");
}

static void set_anew(void)
{
    sigset_t one, now;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    sigprocmask(SIG_SETMASK, &all, NULL);
    by_instruction(SIG_SETMASK, &one);
    sigprocmask(SIG_BLOCK, NULL, &now);
    printf("%d %d\n", sigismember(&now, SIGSEGV), sigismember(&now, SIGUSR1));
    fault("set anew");
    fault("and again");
}

/* Blocked since by a call, with others that are not. */
static void blocked_again(void)
{
    sigset_t two;
    sigprocmask(SIG_SETMASK, &all, NULL);
    by_instruction(SIG_SETMASK, &none);
    sigemptyset(&two);
    sigaddset(&two, SIGSEGV);
    sigaddset(&two, SIGUSR2);
    sigprocmask(SIG_BLOCK, &two, NULL);
    fault("not to be seen");
}

/* More is blocked: nothing is said of SIGSEGV. */
static void more(void)
{
    sigset_t two;
    sigemptyset(&two);
    sigaddset(&two, SIGSEGV);
    sigaddset(&two, SIGUSR2);
    sigprocmask(SIG_BLOCK, &two, NULL);
    sigemptyset(&two);
    sigaddset(&two, SIGUSR1);
    by_instruction(SIG_BLOCK, &two);
    fault("not to be seen");
}

static void still(void)
{
    sigprocmask(SIG_SETMASK, &all, NULL);
    fault("not to be seen");
}

static void on_look(int number, siginfo_t *info, void *context)
{
    ucontext_t *back = context;
    (void)number;
    (void)info;
    printf("interrupted %d\n", sigismember(&back->uc_sigmask, SIGSEGV));
    by_instruction(SIG_SETMASK, &none);
    fault("in a handler");
}

/* One that blocks all while it runs, by itself and in a wait under a mask. */
static void handler(void)
{
    struct sigaction action = {.sa_sigaction = on_look, .sa_flags = SA_SIGINFO};
    sigset_t but;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    fault("behind it");
    sigfillset(&but);
    sigdelset(&but, SIGUSR1);
    sigprocmask(SIG_SETMASK, &all, NULL);
    raise(SIGUSR1);
    sigsuspend(&but);
    by_instruction(SIG_SETMASK, &none);
    raise(SIGUSR1);
    fault("behind the wait");
}

static void on_wait(int number)
{
    (void)number;
    fault("not to be seen");
}

/* The mask of a wait has fewer signals than the one before it, and SIGSEGV. */
static void wait_under(void)
{
    sigset_t one, two;
    signal(SIGUSR1, on_wait);
    sigemptyset(&one);
    sigaddset(&one, SIGSEGV);
    two = one;
    sigaddset(&two, SIGUSR1);
    sigaddset(&two, SIGUSR2);
    sigprocmask(SIG_SETMASK, &two, NULL);
    raise(SIGUSR1);
    sigsuspend(&one);
}

/* Sent while it is blocked, and there once it is open. */
static void sent(void)
{
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (sigsetjmp(out, 1) == 0) {
        raise(SIGSEGV);
        printf("kept\n");
        by_instruction(SIG_SETMASK, &none);
        raise(SIGUSR2);
        printf("lost\n");
    }
    printf("arrived\n");
}

static void nothing(int number)
{
    (void)number;
}

static void child(void (*run)(void))
{
    int status;
    fflush(stdout);
    pid_t made = fork();
    if (made == 0) {
        run();
        fflush(stdout);
        _exit(0);
    }
    waitpid(made, &status, 0);
    printf("ended %d %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0,
           WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

int main(int argc, char **argv)
{
    static void (*const cases[])(void) = {thread, set_anew,   blocked_again,
                                          more,   still,      handler,
                                          sent,   wait_under, NULL};
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    sigfillset(&all);
    sigemptyset(&none);
    signal(SIGSEGV, on_fault);
    signal(SIGUSR2, nothing);
    memory_start(argc, argv);
    uint8_t *memory = memory_pair(2 << 20);
    memory_fill(memory, 1 << 20, 7, MEMORY_DEVICE);
    printf("%d\n", ((volatile uint8_t *)memory)[5000]);
    for (int i = 0; cases[i]; i++)
        child(cases[i]);
    return 0;
}
