/*
 * Handlers of the program that interrupt a wait for a kernel that never ends:
 * they run in time, may use memory that the kernel does not, give shared memory
 * to system calls, and leave the wait behind by a jump.
 */
#include "endless.h"

#include <fcntl.h>
#include <setjmp.h>
#include <sys/time.h>

enum { RINGS = 5, EVERY_US = 20000 };

static sigjmp_buf away;
static volatile int rings;
static volatile uint8_t *other; /* of another context than the kernel's */
static int zeros;

static void on_alarm(int number)
{
    (void)number;
    expect(other[rings * 4096] == 7);
    expect(read(zeros, (void *)(other + 65536), 4096) == 4096);
    other[rings * 4096] = 7;
    if (++rings == RINGS)
        siglongjmp(away, 1);
}

static CUevent event;
static struct memory memory;

static CUresult wait_for_context(void)
{
    return cuCtxSynchronize();
}

static CUresult wait_for_stream(void)
{
    return cuStreamSynchronize(NULL);
}

static CUresult wait_for_event(void)
{
    return cuEventSynchronize(event);
}

static CUresult copy(void)
{
    static uint8_t host[SMALL];
    return cuMemcpyDtoH(host, memory.small, SMALL);
}

static void ring(CUresult (*wait)(void))
{
    static const struct itimerval every = {{0, EVERY_US}, {0, EVERY_US}};
    static const struct itimerval never;
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    CUdeviceptr elsewhere;
    expect_done(cuInit(0));
    begin_own();
    expect_done(cuMemAlloc(&elsewhere, LARGE));
    expect_done(cuMemsetD8(elsewhere, 7, LARGE));
    other = (volatile uint8_t *)elsewhere;
    /* Nobody can ask the driver for whom it works: shared before that. */
    if (shares_at_touch())
        (void)other[0];
    zeros = open("/dev/zero", O_RDONLY);
    begin_own();
    expect_done(cuEventCreate(&event, 0));
    memory = make(0);
    launch_endless(memory);
    expect_done(cuEventRecord(event, NULL));
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    if (sigsetjmp(away, 1) == 0) {
        (void)wait();
        _exit(2);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    expect(rings == RINGS);
    /* What the jump left is as usable as before. */
    for (int i = 0; i < RINGS; i++)
        expect(other[i * 4096] == 7);
    expect(other[65536] == 0);
    expect(cuStreamQuery(NULL) == CUDA_ERROR_NOT_READY);
}

#define SITUATION(wait)                                                        \
    static void beside_##wait(int say)                                         \
    {                                                                          \
        (void)say;                                                             \
        ring(wait);                                                            \
    }                                                                          \
    START_TEST(handlers_run_in_time_beside_##wait)                             \
    {                                                                          \
        ck_assert_int_eq(end_of(start(beside_##wait)), 0);                     \
    }                                                                          \
    END_TEST

SITUATION(wait_for_context)
SITUATION(wait_for_stream)
SITUATION(wait_for_event)
SITUATION(copy)

SUITE_MAIN("regress-interpose-waits", 60,
           handlers_run_in_time_beside_wait_for_context,
           handlers_run_in_time_beside_wait_for_stream,
           handlers_run_in_time_beside_wait_for_event,
           handlers_run_in_time_beside_copy)
