/*
 * Who touches device memory for the first time waits for the calls that are in
 * the driver, whichever hook they came by.
 *
 * One thread makes a call over and over until a signal finds it inside the
 * driver, where the handler keeps it. Another one touches memory meanwhile:
 * nothing is asked about that memory, which is how it becomes shared, until the
 * first thread has come out. Needs the planted driver (tests/drivers/planted.h)
 * with the word "inside", and is preloaded.
 */
#include "calls.h"

#include "drivers/planted.h"

#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 4 << 20, HOLD_MS = 30, TRIES = 200000 };

static struct {
    const struct call *call;
    _Atomic bool stop, held, go_on, begun, touched;
    const volatile char *memory;
    CUcontext context;
} now;

static void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "held: %s: %d\n", what, result);
    exit(1);
}

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000L}, NULL);
}

static _Thread_local volatile bool calls_now;

/* In the thread that makes calls. */
static void hold(int number)
{
    (void)number;
    if (!calls_now || !*plantedInside() || atomic_exchange(&now.held, true))
        return;
    while (!atomic_load(&now.go_on))
        ;
}

static void *make_calls(void *unused)
{
    (void)unused;
    must(cuCtxSetCurrent(now.context), "cuCtxSetCurrent");
    calls_now = true;
    while (!atomic_load(&now.stop))
        now.call->make();
    calls_now = false;
    return NULL;
}

static void *touch(void *unused)
{
    (void)unused;
    atomic_store(&now.begun, true);
    (void)*now.memory;
    atomic_store(&now.touched, true);
    return NULL;
}

/* How often the driver was asked what lies at an address. */
static unsigned long long asked(void)
{
    const char *name;
    unsigned long long sum = 0;
    for (int i = 0;; i++) {
        unsigned long long count = plantedCount(i, &name);
        if (!name)
            return sum;
        if (strncmp(name, "cuPointerGetAttribute", 21) == 0)
            sum += count;
    }
}

/* Return: the thread is held */
static bool catch_inside(pthread_t thread)
{
    for (int i = 0; i < TRIES && !atomic_load(&now.held); i++) {
        pthread_kill(thread, SIGUSR1);
        sched_yield();
    }
    return atomic_load(&now.held);
}

/* Return: what went wrong; NULL: nothing */
static const char *check(CUdeviceptr memory)
{
    const char *wrong = NULL;
    pthread_t caller, toucher;
    now.memory = (const volatile char *)memory;
    atomic_store(&now.stop, false);
    atomic_store(&now.held, false);
    atomic_store(&now.go_on, false);
    atomic_store(&now.begun, false);
    atomic_store(&now.touched, false);
    pthread_create(&caller, NULL, make_calls, NULL);
    if (!catch_inside(caller))
        wrong = "no signal found it in the driver";
    unsigned long long before = asked();
    pthread_create(&toucher, NULL, touch, NULL);
    while (!atomic_load(&now.begun))
        sched_yield();
    sleep_ms(HOLD_MS);
    if (asked() != before || atomic_load(&now.touched))
        wrong = "another thread's touch went past it";
    atomic_store(&now.stop, true);
    atomic_store(&now.go_on, true);
    pthread_join(caller, NULL);
    pthread_join(toucher, NULL);
    if (!wrong && asked() == before)
        wrong = "nothing was shared afterwards";
    return wrong;
}

int main(void)
{
    int failed = 0;
    const struct sigaction action = {.sa_handler = hold};
    sigaction(SIGUSR1, &action, NULL);
    calls_prepare();
    must(cuCtxGetCurrent(&now.context), "cuCtxGetCurrent");
    for (const struct call *call = calls; call->name; call++) {
        CUdeviceptr memory;
        if (!call->works)
            continue;
        must(cuMemAlloc(&memory, BYTES), "cuMemAlloc");
        now.call = call;
        const char *wrong = check(memory);
        if (wrong)
            printf("%s: %s\n", call->name, wrong);
        failed += wrong != NULL;
        must(cuMemFree(memory), "cuMemFree");
    }
    return failed > 0;
}
