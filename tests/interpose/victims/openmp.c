/*
 * OpenMP: loops of many threads over arrays that the device uses, first touched
 * by all of them at once, in blocks and word by word in turns; nested teams,
 * tasks, and threads that launch on their own.
 *
 *   explicit   loops over plain buffers, and copies
 *   touch      loops over the device memory itself
 */
#include "victim.h"

#include <omp.h>

enum { WORDS = 300007, TEAM = 4, INNER = 3, ROUNDS = 3 };

static bool touch;
static CUfunction step;
static CUcontext context;
static CUdeviceptr device;
static uint32_t plain[WORDS];

static volatile uint32_t *array(void)
{
    return touch ? (volatile uint32_t *)device : plain;
}

static void up(void)
{
    if (!touch)
        CHECK(cuMemcpyHtoD(device, plain, sizeof plain));
}

static void down(void)
{
    if (!touch)
        CHECK(cuMemcpyDtoH(plain, device, sizeof plain));
}

static void launch(unsigned first, unsigned n, unsigned k, CUstream stream)
{
    CUdeviceptr at = device + first * 4;
    void *params[] = {&at, &n, &k};
    CHECK(cuLaunchKernel(step, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream,
                         params, NULL));
}

static void say(const char *what)
{
    volatile uint32_t *words = array();
    uint64_t sum = 0;
    down();
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 777)
    for (long i = 0; i < WORDS; i++)
        sum += (uint64_t)words[i] * (uint64_t)(i % 97 + 1);
    printf("%s %llx\n", what, (unsigned long long)sum);
}

/* Parts, chunks, and single words that neighbours are written around. */
static void write_all(unsigned k)
{
    volatile uint32_t *words = array();
#pragma omp parallel for schedule(static)
    for (long i = 0; i < WORDS; i++)
        words[i] = (uint32_t)i * 7 + k;
    up();
    launch(0, WORDS, k, NULL);
    say("parts");
#pragma omp parallel for schedule(static, 1)
    for (long i = 0; i < WORDS; i++)
        words[i] += k;
    up();
    launch(0, WORDS, k + 1, NULL);
    say("words");
}

/* A team of teams, each over a stripe of its own. */
static void nest(void)
{
    volatile uint32_t *words = array();
    omp_set_max_active_levels(2);
#pragma omp parallel for num_threads(TEAM)
    for (long outer = 0; outer < TEAM; outer++) {
#pragma omp parallel for num_threads(INNER)
        for (long i = outer; i < WORDS; i += TEAM)
            words[i] = words[i] * 5 + (uint32_t)outer;
    }
    up();
    launch(0, WORDS, 3, NULL);
    say("nested");
}

static void count(void)
{
    uint32_t *words = touch ? (uint32_t *)device : plain;
#pragma omp parallel
#pragma omp single
    for (long from = 0; from < WORDS; from += 20000) {
#pragma omp task firstprivate(from)
        for (long i = from; i < from + 20000 && i < WORDS; i++) {
#pragma omp atomic
            words[i % 1000]++;
#pragma omp atomic
            words[WORDS - 1 - i % 1000] += (uint32_t)i;
        }
    }
    up();
    say("tasks");
}

/* Each thread its slice: written, launched and read by nobody else. */
static void launch_in_team(void)
{
    enum { SLICE = WORDS / TEAM };
    uint64_t sums[TEAM] = {0};
#pragma omp parallel num_threads(TEAM)
    {
        unsigned me = (unsigned)omp_get_thread_num(), first = me * SLICE;
        volatile uint32_t *words = array() + first;
        CUstream stream;
        CHECK(cuCtxSetCurrent(context));
        CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        for (unsigned round = 0; round < ROUNDS; round++) {
            for (unsigned i = 0; i < SLICE; i += 3)
                words[i] = i + round;
            if (!touch)
                CHECK(
                    cuMemcpyHtoD(device + first * 4, plain + first, SLICE * 4));
            launch(first, SLICE, me, stream);
            CHECK(cuStreamSynchronize(stream));
            if (!touch)
                CHECK(
                    cuMemcpyDtoH(plain + first, device + first * 4, SLICE * 4));
            for (unsigned i = 0; i < SLICE; i++)
                sums[me] = sums[me] * 3 + words[i];
        }
        CHECK(cuStreamDestroy(stream));
    }
    for (int i = 0; i < TEAM; i++)
        printf("slice %d %llx\n", i, (unsigned long long)sums[i]);
}

int main(int argc, char **argv)
{
    CUmodule module;
    touch = argc > 1 && strcmp(argv[1], "touch") == 0;
    omp_set_num_threads(TEAM);
    victim_start();
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    CHECK(cuMemAlloc(&device, WORDS * 4));
    for (unsigned k = 1; k <= ROUNDS; k++)
        write_all(k);
    nest();
    count();
    launch_in_team();
    return 0;
}
