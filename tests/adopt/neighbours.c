/*
 * Small allocations on one page: threads that let theirs come and go, beside one
 * that touches its own all the while. Whatever is shared, and given up again, on
 * the page meanwhile, each gets its memory back to the driver, and each sees what
 * it wrote. Links with the driver alone; run preloaded.
 *
 *   neighbours SECONDS
 *
 * Return: 0; 1 with a line for each call that failed, or place that differs
 */
#include "../interpose/victims/victim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { COMERS = 3, WORDS = 64 };

static CUcontext context;
static _Atomic bool stop;
static _Atomic unsigned wrong, rounds;

static void say(const char *what, unsigned have, unsigned want)
{
    if (atomic_fetch_add(&wrong, 1) < 10)
        printf("%s: %u, not %u\n", what, have, want);
}

static void *come_and_go(void *unused)
{
    (void)unused;
    CHECK(cuCtxSetCurrent(context));
    while (!atomic_load(&stop)) {
        CUdeviceptr at;
        CHECK(cuMemAlloc(&at, WORDS * 4));
        CUresult freed = cuMemFree(at);
        if (freed != CUDA_SUCCESS)
            say("cuMemFree", freed, CUDA_SUCCESS);
    }
    return NULL;
}

/* The same on the other way through the driver: what it is told of an address. */
static void *ask(void *unused)
{
    (void)unused;
    CHECK(cuCtxSetCurrent(context));
    while (!atomic_load(&stop)) {
        CUdeviceptr at, base = 0;
        size_t bytes = 0;
        CHECK(cuMemAlloc(&at, WORDS * 4));
        CUresult found = cuMemGetAddressRange(&base, &bytes, at);
        if (found != CUDA_SUCCESS || base != at)
            say("cuMemGetAddressRange", found, CUDA_SUCCESS);
        CUresult freed = cuMemFreeAsync(at, NULL);
        if (freed != CUDA_SUCCESS)
            say("cuMemFreeAsync", freed, CUDA_SUCCESS);
    }
    return NULL;
}

static void touch(CUdeviceptr at, double seconds)
{
    volatile uint32_t *words = (volatile uint32_t *)(uintptr_t)at;
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        uint32_t round = atomic_fetch_add(&rounds, 1);
        for (unsigned i = 0; i < WORDS; i += 16) {
            words[i] = round + i;
            if (words[i] != round + i)
                say("a word", words[i], round + i);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begun.tv_sec) +
                 (double)(now.tv_nsec - begun.tv_nsec) * 1e-9 <
             seconds);
}

int main(int argc, char **argv)
{
    pthread_t threads[COMERS];
    CUdeviceptr at;
    victim_start();
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuMemAlloc(&at, WORDS * 4));
    for (int i = 0; i < COMERS; i++)
        if (pthread_create(&threads[i], NULL, i ? come_and_go : ask, NULL))
            return 3;
    touch(at, argc > 1 ? atof(argv[1]) : 1);
    atomic_store(&stop, true);
    for (int i = 0; i < COMERS; i++)
        pthread_join(threads[i], NULL);
    CHECK(cuMemFree(at));
    printf("%u wrong\n", atomic_load(&wrong));
    return atomic_load(&wrong) != 0;
}
