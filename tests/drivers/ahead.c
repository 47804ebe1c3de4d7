/*
 * Calls that may wait for a host function which touches what they use: the
 * function begins late, and the call must not keep it from its memory.
 *
 * One array is written by the CPU before, so that calls have something to send.
 * Links with the driver alone; run preloaded, with memory page-locked or not.
 *
 * Return: 0; 1 where a byte is wrong; ended by SIGALRM where a call waits for ever
 */
#include "../interpose/victims/victim.h"

#include <unistd.h>

enum { BYTES = 1 << 20, WORDS = BYTES / 4, HALF = WORDS / 2, PATIENCE_S = 20 };

static CUstream one, two;
static CUfunction step;
static uint32_t pageable[WORDS];

/* The array that calls use, and one that nobody else touches; both apart from
 * others. */
static CUdeviceptr used, other;

/* What the function touches, and what it saw. */
static CUdeviceptr touched;
static uint32_t seen;

static const char *situation;
static int failures;

static volatile uint32_t *word(CUdeviceptr array, size_t i)
{
    return (volatile uint32_t *)(uintptr_t)array + i;
}

static void is(const char *what, uint32_t got, uint32_t want)
{
    if (got == want)
        return;
    printf("%s: %s is %u, not %u\n", situation, what, got, want);
    failures++;
}

/* Late enough that the call behind it is on its way. */
static void touch_last(void *unused)
{
    (void)unused;
    usleep(50 * 1000);
    seen = *word(touched, WORDS - 1);
    *word(touched, WORDS - 1) = seen + 1;
}

/* ---- the calls ------------------------------------------------------------ */

static void launch(void)
{
    unsigned n = HALF, k = 3;
    void *params[] = {&used, &n, &k};
    CHECK(cuLaunchKernel(step, HALF / 128, 1, 1, 128, 1, 1, 0, two, params,
                         NULL));
}

static void set(void)
{
    CHECK(cuMemsetD8Async(used + 4, 3, 100, two));
}

static void copy_down(void)
{
    CHECK(cuMemcpyDtoHAsync(pageable, used, 8192, two));
}

static void copy_up(void)
{
    CHECK(cuMemcpyHtoDAsync(used, pageable, 8192, one));
}

static void copy_over(void)
{
    CHECK(cuMemcpyHtoDAsync(used, pageable, BYTES, one));
}

static void copy_rows(void)
{
    CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = pageable,
                          .srcPitch = 512,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = used,
                          .dstPitch = 1024,
                          .WidthInBytes = 256,
                          .Height = 100};
    CHECK(cuMemcpy2DAsync(&rows, one));
}

/* One that has been touched, so that something is given up. */
static void release(void)
{
    CUdeviceptr third;
    CHECK(cuMemAlloc(&third, 4 * BYTES));
    *word(third, 0) = 1;
    CHECK(cuLaunchHostFunc(one, touch_last, NULL));
    CHECK(cuMemFree(third));
}

static void nothing(void)
{
}

/* ---- the situations ------------------------------------------------------- */

static const struct {
    const char *name;
    void (*call)(void);
    bool touches_other;           /* the function does, first of all */
    uint32_t first, second, last; /* of the used array, at the end */
} situations[] = {
    {"launch", launch, false, 9 * 3 + 3, 5 * 3 + 3, 6},
    {"set", set, false, 9, 0x03030303, 6},
    {"copy down", copy_down, false, 9, 5, 6},
    {"copy up", copy_up, false, 77, 77, 6},
    {"copy over it", copy_over, false, 77, 77, 77},
    {"copy of rows", copy_rows, false, 77, 77, 6},
    {"nothing", nothing, true, 9, 5, 5},
    {"launch, other", launch, true, 9 * 3 + 3, 5 * 3 + 3, 5},
    {"free, other", release, true, 9, 5, 5},
};

static void run(size_t i)
{
    situation = situations[i].name;
    printf("%s\n", situation);
    alarm(PATIENCE_S);
    CHECK(cuMemAlloc(&used, BYTES));
    CHECK(cuMemAlloc(&other, 4 * BYTES));
    CHECK(cuMemsetD32(used, 5, WORDS));
    CHECK(cuMemsetD32(other, 5, WORDS));
    CHECK(cuCtxSynchronize());
    for (size_t k = 0; k < WORDS; k++)
        pageable[k] = 77;
    *word(used, 0) = 9;
    touched = situations[i].touches_other ? other : used;
    if (situations[i].call != release)
        CHECK(cuLaunchHostFunc(one, touch_last, NULL));
    situations[i].call();
    CHECK(cuCtxSynchronize());
    is("what the function saw", seen, 5);
    is("the first word", *word(used, 0), situations[i].first);
    is("the second", *word(used, 1), situations[i].second);
    is("the last", *word(used, WORDS - 1), situations[i].last);
    if (situations[i].touches_other)
        is("the other's last", *word(other, WORDS - 1), 6);
    if (situations[i].call == copy_down)
        is("the copy's first", pageable[0], 9);
    CHECK(cuMemFree(used));
    CHECK(cuMemFree(other));
}

int main(void)
{
    CUmodule module;
    victim_start();
    setvbuf(stdout, NULL, _IONBF, 0);
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    CHECK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++)
        run(i);
    return failures != 0;
}
