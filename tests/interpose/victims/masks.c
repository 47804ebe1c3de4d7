/*
 * Every way to block SIGSEGV, and under each of them: touch the memory, ask
 * which mask there is. Some masks are there before the memory is, which is
 * when a runtime would come into use. See memory.h for the command line;
 * "report" prints the mask that an executed program inherits.
 */
#include "memory.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

sighandler_t bsd_signal(int, sighandler_t);
int __sigaction(int, const struct sigaction *, struct sigaction *);
int sigblock(int), sigsetmask(int);
/* What <signal.h> calls sigpause is System V's. */
int bsd_sigpause(int) __asm__("sigpause");

extern char **environ;

enum { BYTES = 256 << 10 };

static uint8_t *memory;
static sigset_t all, none, segv;
static const char *way;
static char *program;

static void fresh(void)
{
    static uint8_t value;
    memory_fill(memory, BYTES, ++value, MEMORY_DEVICE);
}

/* Touch every page, and say what is blocked here. */
static void look(const char *where)
{
    unsigned sum = 0;
    sigset_t now;
    for (size_t i = 0; i < BYTES; i += 4096)
        sum += ((volatile uint8_t *)memory)[i]++;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    printf("%s %s %u segv %d usr2 %d\n", way, where, sum,
           sigismember(&now, SIGSEGV), sigismember(&now, SIGUSR2));
}

static void begin(const char *name)
{
    way = name;
    sigprocmask(SIG_SETMASK, &none, NULL);
    fresh();
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    look("in a handler");
}

/* Has the interrupted code SIGSEGV blocked? Change that. */
static void on_edit(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    ucontext_t *back = context;
    printf("%s interrupted %d\n", way, sigismember(&back->uc_sigmask, SIGSEGV));
    if (sigismember(&back->uc_sigmask, SIGSEGV))
        sigdelset(&back->uc_sigmask, SIGSEGV);
    else
        sigfillset(&back->uc_sigmask);
}

static void install(int number, void (*handler)(int, siginfo_t *, void *),
                    const sigset_t *mask, int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = flags};
    action.sa_mask = *mask;
    sigaction(number, &action, NULL);
}

static void calls(void)
{
    sigset_t old;
    begin("sigprocmask");
    sigprocmask(SIG_BLOCK, &all, &old);
    look("blocked");
    begin("pthread_sigmask");
    pthread_sigmask(SIG_SETMASK, &all, &old);
    look("set");
    pthread_sigmask(SIG_UNBLOCK, &segv, &old);
    printf("old %d\n", sigismember(&old, SIGSEGV));
    look("unblocked");
    begin("sighold");
    sighold(SIGSEGV);
    look("held");
    sigrelse(SIGSEGV);
    look("released");
    begin("sigset");
    printf("%d\n", sigset(SIGSEGV, SIG_HOLD) == SIG_DFL);
    look("held");
    printf("%d\n", sigset(SIGSEGV, SIG_DFL) == SIG_HOLD);
    look("released");
    begin("sigblock");
    printf("%d\n", sigblock(1 << (SIGSEGV - 1)));
    look("blocked");
    printf("%d\n", sigsetmask(1 << (SIGUSR2 - 1)) == 1 << (SIGSEGV - 1));
    look("set");
}

/* A wait with a mask of its own, ended by a signal that is pending. */
static void waits(void)
{
    sigset_t but;
    struct timespec time = {5, 0};
    struct epoll_event event;
    int poll = epoll_create1(0);
    install(SIGUSR1, on_signal, &none, 0);
    sigfillset(&but);
    sigdelset(&but, SIGUSR1);
    static const char *const names[] = {
        "sigsuspend", "pselect",      "ppoll",       "epoll_pwait",
        "sigpause",   "epoll_pwait2", "bsd_sigpause"};
    for (int i = 0; i < 14; i++) {
        int bits = i % 2 ? 0 : ~(1 << (SIGUSR1 - 1));
        const sigset_t *mask = i % 2 ? &none : &but;
        begin(names[i / 2]);
        sigprocmask(SIG_BLOCK, i % 2 ? &all : &but, NULL);
        sighold(SIGUSR1);
        raise(SIGUSR1);
        int result = i / 2 == 0   ? sigsuspend(mask)
                     : i / 2 == 1 ? pselect(0, NULL, NULL, NULL, &time, mask)
                     : i / 2 == 2 ? ppoll(NULL, 0, &time, mask)
                     : i / 2 == 3 ? epoll_pwait(poll, &event, 1, 5000, mask)
                     : i / 2 == 4 ? sigpause(SIGUSR1)
                     : i / 2 == 6 ? bsd_sigpause(bits)
                                  : epoll_pwait2(poll, &event, 1, &time, mask);
        printf("gave %d %d\n", result, errno == EINTR);
        look("after it");
    }
    close(poll);
}

static void *in_thread(void *name)
{
    look(name);
    return NULL;
}

static int in_c11_thread(void *name)
{
    look(name);
    return 0;
}

