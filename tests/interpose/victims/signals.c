/*
 * A program with its own ideas about SIGSEGV: handlers installed late, masks,
 * handlers that block everything or jump out of copies, a cancelled thread.
 * See memory.h for the command line.
 */
#include "memory.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

static uint8_t *memory, *hole;
static sigjmp_buf back;
static volatile int caught;

static void on_segv(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    caught = info->si_addr == hole + 12 ? 1 : 2;
    siglongjmp(back, 1);
}

static void on_plain_segv(int number)
{
    caught = number == SIGSEGV ? 3 : 4;
    siglongjmp(back, 1);
}

static void fresh(uint8_t value)
{
    memory_fill(memory, BYTES, value, MEMORY_DEVICE);
}

/* Touch the memory, then a page that nobody may touch. */
static void provoke(const char *name)
{
    caught = 0;
    volatile unsigned sum = 0;
    if (sigsetjmp(back, 1) == 0) {
        for (size_t i = 0; i < BYTES; i += 4096)
            sum += ((volatile uint8_t *)memory)[i]++;
        ((volatile uint8_t *)hole)[12] = 1;
    }
    printf("%s %u %d\n", name, sum, caught);
}

static void on_usr1(int number)
{
    (void)number;
    unsigned sum = 0;
    for (size_t i = 0; i < BYTES; i += 4096)
        sum += ((volatile uint8_t *)memory)[i]++;
    printf("in a handler %u\n", sum);
}

static void *with_inherited_mask(void *name)
{
    unsigned sum = 0;
    sigset_t now;
    for (size_t i = 0; i < BYTES; i += 4096)
        sum += ((volatile uint8_t *)memory)[i]++;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    printf("%s %u %d\n", (char *)name, sum, sigismember(&now, SIGUSR2));
    return NULL;
}

static void handlers(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO}, old;
    action.sa_sigaction = on_segv;
    sigaction(SIGSEGV, &action, &old);
    printf("before %d\n", old.sa_handler == SIG_DFL);
    fresh(1);
    provoke("sigaction");
    sigaction(SIGSEGV, NULL, &old);
    printf("asked %d %d\n", old.sa_sigaction == on_segv,
           (old.sa_flags & SA_SIGINFO) != 0);
    printf("signal %d\n",
           signal(SIGSEGV, on_plain_segv) == (sighandler_t)(void *)on_segv);
    fresh(2);
    provoke("signal");
    fresh(3);
    provoke("again");
    printf("back %d\n", signal(SIGSEGV, SIG_DFL) == on_plain_segv);
}

static void masks(void)
{
    sigset_t all, old, none;
    pthread_t thread;
    sigfillset(&all);
    sigemptyset(&none);
    fresh(4);
    printf("mask %d\n", sigprocmask(SIG_BLOCK, &all, &old));
    with_inherited_mask("blocked");
    sigprocmask(SIG_BLOCK, NULL, &old);
    printf("still %d %d\n", sigismember(&old, SIGSEGV),
           sigismember(&old, SIGTERM));
    fresh(5);
    pthread_create(&thread, NULL, with_inherited_mask, "inherited");
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &none, &old);
    printf("old %d\n", sigismember(&old, SIGSEGV));
    pthread_sigmask(SIG_SETMASK, NULL, &old);
    printf("open %d\n", sigismember(&old, SIGSEGV));
    printf("bad %d\n", sigprocmask(77, &all, NULL));
}

static void full_mask_handler(void)
{
    struct sigaction action = {.sa_handler = on_usr1};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    fresh(6);
    raise(SIGUSR1);
}

/* Copies that meet a bad page: the handler jumps out of the middle. */
static void jumps(void)
{
    uint8_t *none =
        mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, on_plain_segv);
    for (volatile int i = 0; i < 6; i++) {
        fresh((uint8_t)(7 + i));
        caught = 0;
        if (sigsetjmp(back, 1) == 0) {
            if (i % 3 == 0)
                memcpy(memory, none, BYTES);
            else if (i % 3 == 1)
                memmove(none, memory, BYTES);
            else
                caught = 5 + (memcmp(memory, none, BYTES) == 0);
        }
        printf("jump %d", caught);
        with_inherited_mask("");
    }
    signal(SIGSEGV, SIG_DFL);
}

static void *ends_in_read(void *file)
{
    pthread_cancel(pthread_self());
    return read(fileno(file), memory, BYTES) < 0 ? file : NULL;
}

/* A thread ends in the middle of a read into the memory. */
static void cancelled(void)
{
    FILE *file = tmpfile();
    pthread_t thread;
    void *result;
    if (!file || ftruncate(fileno(file), BYTES) != 0)
        return;
    fresh(20);
    pthread_create(&thread, NULL, ends_in_read, file);
    pthread_join(thread, &result);
    printf("cancelled %d\n", result == PTHREAD_CANCELED);
    fresh(21);
    with_inherited_mask("after it");
    fclose(file);
}

static void on_fault_again(int number)
{
    if (++caught > 3)
        _exit(number);
    ((volatile uint8_t *)hole)[13] = 1;
}

static void fault_again(void)
{
    ((volatile uint8_t *)hole)[12] = 1;
}

static void fault_while_blocked(void)
{
    sigset_t segv;
    sigemptyset(&segv);
    sigaddset(&segv, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &segv, NULL);
    ((volatile uint8_t *)hole)[12] = 1;
}

/* Faults that no handler gets, because the signal is blocked, and one that
 * does. */
static void ends(void)
{
    static void (*const faults[])(void) = {fault_again, fault_while_blocked,
                                           fault_again};
    static const int flags[] = {0, 0, SA_NODEFER};
    struct rlimit none = {0, 0};
    int status;
    for (int i = 0; i < 3; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            struct sigaction action = {.sa_handler = on_fault_again,
                                       .sa_flags = flags[i]};
            setrlimit(RLIMIT_CORE, &none);
            sigaction(SIGSEGV, &action, NULL);
            caught = 0;
            faults[i]();
            _exit(0);
        }
        waitpid(child, &status, 0);
        printf("ends %x\n", (unsigned)status);
    }
}

int main(int argc, char **argv)
{
    memory_start(argc, argv);
    memory = memory_pair(2 << 20);
    hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handlers();
    masks();
    full_mask_handler();
    jumps();
    cancelled();
    ends();
    return 0;
}
