/*
 * Asynchronous work that the CPU does not wait for: whether a CPU access finds
 * what a stream is still producing.
 *
 *   explicit   waits and copies, as a bare program must
 *   touch      uses the device pointer right after submission
 */
#include "victim.h"

enum { WORDS = 300000, ROUNDS = 30 };

static bool touch;
static uint32_t seen[WORDS];

static uint64_t sum(CUdeviceptr words)
{
    const uint8_t *at = (const uint8_t *)seen;
    if (touch) {
        at = (const uint8_t *)words;
    } else {
        CHECK(cuCtxSynchronize());
        CHECK(cuMemcpyDtoH(seen, words, sizeof seen));
    }
    return victim_hash(at, sizeof seen);
}

static void change(CUdeviceptr words, int round)
{
    size_t i = (size_t)round * 7919 % WORDS;
    uint32_t value = (uint32_t)round;
    if (touch) {
        ((volatile uint32_t *)words)[i] = value;
    } else {
        CHECK(cuCtxSynchronize());
        CHECK(cuMemcpyHtoD(words + i * 4, &value, 4));
    }
}

/* Work without any launch: a chain of copies and sets. */
static void shuffle(CUdeviceptr words, CUstream stream)
{
    enum { PART = WORDS * 4 / 3 };
    for (int i = 0; i < 30; i++) {
        CHECK(cuMemcpyDtoDAsync(words + PART + i, words, PART - 30, stream));
        CHECK(cuMemsetD8Async(words + i * 1000, (unsigned char)i, 500, stream));
        CHECK(
            cuMemcpyDtoDAsync(words, words + 2 * PART - i, PART - 30, stream));
    }
}

int main(int argc, char **argv)
{
    CUmodule module;
    CUfunction step;
    CUstream streams[2];
    CUdeviceptr words[2];
    unsigned n = WORDS;
    touch = argc > 1 && strcmp(argv[1], "touch") == 0;
    victim_start();
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    for (int i = 0; i < 2; i++) {
        CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        CHECK(cuMemAlloc(&words[i], sizeof seen));
        CHECK(cuMemsetD32(words[i], 17, WORDS));
    }
    CHECK(cuCtxSynchronize());
    for (int round = 0; round < ROUNDS; round++) {
        int i = round % 2;
        unsigned k = (unsigned)round;
        void *params[] = {&words[i], &n, &k};
        change(words[i], round);
        if (round % 8 < 6)
            CHECK(cuLaunchKernel(step, (n + 127) / 128, 1, 1, 128, 1, 1, 0,
                                 streams[i], params, NULL));
        else
            shuffle(words[i], streams[i]);
        if (round % 3 == 0)
            CHECK(cuMemcpyDtoDAsync(words[i] + 40000, words[i], 30000,
                                    streams[i]));
        if (round % 5 == 0)
            CHECK(cuMemsetD8Async(words[i] + 4097, 9, 12345, streams[i]));
        printf("%d %016llx\n", round, (unsigned long long)sum(words[i]));
    }
    for (int i = 0; i < 2; i++) {
        CHECK(cuStreamDestroy(streams[i]));
        CHECK(cuMemFree(words[i]));
    }
    return 0;
}