static void threads(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    thrd_t c11;
    pthread_attr_init(&attr);
    for (int blocked = 0; blocked < 2; blocked++) {
        begin("thread");
        sigprocmask(SIG_SETMASK, blocked ? &all : &none, NULL);
        pthread_create(&thread, NULL, in_thread, "inherits");
        pthread_join(thread, NULL);
        fresh();
        thrd_create(&c11, in_c11_thread, "of C11");
        thrd_join(c11, NULL);
        fresh();
        pthread_attr_setsigmask_np(&attr, blocked ? &none : &all);
        pthread_create(&thread, &attr, in_thread, "by attribute");
        pthread_join(thread, NULL);
    }
}

static ucontext_t home, other;

static void in_context(void)
{
    look("in the context");
    swapcontext(&other, &home);
    look("again");
}

static void contexts(void)
{
    static char stack[256 << 10];
    volatile int times = 0;
    for (volatile int blocked = 0; blocked < 2; blocked++) {
        begin("swapcontext");
        sigprocmask(SIG_SETMASK, blocked ? &all : &none, NULL);
        getcontext(&other);
        other.uc_stack.ss_sp = stack;
        other.uc_stack.ss_size = sizeof stack;
        other.uc_link = &home;
        other.uc_sigmask = blocked ? none : all;
        makecontext(&other, in_context, 0);
        swapcontext(&home, &other);
        look("back");
        swapcontext(&home, &other);
        look("linked back");
    }
    begin("setcontext");
    getcontext(&home);
    if (times++ == 0) {
        sigfillset(&home.uc_sigmask);
        setcontext(&home);
    }
    look("there");
}

static void jumps(void)
{
    sigjmp_buf back;
    for (volatile int saves = 0; saves < 2; saves++) {
        begin(saves ? "siglongjmp" : "longjmp");
        sigprocmask(SIG_BLOCK, &all, NULL);
        if (sigsetjmp(back, saves) == 0) {
            sigprocmask(SIG_SETMASK, &none, NULL);
            siglongjmp(back, 1);
        }
        look("to blocked");
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (sigsetjmp(back, saves) == 0) {
            sigprocmask(SIG_BLOCK, &all, NULL);
            siglongjmp(back, 1);
        }
        look("to open");
    }
}

static void handlers(void)
{
    struct sigaction old;
    begin("sa_mask");
    install(SIGUSR1, on_signal, &all, 0);
    sigaction(SIGUSR1, NULL, &old);
    printf("read back %d %d\n", sigismember(&old.sa_mask, SIGSEGV),
           old.sa_sigaction == on_signal);
    raise(SIGUSR1);
    fresh();
    look("after it");
    sigprocmask(SIG_BLOCK, &segv, NULL);
    fresh();
    raise(SIGUSR1);
    look("after it");
    begin("ucontext");
    install(SIGUSR1, on_edit, &none, SA_SIGINFO);
    for (int i = 0; i < 2; i++) {
        kill(getpid(), SIGUSR1);
        look("after it");
        sigprocmask(SIG_SETMASK, i ? &none : &segv, NULL);
    }
    signal(SIGUSR1, SIG_DFL);
}

static sigjmp_buf back;
static volatile int caught;

static void on_segv(int number)
{
    look("in a handler");
    caught = number == SIGSEGV ? 1 : 2;
    siglongjmp(back, 1);
}

static int by_sigaction(int (*set)(int, const struct sigaction *,
                                   struct sigaction *))
{
    struct sigaction action = {.sa_handler = on_segv}, old;
    set(SIGSEGV, &action, &old);
    return old.sa_handler == SIG_DFL;
}

static void ways_to_handle(void)
{
    static const char *const names[] = {
        "signal", "bsd_signal",  "ssignal",  "sysv_signal",
        "sigset", "__sigaction", "sigaction"};
    volatile uint8_t *hole =
        mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (volatile int i = 0; i < 7; i++) {
        struct sigaction now;
        begin(names[i]);
        printf("%d\n", i == 0   ? signal(SIGSEGV, on_segv) == SIG_DFL
                       : i == 1 ? bsd_signal(SIGSEGV, on_segv) == SIG_DFL
                       : i == 2 ? ssignal(SIGSEGV, on_segv) == SIG_DFL
                       : i == 3 ? sysv_signal(SIGSEGV, on_segv) == SIG_DFL
                       : i == 4 ? sigset(SIGSEGV, on_segv) == SIG_DFL
                       : i == 5 ? by_sigaction(__sigaction)
                                : by_sigaction(sigaction));
        sigaction(SIGSEGV, NULL, &now);
        printf("flags %x mask %d\n", (unsigned)now.sa_flags & ~0x04000000u,
               sigismember(&now.sa_mask, SIGSEGV));
        look("touched");
        fresh();
        caught = 0;
        if (sigsetjmp(back, 1) == 0)
            hole[1] = 1;
        look("after it");
        printf("caught %d\n", caught);
        signal(SIGSEGV, SIG_DFL);
    }
    begin("sigignore");
    sigignore(SIGSEGV);
    look("touched");
    raise(SIGSEGV);
    printf("%d\n", signal(SIGSEGV, SIG_DFL) == SIG_IGN);
}

static void on_count(int number)
{
    caught += number == SIGSEGV;
}

