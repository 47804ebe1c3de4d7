/*
 * System calls by instructions of the program's own: on memory under test, and
 * those that change stacks, threads, processes, masks and handlers. For
 * ADSM_SYSCALLS=trap. See memory.h for the command line.
 */
#include "memory_case.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

enum { FILE_BYTES = 300000 };

static int file;

static __attribute__((noinline)) long call(long number, long a, long b, long c,
                                           long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#define CALL4(number, a, b, c, d)                                              \
    call(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL3(number, a, b, c) CALL4(number, a, b, c, 0)

static void data(void)
{
    uint8_t *m = memory;
    int ends[2], sockets[2];
    char plain[100] = "message";
    struct iovec parts[] = {{m + 5, 60000}, {plain, 10}, {m + HALF - 1, 2}};
    struct msghdr header = {.msg_iov = parts, .msg_iovlen = 3};
    errno = 77;
    CASE(CALL4(SYS_pread64, file, m + 4000, 5000, 0));
    CASE(CALL4(SYS_pread64, file, m + HALF - 100, 100000, 7));
    CASE(CALL4(SYS_pread64, file, m, 100, -1));
    CASE(CALL4(SYS_preadv, file, parts, 3, 9));
    CASE(CALL3(SYS_read, -1, m, 5));
    CASE(CALL3(SYS_read, file, 0, 5));
    CASE(CALL4(SYS_pread64, file, plain, 5, 9));
    if (pipe(ends) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
        exit(3);
    CASE(CALL3(SYS_write, ends[1], m + 9, 3000));
    CASE(CALL3(SYS_readv, ends[0], parts, 3));
    CASE(CALL3(SYS_sendmsg, sockets[0], &header, 0));
    CASE(CALL3(SYS_recvmsg, sockets[1], &header, 0));
    CASE(CALL4(SYS_sendto, sockets[0], m + 3, 500, 0));
    CASE(CALL4(SYS_recvfrom, sockets[1], m + 4090, 5000, 0));
    CASE(CALL3(SYS_getrandom, m, 0, 0));
    CASE(CALL3(SYS_uname, m + 4090, 0, 0) +
         (memset(m + 4090, 0, sizeof(struct utsname)), 0));
    CASE(CALL3(9999, 0, 0, 0));
    printf("errno %d\n", errno);
    close(ends[0]);
    close(ends[1]);
    close(sockets[0]);
    close(sockets[1]);
}

/* ---- processes and threads ---------------------------------------------------- */

/* A thread with a stack of its own and nothing else: it adds to a word. */
static long start_thread(long flags, void *stack, volatile int *word)
{
    long result;
    __asm__ volatile("syscall\n"
                     "testq %%rax, %%rax\n"
                     "jnz 1f\n"
                     "popq %%rbx\n"
                     "addl $5, (%%rbx)\n"
                     "movl $60, %%eax\n"
                     "xorl %%edi, %%edi\n"
                     "syscall\n"
                     "1:\n"
                     : "=a"(result)
                     : "a"(SYS_clone), "D"(flags),
                       "S"((char *)stack - sizeof word), "d"(0L)
                     : "rcx", "r11", "rbx", "memory");
    return result;
}

static long run_vfork(void)
{
    long child;
    __asm__ volatile("syscall\n"
                     "testq %%rax, %%rax\n"
                     "jnz 1f\n"
                     "movl $60, %%eax\n"
                     "movl $9, %%edi\n"
                     "syscall\n"
                     "1:\n"
                     : "=a"(child)
                     : "a"(SYS_vfork)
                     : "rcx", "r11", "rdi", "memory");
    return child;
}

static void processes(void)
{
    static char stack[65536] __attribute__((aligned(16)));
    volatile int word = 1;
    int status = 0;
    volatile int *at = &word;
    memcpy(stack + sizeof stack - sizeof at, &at, sizeof at);
    long thread = start_thread(CLONE_VM | CLONE_FS | CLONE_FILES |
                                   CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
                               stack + sizeof stack, at);
    while (word == 1)
        sched_yield();
    printf("clone %d %d\n", thread > 0, word);
    long child = run_vfork();
    long waited = CALL4(SYS_wait4, child, &status, 0, 0);
    printf("vfork %d %d\n", waited == child, WEXITSTATUS(status));
    child = CALL3(SYS_fork, 0, 0, 0);
    if (child == 0) {
        char byte;
        CALL3(SYS_exit_group, CALL4(SYS_pread64, file, &byte, 1, 0) + 3, 0, 0);
    }
    waited = CALL4(SYS_wait4, child, memory + 4094, 0, 0);
    memcpy(&status, memory + 4094, sizeof status);
    printf("fork %d %d\n", waited == child, WEXITSTATUS(status));
}

/* ---- signals -------------------------------------------------------------------- */

struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

__asm__(".text\n"
        ".globl own_restorer\n"
        "own_restorer:\n"
        "movl $15, %eax\n"
        "syscall\n");
void own_restorer(void);

static volatile int handled, enough;
static int ends[2];

/* In the midst of a call, with everything blocked. */
static void on_signal(int number)
{
    (void)number;
    handled += (int)CALL4(SYS_pread64, file, memory + 9000, 300, 7);
    if (handled >= enough)
        write(ends[1], "12345", 5);
}

static long catch (int number, unsigned long flags)
{
    struct kernel_action action = {on_signal, flags | 0x04000000, own_restorer,
                                   ~UINT64_C(0)};
    return CALL4(SYS_rt_sigaction, number, &action, 0, 8);
}

static void alarm_in(int us)
{
    struct itimerval soon = {{0, us}, {0, us}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, us ? &soon : &never, NULL);
}

/* A read that is interrupted; the alarm comes again, should it be early. */
static long read_alarmed(void)
{
    alarm_in(20000);
    long result = CALL3(SYS_read, ends[0], memory + 50, 5);
    alarm_in(0);
    return result;
}

static void signals(void)
{
    uint64_t all = ~UINT64_C(0), before = 0;
    sigset_t set, was;
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536}, now;
    if (pipe(ends))
        exit(3);
    handled = 0;
    enough = INT_MAX; /* however late the first read is to stop the alarm */
    printf("action %ld\n", catch (SIGALRM, 0));
    CASE(read_alarmed());
    printf("handled %d\n", handled > 0);
    handled = 0;
    enough = 600;
    printf("action %ld\n", catch (SIGALRM, SA_RESTART));
    CASE(read_alarmed());
    handled = 1000;
    printf("mask %ld", CALL4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, 8));
    CASE(CALL4(SYS_pread64, file, memory + 50, 5, 0));
    printf(" %ld", CALL4(SYS_rt_sigprocmask, SIG_SETMASK, &before, &all, 8));
    printf(" %d\n", (int)(all >> (SIGUSR1 - 1) & 1));
    sigfillset(&set);
    pthread_sigmask(SIG_BLOCK, &set, &was);
    CASE(CALL4(SYS_pread64, file, memory + 50, 6, 0));
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    printf("stack %ld", CALL3(SYS_sigaltstack, &stack, 0, 0));
    printf(" %ld", CALL3(SYS_sigaltstack, 0, &now, 0));
    printf(" %d\n", now.ss_sp == stack.ss_sp);
    catch (SIGALRM, SA_ONSTACK);
    raise(SIGALRM);
    CASE(handled);
    stack.ss_flags = SS_DISABLE;
    CALL3(SYS_sigaltstack, &stack, 0, 0);
    free(stack.ss_sp);
    close(ends[0]);
    close(ends[1]);
}

static volatile int foreign;

static void on_foreign(int number, siginfo_t *info, void *context)
{
    (void)context;
    foreign = number + info->si_code * 1000;
}

static void own_sigsys(void)
{
    struct sigaction action = {.sa_sigaction = on_foreign,
                               .sa_flags = SA_SIGINFO},
                     before;
    sigaction(SIGSYS, &action, NULL);
    CALL3(SYS_kill, getpid(), SIGSYS, 0);
    sigaction(SIGSYS, NULL, &before);
    printf("SIGSYS %d %d\n", foreign, before.sa_sigaction == on_foreign);
    CASE(CALL4(SYS_pread64, file, memory + 60, 7, 0));
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        action.sa_handler = SIG_DFL;
        sigaction(SIGSYS, &action, NULL);
        CALL3(SYS_kill, getpid(), SIGSYS, 0);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("ends %d\n", WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

/* ---- threads ---------------------------------------------------------------------- */

static volatile uint32_t go;

static void *work(void *which)
{
    size_t at = 100000 + 5000 * (size_t)(intptr_t)which;
    while (!go)
        CALL4(SYS_futex, &go, FUTEX_WAIT_PRIVATE, 0, 0);
    for (int i = 0; i < 50; i++)
        if (CALL4(SYS_pread64, file, memory + at, 4000, i) != 4000)
            return (void *)1;
    return NULL;
}

static void start(pthread_t *thread, intptr_t which)
{
    if (pthread_create(thread, NULL, work, (void *)which) != 0)
        exit(3);
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    void *failed;
    for (int i = 0; i < 2; i++) /* before there is any memory */
        start(&threads[i], i);
    memory_start(argc, argv);
    memory = memory_pair(HALF);
    file = memory_file(FILE_BYTES);
    for (int i = 2; i < 4; i++)
        start(&threads[i], i);
    memory_fill(memory, 2 * HALF, 1, MEMORY_DEVICE);
    go = 1;
    CALL3(SYS_futex, &go, FUTEX_WAKE_PRIVATE, 4);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        printf("thread %d\n", failed != NULL);
    }
    show("threads", 0);
    for (int s = 0; s < MEMORY_STATES; s++) {
        state = (enum memory_state)s;
        data();
        processes();
        signals();
    }
    own_sigsys();
    return 0;
}

#else

int main(void)
{
    puts("x86-64 only");
    return 0;
}

#endif
