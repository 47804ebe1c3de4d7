/*
 * Kernels of one device on memory of another, which peer access opened before
 * and after it was allocated, and the CPU that writes and reads it in between.
 *
 *   explicit   waits and copies, as a bare program must
 *   touch      uses the device pointers
 */
#include "victim.h"

enum { WORDS = 100000, DEVICES = 2 };

static bool touch;
static uint32_t words[WORDS];
static CUcontext contexts[DEVICES];
static CUfunction steps[DEVICES];

static void write_words(CUdeviceptr to, uint32_t seed)
{
    volatile uint32_t *at = touch ? (volatile uint32_t *)to : words;
    for (uint32_t i = 0; i < WORDS; i++)
        at[i] = i * 7 + seed;
    if (!touch)
        CHECK(cuMemcpyHtoD(to, words, sizeof words));
}

static uint64_t sum(CUdeviceptr from)
{
    const uint8_t *at = (const uint8_t *)words;
    if (touch)
        at = (const uint8_t *)from;
    else
        CHECK(cuMemcpyDtoH(words, from, sizeof words));
    return victim_hash(at, sizeof words);
}

/* A kernel of the current device. */
static void step(int device, CUdeviceptr on, unsigned k)
{
    unsigned n = WORDS;
    void *arguments[] = {&on, &n, &k};
    CHECK(cuLaunchKernel(steps[device], (WORDS + 255) / 256, 1, 1, 256, 1, 1, 0,
                         NULL, arguments, NULL));
    if (!touch)
        CHECK(cuCtxSynchronize());
}

static void start(void)
{
    CHECK(cuInit(0));
    for (int i = 0; i < DEVICES; i++) {
        CUdevice device;
        CUmodule module;
        CHECK(cuDeviceGet(&device, i));
        CHECK(cuDevicePrimaryCtxRetain(&contexts[i], device));
        CHECK(cuCtxSetCurrent(contexts[i]));
        CHECK(cuModuleLoadData(&module, victim_ptx));
        CHECK(cuModuleGetFunction(&steps[i], module, "step"));
    }
}

int main(int argc, char **argv)
{
    CUdeviceptr before, after;
    touch = argc > 1 && strcmp(argv[1], "touch") == 0;
    setenv("SOFTCUDA_DEVICES", "2", 1);
    start();
    CHECK(cuMemAlloc(&before, sizeof words)); /* of device 1 */
    write_words(before, 1);
    CHECK(cuCtxSetCurrent(contexts[0]));
    CHECK(cuCtxEnablePeerAccess(contexts[1], 0));
    printf("again %d\n", cuCtxEnablePeerAccess(contexts[1], 0));
    step(0, before, 5);
    printf("before %016llx\n", (unsigned long long)sum(before));
    CHECK(cuCtxSetCurrent(contexts[1]));
    CHECK(cuMemAlloc(&after, sizeof words));
    for (unsigned round = 0; round < 5; round++) {
        CHECK(cuCtxSetCurrent(contexts[1]));
        write_words(after, round);
        step(1, after, round);
        CHECK(cuCtxSynchronize());
        CHECK(cuCtxSetCurrent(contexts[0]));
        step(0, after, 9);
        printf("after %016llx\n", (unsigned long long)sum(after));
        write_words(before, round + 2);
        step(0, before, round);
        CHECK(cuCtxSynchronize());
        printf("before %016llx\n", (unsigned long long)sum(before));
    }
    CHECK(cuCtxDisablePeerAccess(contexts[1]));
    printf("again %d\n", cuCtxDisablePeerAccess(contexts[1]));
    CHECK(cuMemFree(before));
    CHECK(cuMemFree(after));
    return 0;
}
