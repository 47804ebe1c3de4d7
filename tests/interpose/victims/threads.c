/*
 * Threads of C11, each with objects of its own and one they share: allocate,
 * use by CPU and device, copy, free; and what is done for them at their end.
 *
 *   explicit   plain buffers and copies; touch  the device pointer itself
 */
#include "victim.h"

#include <stdatomic.h>
#include <threads.h>

enum { THREADS = 6, ROUNDS = 12, WORDS = 20011, SLICE = 5000 };

static bool touch;
static CUcontext context;
static CUfunction step;
static CUdeviceptr common; /* THREADS slices of SLICE bytes */
static uint64_t sums[THREADS];
static tss_t at_end;

static void put(CUdeviceptr to, const uint8_t *from, size_t bytes)
{
    if (!touch)
        CHECK(cuMemcpyHtoD(to, from, bytes));
    else
        for (size_t i = 0; i < bytes; i++)
            ((volatile uint8_t *)to)[i] = from[i];
}

static void get(uint8_t *to, CUdeviceptr from, size_t bytes)
{
    if (!touch)
        CHECK(cuMemcpyDtoH(to, from, bytes));
    else
        for (size_t i = 0; i < bytes; i++)
            to[i] = ((volatile uint8_t *)from)[i];
}

static void one_round(int thread, int round, CUstream stream, uint8_t *buffer)
{
    CUdeviceptr words;
    unsigned n = WORDS, k = (unsigned)(thread + round);
    void *params[] = {&words, &n, &k};
    CHECK(cuMemAlloc(&words, WORDS * 4));
    victim_write(buffer, WORDS * 4, (unsigned)round);
    put(words, buffer, WORDS * 4);
    CHECK(cuLaunchKernel(step, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream,
                         params, NULL));
    CHECK(cuStreamSynchronize(stream));
    get(buffer, words, WORDS * 4);
    sums[thread] = sums[thread] * 31 + victim_hash(buffer, WORDS * 4);
    put(common + (CUdeviceptr)(thread * SLICE), buffer, SLICE);
    CHECK(cuMemFree(words));
}

/* At the end of a thread: its slice once more. */
static void leave(void *which)
{
    static _Thread_local uint8_t slice[SLICE];
    int thread = *(int *)which;
    CUdeviceptr at = common + (CUdeviceptr)(thread * SLICE);
    get(slice, at, SLICE);
    sums[thread] = sums[thread] * 31 + victim_hash(slice, SLICE);
    slice[thread] ^= 0xff;
    put(at, slice, SLICE);
}

static int work(void *which)
{
    int thread = *(int *)which;
    uint8_t *buffer = malloc(WORDS * 4);
    CUstream stream;
    tss_set(at_end, which);
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int round = 0; round < ROUNDS; round++)
        one_round(thread, round, stream, buffer);
    CHECK(cuStreamDestroy(stream));
    free(buffer);
    return 0;
}

int main(int argc, char **argv)
{
    static uint8_t all[THREADS * SLICE];
    thrd_t threads[THREADS];
    int numbers[THREADS];
    CUmodule module;
    touch = argc > 1 && strcmp(argv[1], "touch") == 0;
    victim_start();
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    CHECK(cuMemAlloc(&common, sizeof all));
    CHECK(cuMemsetD8(common, 1, sizeof all));
    if (tss_create(&at_end, leave) != thrd_success)
        return 3;
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (thrd_create(&threads[i], work, &numbers[i]) != thrd_success)
            return 3;
    }
    for (int i = 0; i < THREADS; i++)
        thrd_join(threads[i], NULL);
    get(all, common, sizeof all);
    for (int i = 0; i < THREADS; i++)
        printf("%016llx\n", (unsigned long long)sums[i]);
    printf("%016llx\n", (unsigned long long)victim_hash(all, sizeof all));
    return 0;
}
