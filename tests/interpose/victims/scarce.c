/*
 * A program that goes on with what it gets, for test_scarce: it says at its end
 * that all it got was right, which call was refused, or that the CPU cannot
 * touch device memory. Whatever else happens is a failure.
 *
 *   explicit   plain buffers and copies; touch  the device memory itself
 */
#include "victim.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { ARRAYS = 3, ROUNDS = 2, THREADS = 3, PATIENCE_S = 30 };

static const unsigned sizes[ARRAYS] = {1 << 20, 70001, 900};
static bool touch;
static CUfunction step;

/* Unlike CHECK: what is refused is an answer. */
#define TRY(call)                                                              \
    do {                                                                       \
        CUresult try_ = (call);                                                \
        if (try_ != CUDA_SUCCESS) {                                            \
            printf("refused: %s gave %d\n", #call, try_);                      \
            exit(0);                                                           \
        }                                                                      \
    } while (0)

static void wrong(const char *what, unsigned at)
{
    printf("WRONG: %s at %u\n", what, at);
    exit(9);
}

static void begin(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    TRY(cuInit(0));
    TRY(cuDeviceGet(&device, 0));
    TRY(cuDevicePrimaryCtxRetain(&context, device));
    TRY(cuCtxSetCurrent(context));
    TRY(cuModuleLoadData(&module, victim_ptx));
    TRY(cuModuleGetFunction(&step, module, "step"));
}

static void launch(CUdeviceptr at, unsigned n, unsigned k)
{
    void *params[] = {&at, &n, &k};
    TRY(cuLaunchKernel(step, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params,
                       NULL));
    TRY(cuCtxSynchronize());
}

/* A system call says so where an access would end the program. */
static bool can_touch(CUdeviceptr at)
{
    int ends[2];
    if (pipe(ends) != 0)
        return true;
    bool can = write(ends[1], (void *)at, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return can;
}

static void check(const volatile uint32_t *words, unsigned n, unsigned k)
{
    for (unsigned i = 0; i < n; i++)
        if (words[i] != (i + k) * 3 + k)
            wrong("array", i);
}

/* Through a file where one can be had. */
static void write_and_read(uint32_t *words, unsigned n)
{
    char path[] = "/tmp/scarce-XXXXXX";
    int file = mkstemp(path);
    if (file < 0)
        return;
    unlink(path);
    ssize_t wrote = write(file, words, n * 4), got = 0;
    if (wrote > 0) {
        memset(words, 0xee, (size_t)wrote);
        got = pread(file, words, (size_t)wrote, 0);
    }
    close(file);
    if (wrote > 0 && got != wrote)
        wrong("file", (unsigned)got);
}

static void use(CUdeviceptr at, uint32_t *plain, unsigned n, unsigned k)
{
    uint32_t *words = touch ? (uint32_t *)at : plain;
    for (unsigned i = 0; i < n; i++)
        ((volatile uint32_t *)words)[i] = i + k;
    if (!touch)
        TRY(cuMemcpyHtoD(at, plain, n * 4));
    launch(at, n, k);
    if (!touch)
        TRY(cuMemcpyDtoH(plain, at, n * 4));
    write_and_read(words, n);
    check(words, n, k);
    TRY(cuMemcpyDtoH(plain, at, n * 4)); /* what CPU and device agree on */
    check(plain, n, k);
}

static void *read_body(void *words)
{
    check(words, sizes[1], 0);
    return NULL;
}

static void use_threads(CUdeviceptr at, uint32_t *plain)
{
    pthread_t threads[THREADS];
    int made = 0;
    use(at, plain, sizes[1], 0);
    TRY(cuMemsetD32(at + sizes[1] * 4, 0, 1));
    while (made < THREADS && pthread_create(&threads[made], NULL, read_body,
                                            touch ? (void *)at : plain) == 0)
        made++;
    while (made > 0)
        pthread_join(threads[--made], NULL);
}

int main(int argc, char **argv)
{
    touch = argc > 1 && strcmp(argv[1], "touch") == 0;
    alarm(PATIENCE_S);
    begin();
    signal(SIGXFSZ, SIG_IGN); /* what the program writes is its own affair */
    for (unsigned round = 0; round < ROUNDS; round++) {
        CUdeviceptr at[ARRAYS];
        for (int i = 0; i < ARRAYS; i++) {
            uint32_t *plain = malloc(sizes[i] * 4);
            if (!plain)
                return puts("refused: malloc") < 0;
            TRY(cuMemAlloc(&at[i], sizes[i] * 4));
            if (touch && !can_touch(at[i]))
                return puts("without") < 0;
            use(at[i], plain, sizes[i], round + (unsigned)i);
            if (i == 0)
                use_threads(at[0], plain);
            free(plain);
        }
        for (int i = 0; i < ARRAYS; i++)
            TRY(cuMemFree(at[i]));
    }
    return puts("right") < 0;
}