/* Sent while it is blocked: pending, taken by a wait, or arriving later. */
static void pending(void)
{
    sigset_t now;
    int number = 0;
    begin("pending");
    signal(SIGSEGV, on_count);
    caught = 0;
    sigprocmask(SIG_BLOCK, &segv, NULL);
    for (int i = 0; i < 4; i++) {
        i % 2 ? kill(getpid(), SIGSEGV) : raise(SIGSEGV);
        sigpending(&now);
        printf("pending %d caught %d\n", sigismember(&now, SIGSEGV), caught);
        if (i < 2)
            sigwait(&segv, &number);
        else
            sigprocmask(SIG_UNBLOCK, &segv, NULL);
        sigpending(&now);
        printf("then %d %d caught %d\n", number, sigismember(&now, SIGSEGV),
               caught);
        sigprocmask(SIG_BLOCK, &segv, NULL);
    }
    raise(SIGSEGV);
    number = sigsuspend(&none);
    printf("suspended %d caught %d\n", number, caught);
    look("after it");
    signal(SIGSEGV, SIG_DFL);
}

/* What a program begins with; in the child of a fork when by exec. */
static void inherit(int how)
{
    char *argv[] = {program, "report", NULL};
    pid_t child = 0;
    int status = -1;
    fflush(stdout);
    if (how == 0)
        posix_spawn(&child, program, NULL, NULL, argv, environ);
    else if ((child = how == 3 ? vfork() : fork()) == 0) {
        if (how == 1)
            execv(program, argv);
        else if (how == 2)
            execl(program, program, "report", NULL);
        else
            execve(program, argv, environ);
        _exit(1);
    }
    waitpid(child, &status, 0);
    printf("%s %d\n", way, status);
}

static void children(void)
{
    for (int blocked = 0; blocked < 2; blocked++) {
        begin(blocked ? "blocked child" : "open child");
        sigprocmask(SIG_SETMASK, blocked ? &all : &none, NULL);
        for (int how = 0; how < 4; how++)
            inherit(how);
        execl("/dev/null/nowhere", "nowhere", NULL);
        look("after a failed exec");
    }
}

/* Threads that are there, with their masks, before the memory is. */

static struct early {
    const char *name;
    bool polls, open;
    pthread_t thread;
    sem_t go;
} earlies[] = {{.name = "blocked"},
               {.name = "open", .open = true},
               {.name = "polling", .polls = true}};
enum { EARLIES = sizeof earlies / sizeof *earlies };

static sem_t ready;

static void *early(void *given)
{
    struct early *self = given;
    struct timespec time = {0, 1000000};
    pthread_sigmask(SIG_SETMASK, self->open ? &none : &all, NULL);
    sem_post(&ready);
    while (sem_trywait(&self->go) != 0)
        ppoll(NULL, 0, &time, self->polls ? &none : &all);
    look(self->name);
    sem_post(&ready);
    return NULL;
}

static void print_pending(const char *name)
{
    sigset_t set;
    sigpending(&set);
    printf("%s %d caught %d\n", name, sigismember(&set, SIGSEGV), caught);
}

/* What a program does with SIGSEGV before it has shared memory. */
static void before_memory(void)
{
    int number = 0;
    sigprocmask(SIG_BLOCK, &segv, NULL);
    kill(getpid(), SIGSEGV);
    print_pending("sent");
    sigwait(&segv, &number);
    printf("taken %d\n", number);
    install(SIGUSR1, on_signal, &all, 0);
    signal(SIGSEGV, on_count);
    sem_init(&ready, 0, 0);
    for (int i = 0; i < EARLIES; i++) {
        sem_init(&earlies[i].go, 0, 0);
        pthread_create(&earlies[i].thread, NULL, early, &earlies[i]);
        sem_wait(&ready);
    }
}

static void after_memory(void)
{
    way = "early";
    for (int i = 0; i < EARLIES; i++) {
        fresh();
        sem_post(&earlies[i].go);
        sem_wait(&ready);
        pthread_join(earlies[i].thread, NULL);
    }
    fresh();
    look("main");
    print_pending("still");
    fresh();
    raise(SIGUSR1);
    look("after a handler");
    sigprocmask(SIG_UNBLOCK, &segv, NULL);
    print_pending("arrived");
    signal(SIGSEGV, SIG_DFL);
}

static int report(void)
{
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    printf("begins with segv %d usr2 %d\n", sigismember(&now, SIGSEGV),
           sigismember(&now, SIGUSR2));
    return 0;
}

int main(int argc, char **argv)
{
    program = argv[0];
    sigfillset(&all);
    sigemptyset(&none);
    sigemptyset(&segv);
    sigaddset(&segv, SIGSEGV);
    if (argc > 1 && strcmp(argv[1], "report") == 0)
        return report();
    before_memory();
    memory_start(argc, argv);
    raise(SIGSEGV);
    print_pending("sent again");
    memory = memory_pair(2 << 20);
    after_memory();
    calls();
    waits();
    threads();
    contexts();
    jumps();
    handlers();
    ways_to_handle();
    pending();
    children();
    return 0;
}
