/*
 * A program that forks under a storm: its threads go through arrays that kernels
 * have written, one of them forks again and again, and the handler of a timer,
 * which mostly interrupts that one, reads the arrays. While libc forks it holds
 * the locks of malloc, and whatever the handler waits for then must not need
 * them: neither a thread of the runtime nor the driver in it.
 *
 * Each storm is a process of its own, since a thread's first allocations are what
 * mostly waits. Children have the mask that a handler of pthread_atfork gave them.
 * Meson runs it preloaded. Argument: how many storms.
 */
#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 4,
    WORDS = 64 << 10,
    BLOCK = 128,
    ROUNDS = 12,
    PERIOD_NS = 300000,
    PATIENCE_S = 30
};

#define CHECK(call)                                                            \
    do {                                                                       \
        int status_ = (call);                                                  \
        if (status_ != 0) {                                                    \
            fprintf(stderr, "line %d: " #call ": %d\n", __LINE__, status_);    \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)

static const char text[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry bump(.param .u64 p)\n{\n"
    ".reg .b32 %i, %n, %t, %v;\n.reg .b64 %p, %o;\n"
    "ld.param.u64 %p, [p];\nmov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x;\n"
    "mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %n, %t;\n"
    "mul.wide.u32 %o, %i, 4; add.u64 %p, %p, %o;\n"
    "ld.global.u32 %v, [%p]; add.u32 %v, %v, 1; st.global.u32 [%p], %v;\n"
    "ret;\n}\n";

static pthread_barrier_t over;
static CUcontext context;
static CUfunction bump;
static volatile uint32_t *arrays[THREADS];
static volatile uint32_t sink;
static volatile long signals;

static void on_timer(int number)
{
    size_t k = (size_t)++signals * 4099;
    (void)number;
    sink += arrays[k % THREADS][k % WORDS];
}

/* A loop that looks at all that its kernel has left. */
static void round_of(int k, CUstream stream, uint32_t round)
{
    void *params[] = {&arrays[k]};
    CHECK(cuLaunchKernel(bump, WORDS / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream,
                         params, NULL));
    CHECK(cuStreamSynchronize(stream));
    for (size_t i = 0; i < WORDS; i += 512)
        CHECK(arrays[k][i] != round);
}

static void *work(void *argument)
{
    CUstream stream;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (uint32_t i = 1; i <= ROUNDS; i++)
        round_of((int)(intptr_t)argument, stream, i);
    pthread_barrier_wait(&over);
    return NULL;
}

/* SIGUSR2 is blocked in the parent. */
static void unblock(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int only_unblocked(void)
{
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    return !sigismember(&set, SIGUSR1) && !sigismember(&set, SIGUSR2);
}

static void fork_once(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(only_unblocked() ? 7 : 8);
    while (waitpid(child, &status, 0) != child)
        ;
    CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 7);
}

static void start(void)
{
    CUdevice device;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&bump, module, "bump"));
    for (int k = 0; k < THREADS; k++) {
        CUdeviceptr at;
        CHECK(cuMemAlloc(&at, WORDS * 4));
        CHECK(cuMemsetD8(at, 0, WORDS * 4));
        arrays[k] = (volatile uint32_t *)at;
        sink += arrays[k][0]; /* a handler may be the first only outside CUDA */
    }
}

static void storm(void)
{
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    struct sigevent told = {.sigev_notify = SIGEV_SIGNAL,
                            .sigev_signo = SIGUSR1};
    struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}}, none = {0};
    pthread_t threads[THREADS];
    CUstream stream;
    timer_t timer;
    sigset_t second;
    sigemptyset(&second);
    sigaddset(&second, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &second, NULL));
    CHECK(pthread_atfork(NULL, NULL, unblock));
    start();
    CHECK(pthread_barrier_init(&over, NULL, THREADS));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(sigaction(SIGUSR1, &action, NULL));
    CHECK(timer_create(CLOCK_MONOTONIC, &told, &timer));
    CHECK(timer_settime(timer, 0, &period, NULL));
    for (intptr_t k = 1; k < THREADS; k++)
        CHECK(pthread_create(&threads[k], NULL, work, (void *)k));
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        fork_once();
        round_of(0, stream, i);
        fork_once();
    }
    /* What ends a thread is malloc's, too. */
    CHECK(timer_settime(timer, 0, &none, NULL));
    pthread_barrier_wait(&over);
    for (int k = 1; k < THREADS; k++)
        CHECK(pthread_join(threads[k], NULL));
    _exit(signals > ROUNDS ? 0 : 3);
}

/* Return: its status; that of a killed one when it hangs. */
static int await(pid_t child, int number)
{
    int status;
    for (int ms = 0; ms < PATIENCE_S * 1000; ms++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    fprintf(stderr, "storm %d hangs\n", number);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    int storms = argc > 1 ? atoi(argv[1]) : 3;
    for (int i = 0; i < storms; i++) {
        pid_t child = fork();
        if (child == 0)
            storm();
        int status = await(child, i);
        if (status != 0) {
            fprintf(stderr, "storm %d of %d: status %#x\n", i, storms, status);
            return 1;
        }
    }
    return 0;
}
