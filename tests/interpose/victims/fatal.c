/*
 * Calls of libc that end the program, or do half of their work, where the
 * kernel cannot write: with masks, stacks, results and random bytes in the
 * memory. See memory.h for the command line.
 */
#include "memory.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

enum { BYTES = 256 << 10, STATES = MEMORY_STATES };

extern char **environ;

static uint8_t *memory;
static CUcontext context;
static uint8_t pattern;

/* The next thing to be in the memory: at its beginning, or over a page's end.
 * The pattern is not 0, so a pointer left alone is seen. */
static void *fresh(int state, size_t offset)
{
    memory_fill(memory, BYTES, pattern = (uint8_t)(pattern % 200 + 1),
                (enum memory_state)state);
    return memory + offset;
}

static void masks(int state)
{
    sigset_t *set = fresh(state, 4096 - 64), old;
    sigset_t usr2, pending;
    struct timespec none = {0, 0};
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    printf("old %d", sigprocmask(SIG_BLOCK, &usr2, set));
    printf(" %d\n", sigismember(set, SIGUSR2));
    set = fresh(state, 8);
    printf("old %d", pthread_sigmask(SIG_BLOCK, NULL, set));
    printf(" %d\n", sigismember(set, SIGUSR2));
    raise(SIGUSR2);
    set = fresh(state, 8);
    printf("pending %d", sigpending(set));
    printf(" %d\n", sigismember(set, SIGUSR2));
    set = fresh(state, 8);
    *(uint64_t *)set = *(uint64_t *)&usr2;
    if (memory_is_shared)
        memory_fill((uint8_t *)set + 8, 4096, pattern, MEMORY_DEVICE);
    siginfo_t *info = (siginfo_t *)(memory + 65536 - 16);
    printf("wait %d", sigtimedwait(&usr2, info, &none) == SIGUSR2);
    printf(" %d %d\n", info->si_signo == SIGUSR2, info->si_pid == getpid());
    raise(SIGUSR2);
    int *number = fresh(state, 16);
    printf("wait %d", sigwait(&usr2, number));
    printf(" %d\n", *number == SIGUSR2);
    set = fresh(state, 8);
    *(uint64_t *)set = 0;
    printf("ppoll %d\n", ppoll(NULL, 0, &none, set));
    printf("set %d", sigprocmask(SIG_SETMASK, set, &old));
    printf(" %d\n", sigismember(&old, SIGUSR2));
    sigprocmask(SIG_BLOCK, NULL, &pending);
    printf("now %d\n", sigismember(&pending, SIGUSR2));
}

/* Bytes that are still what they were: random ones are that now and then. */
static bool are_left(size_t bytes)
{
    size_t left = 0;
    for (size_t i = 0; i < bytes; i++)
        left += ((volatile uint8_t *)memory)[i] == pattern;
    return left > bytes / 8;
}

static void randoms(int state)
{
    fresh(state, 0);
    arc4random_buf(memory, 100000);
    printf("arc4random %d %d\n", are_left(100000), memory[100000] == pattern);
    fresh(state, 0);
    printf("getrandom %zd", getrandom(memory, 70000, 0));
    printf(" %d\n", are_left(70000));
    fresh(state, 0);
    printf("getentropy %d", getentropy(memory, 256));
    printf(" %d %d\n", are_left(256), getentropy(memory, 257));
}

static void spawn(int state)
{
    char *argv[] = {"true", NULL};
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t actions;
    int status = -1;
    pid_t *child = fresh(state, 4094);
    printf("spawn %d", posix_spawnp(child, "true", NULL, NULL, argv, environ));
    printf(" %d", waitpid(*child, &status, 0) == *child);
    printf(" %d\n", status);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addclose(&actions, 0);
    posix_spawnattr_t *its_attr = fresh(state, 8192);
    *its_attr = attr;
    posix_spawn_file_actions_t *its_actions = (void *)(memory + 70000);
    *its_actions = actions;
    if (memory_is_shared) /* as the device has it, and only that */
        CHECK(cuMemcpy((CUdeviceptr)memory + 131072, (CUdeviceptr)memory,
                       131072));
    uint8_t *there = memory_is_shared ? memory + 131072 : memory;
    printf("spawn %d", posix_spawnp(child, "true", (void *)(there + 70000),
                                    (void *)(there + 8192), argv, environ));
    printf(" %d", waitpid(*child, &status, 0) == *child);
    printf(" %d\n", status);
    posix_spawn_file_actions_destroy(&actions);
}

static void *in_thread(void *arg)
{
    return arg;
}

static int in_c11_thread(void *arg)
{
    return arg != NULL;
}

static void threads(int state)
{
    pthread_t *thread = fresh(state, 4092);
    void *result = NULL;
    int number = 0;
    printf("thread %d", pthread_create(thread, NULL, in_thread, memory));
    printf(" %d %d\n", pthread_join(*thread, &result), result == memory);
    thrd_t *c11 = fresh(state, 4092);
    printf("thread %d", thrd_create(c11, in_c11_thread, memory));
    printf(" %d %d\n", thrd_join(*c11, &number), number);
}

static volatile int handled;

static void on_signal(int number)
{
    volatile char room[4096];
    room[0] = (char)number;
    for (size_t i = 4096; i < BYTES; i += 4096)
        room[i / 4096] = ((volatile char *)memory)[i];
    handled += room[0] == (char)number;
}

static void handle(void)
{
    handled = 0;
    raise(SIGUSR1);
    raise(SIGSEGV);
    printf("handled %d\n", handled);
}

/* The kernel writes frames to the stack, and reads and writes the two sets. */
static void *stacks_of_thread(void *given)
{
    int state = *(int *)given;
    if (memory_is_shared)
        CHECK(cuCtxSetCurrent(context));
    static uint8_t plain[65536];
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    stack_t *its = fresh(state, 4090);
    *its = (stack_t){.ss_sp = plain, .ss_size = sizeof plain};
    printf("stack %d\n", sigaltstack(its, NULL));
    its = fresh(state, 4090);
    printf("stack %d", sigaltstack(NULL, its));
    printf(" %d\n", its->ss_sp == plain);
    handle();
    for (int i = 0; i < 2; i++) {
        stack_t now, mine = {.ss_sp = fresh(state, 65536), .ss_size = 65536};
        printf("stack %d\n", sigaltstack(&mine, &now));
        printf("before %d\n", i ? now.ss_sp == mine.ss_sp : now.ss_sp == plain);
        handle();
        printf("asked %d", sigaltstack(NULL, &now));
        printf(" %d %d %zu\n", now.ss_sp == mine.ss_sp, now.ss_flags,
               now.ss_size);
    }
    if (state == MEMORY_READ) /* some threads end with theirs */
        return NULL;
    stack_t none = {.ss_flags = SS_DISABLE}, now;
    printf("none %d\n", sigaltstack(&none, &now));
    printf("asked %d", sigaltstack(NULL, &now));
    printf(" %d\n", now.ss_flags == SS_DISABLE);
    return NULL;
}

static void stacks(int state)
{
    pthread_t thread;
    pthread_create(&thread, NULL, stacks_of_thread, &state);
    pthread_join(thread, NULL);
    signal(SIGSEGV, SIG_DFL);
}

int main(int argc, char **argv)
{
    memory_start(argc, argv);
    if (memory_is_shared)
        CHECK(cuCtxGetCurrent(&context));
    memory = memory_pair(2 << 20);
    for (int state = 0; state < STATES; state++) {
        masks(state);
        randoms(state);
        spawn(state);
        threads(state);
        stacks(state);
    }
    return 0;
}
