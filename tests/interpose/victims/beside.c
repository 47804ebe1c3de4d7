/*
 * Two processes use the same device memory, in turns: one allocated it, the other
 * has opened it. Each waits for its device before the other's turn, and again at
 * the beginning of its own; the turns go by pipes.
 *
 *   explicit   they fill it and look at it by copies
 *   touch      by the CPU, through the device pointer
 */
#include "victim.h"

#include <sys/wait.h>
#include <unistd.h>

enum { LARGE = 700001, SMALL = 113, ARRAYS = 3, ROUNDS = 6 };

static const unsigned counts[ARRAYS] = {LARGE, SMALL, 3 * SMALL};

static bool touch;
static int other[2]; /* read from, write to */
static CUfunction step;
static uint32_t *host;

static void tell(const void *bytes, size_t n)
{
    if (write(other[1], bytes, n) != (ssize_t)n)
        exit(4);
}

static void hear(void *bytes, size_t n)
{
    if (read(other[0], bytes, n) != (ssize_t)n)
        exit(5);
}

/* Mine is over, and the other's too when it returns. */
static void take_turns(void)
{
    CHECK(cuCtxSynchronize());
    tell("", 1);
    hear((char[1]){0}, 1);
    CHECK(cuCtxSynchronize());
}

static void fill(CUdeviceptr words, unsigned n, unsigned seed)
{
    volatile uint32_t *to = touch ? (uint32_t *)words : host;
    for (unsigned i = 0; i < n; i++)
        to[i] = i * 5 + seed;
    if (!touch)
        CHECK(cuMemcpyHtoD(words, host, n * 4));
}

static uint64_t sum(CUdeviceptr words, unsigned n)
{
    if (touch)
        return victim_hash((const uint8_t *)words, n * 4);
    CHECK(cuMemcpyDtoH(host, words, n * 4));
    return victim_hash((const uint8_t *)host, n * 4);
}

static void launch(CUdeviceptr words, unsigned n, unsigned k)
{
    void *params[] = {&words, &n, &k};
    CHECK(cuLaunchKernel(step, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL,
                         params, NULL));
}

static void start(void)
{
    CUmodule module;
    victim_start();
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    host = malloc(LARGE * 4);
}

static void get_sums(CUdeviceptr *array, uint64_t *sums)
{
    for (int a = 0; a < ARRAYS; a++)
        sums[a] = sum(array[a], counts[a]);
}

/* What a process does in its turn: what it saw is what the other has left. */
static void play(CUdeviceptr *array, unsigned seed, uint64_t *sums)
{
    get_sums(array, sums);
    for (int a = 0; a < ARRAYS; a++) {
        if ((seed + a) % 4 == 0)
            victim_change(array[a], counts[a], seed, touch ? NULL : host);
        if ((seed + a) % 3)
            launch(array[a], counts[a], seed);
        if ((seed + a) % 4 == 1)
            victim_change(array[a], counts[a], seed, touch ? NULL : host);
    }
}

/* Opened twice, and closed once of it. */
static CUdeviceptr open_next(void)
{
    CUipcMemHandle handle;
    CUdeviceptr at, again;
    hear(&handle, sizeof handle);
    CHECK(cuIpcOpenMemHandle(&at, handle, 1));
    CHECK(cuIpcOpenMemHandle(&again, handle, 1));
    fill(at, 2, 3);
    CHECK(cuIpcCloseMemHandle(again));
    return at == again ? at : 0;
}

static int opens(void)
{
    CUdeviceptr array[ARRAYS];
    uint64_t sums[ARRAYS];
    start();
    for (int a = 0; a < ARRAYS; a++)
        array[a] = open_next();
    for (unsigned r = 0; r < ROUNDS; r++) {
        CHECK(cuCtxSynchronize());
        tell("", 1);
        hear((char[1]){0}, 1);
        CHECK(cuCtxSynchronize());
        play(array, 2 * r + 1, sums);
        CHECK(cuCtxSynchronize());
        tell(sums, sizeof sums);
    }
    hear((char[1]){0}, 1);
    CHECK(cuCtxSynchronize());
    /* The last that the CPU writes goes along with the end. */
    for (int a = 0; a < ARRAYS; a++) {
        victim_change(array[a], counts[a], 77, touch ? NULL : host);
        CHECK(cuIpcCloseMemHandle(array[a]));
        if (cuIpcCloseMemHandle(array[a]) != CUDA_ERROR_INVALID_VALUE)
            exit(6);
    }
    tell("", 1);
    return 0;
}

static void print(const char *who, unsigned round, const uint64_t *sums)
{
    printf("%s %u:", who, round);
    for (int a = 0; a < ARRAYS; a++)
        printf(" %016llx", (unsigned long long)sums[a]);
    printf("\n");
}

static void allocates(void)
{
    CUdeviceptr array[ARRAYS];
    CUipcMemHandle handle;
    uint64_t sums[ARRAYS];
    start();
    for (int a = 0; a < ARRAYS; a++) {
        CHECK(cuMemAlloc(&array[a], counts[a] * 4));
        fill(array[a], counts[a], 1000 + a);
    }
    CHECK(cuCtxSynchronize());
    for (int a = 0; a < ARRAYS; a++) {
        CHECK(cuIpcGetMemHandle(&handle, array[a]));
        tell(&handle, sizeof handle);
    }
    for (unsigned r = 0; r < ROUNDS; r++) {
        hear((char[1]){0}, 1);
        CHECK(cuCtxSynchronize());
        play(array, 2 * r, sums);
        print("owner", r, sums);
        CHECK(cuCtxSynchronize());
        get_sums(array, sums); /* to be forgotten */
        tell("", 1);
        hear(sums, sizeof sums);
        print("other", r, sums);
    }
    CHECK(cuCtxSynchronize());
    get_sums(array, sums);
    CHECK(cuCtxSynchronize());
    take_turns();
    get_sums(array, sums);
    print("end", 0, sums);
    for (int a = 0; a < ARRAYS; a++)
        CHECK(cuMemFree(array[a]));
}

int main(int argc, char **argv)
{
    int to[2], from[2], status;
    touch = argc > 1 && strcmp(argv[1], "touch") == 0;
    if (pipe(to) != 0 || pipe(from) != 0)
        return 2;
    pid_t child = fork();
    other[0] = child ? from[0] : to[0];
    other[1] = child ? to[1] : from[1];
    close(child ? from[1] : to[1]); /* of one that dies the other hears */
    close(child ? to[0] : from[0]);
    if (child == 0)
        _exit(opens());
    allocates();
    waitpid(child, &status, 0);
    printf("status %d\n", status);
    return 0;
}
