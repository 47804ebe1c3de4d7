/*
 * Memory of another process: handles, what is opened by them, and its end.
 *
 * Two processes in each case, which know the driver only after the fork and meet
 * by pipes.
 */
#include <stdbool.h>
#include <sys/wait.h>

#include "tests/driver/driver_test.h"

enum { LARGE = 3 << 20, SMALL = 1000, SHIFT = 512 };

static int there[2], back[2];

static void pass(int *pipe, const void *bytes, size_t n)
{
    ck_assert_int_eq(write(pipe[1], bytes, n), (ssize_t)n);
}

static void get(int *pipe, void *bytes, size_t n)
{
    ck_assert_int_eq(read(pipe[0], bytes, n), (ssize_t)n);
}

/* Fork; the child is that which opens. */
static pid_t part(void)
{
    ck_assert_int_eq(pipe(there), 0);
    ck_assert_int_eq(pipe(back), 0);
    return fork();
}

/* A status of 0: it has seen nothing wrong, which Check cannot tell of it. */
static void join(pid_t child)
{
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

#define MUST(condition)                                                        \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);            \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)

static CUdeviceptr open_next(void)
{
    CUipcMemHandle handle;
    CUdeviceptr at = 0, again = 0;
    MUST(read(there[0], &handle, sizeof handle) == sizeof handle);
    MUST(cuIpcOpenMemHandle(&at, handle, 1) == CUDA_SUCCESS);
    /* once more is the same */
    MUST(cuIpcOpenMemHandle(&again, handle, 1) == CUDA_SUCCESS);
    MUST(again == at);
    MUST(cuIpcCloseMemHandle(at) == CUDA_SUCCESS);
    return at;
}

/* It reads what the other one has written, and writes something else: by a copy,
 * by a set, and with a copy inside the device, which the device makes. */
static void change(CUdeviceptr at, size_t bytes, uint64_t seed)
{
    uint8_t *want = malloc(bytes), *got = malloc(bytes);
    CUdeviceptr own;
    fill_random(want, bytes, seed);
    MUST(cuMemcpyDtoH(got, at, bytes) == CUDA_SUCCESS);
    MUST(memcmp(want, got, bytes) == 0);
    MUST(cuMemAlloc(&own, bytes) == CUDA_SUCCESS);
    MUST(cuMemcpyDtoD(own, at, bytes) == CUDA_SUCCESS);
    MUST(cuMemcpyDtoH(got, own, bytes) == CUDA_SUCCESS);
    MUST(memcmp(want, got, bytes) == 0);
    fill_random(want, bytes, seed + 1);
    MUST(cuMemcpyHtoD(at, want, bytes) == CUDA_SUCCESS);
    MUST(cuMemsetD8(at + 10, 7, bytes / 2) == CUDA_SUCCESS);
    MUST(cuCtxSynchronize() == CUDA_SUCCESS);
    free(want);
    free(got);
}

static void opens(void)
{
    CUcontext ctx;
    size_t bytes;
    CUdeviceptr base;
    char done = 0;
    MUST(cuInit(0) == CUDA_SUCCESS);
    MUST(cuCtxCreate(&ctx, NULL, 0, 0) == CUDA_SUCCESS);
    CUdeviceptr large = open_next(), small = open_next();
    MUST(cuMemGetAddressRange(&base, &bytes, small + 5) == CUDA_SUCCESS);
    MUST(base == small && bytes == SMALL);
    change(large, LARGE, 1);
    change(small, SMALL, 5);
    MUST(cuMemFree(large) == CUDA_ERROR_INVALID_VALUE);
    MUST(cuIpcCloseMemHandle(large) == CUDA_SUCCESS);
    MUST(cuIpcCloseMemHandle(large) == CUDA_ERROR_INVALID_VALUE);
    MUST(cuMemcpyDtoH(&done, large, 1) == CUDA_ERROR_INVALID_VALUE);
    MUST(cuMemcpyDtoH(&done, small, 1) == CUDA_SUCCESS);
    MUST(write(back[1], &done, 1) == 1);
    MUST(cuCtxDestroy(ctx) == CUDA_SUCCESS); /* closes what is left */
    _exit(0);
}

static CUdeviceptr export_new(size_t bytes, uint64_t seed)
{
    CUdeviceptr at;
    CUipcMemHandle handle;
    uint8_t *text = malloc(bytes);
    fill_random(text, bytes, seed);
    OK(cuMemAlloc(&at, bytes));
    OK(cuMemcpyHtoD(at, text, bytes));
    OK(cuIpcGetMemHandle(&handle, at));
    WANT(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, at + 1));
    CUdeviceptr own;
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle(&own, handle, 1));
    OK(cuIpcGetMemHandle(&handle, at));
    pass(there, &handle, sizeof handle);
    free(text);
    return at;
}

static void expect(CUdeviceptr at, size_t bytes, uint64_t seed)
{
    uint8_t *want = malloc(bytes), *got = malloc(bytes);
    fill_random(want, bytes, seed + 1);
    memset(want + 10, 7, bytes / 2);
    OK(cuMemcpyDtoH(got, at, bytes));
    ck_assert_int_eq(memcmp(want, got, bytes), 0);
    free(want);
    free(got);
}

START_TEST(both_use_the_same_memory)
{
    pid_t child = part();
    if (child == 0)
        opens();
    char done;
    CUdeviceptr first;
    CUcontext ctx = begin();
    OK(cuMemAlloc(&first, SHIFT)); /* the small one is not the page's first */
    CUdeviceptr large = export_new(LARGE, 1), small = export_new(SMALL, 5);
    get(back, &done, 1);
    expect(large, LARGE, 1);
    expect(small, SMALL, 5);
    join(child);
    OK(cuCtxDestroy(ctx));
}
END_TEST

static void outlives(void)
{
    uint8_t got[SMALL], want[SMALL];
    char done;
    CUcontext ctx;
    MUST(cuInit(0) == CUDA_SUCCESS);
    MUST(cuCtxCreate(&ctx, NULL, 0, 0) == CUDA_SUCCESS);
    CUdeviceptr at = open_next();
    MUST(write(back[1], "", 1) == 1);
    close(there[1]);
    MUST(read(there[0], &done, 1) == 0); /* the other one is gone */
    MUST(cuMemcpyDtoH(got, at, SMALL) == CUDA_SUCCESS);
    fill_random(want, SMALL, 3);
    MUST(memcmp(got, want, SMALL) == 0);
    _exit(0);
}

START_TEST(what_is_open_outlives_its_process)
{
    pid_t child = part();
    if (child == 0)
        outlives();
    pid_t other = fork();
    if (other == 0) {
        char done;
        begin();
        export_new(SMALL, 3);
        get(back, &done, 1);
        _exit(0);
    }
    close(there[1]);
    join(other);
    join(child);
}
END_TEST

START_TEST(what_is_no_handle_is_refused)
{
    CUipcMemHandle handle = {{0}};
    CUdeviceptr at, pool;
    begin();
    WANT(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&at, handle, 1));
    WANT(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, 4096));
    OK(cuMemAllocAsync(&pool, 4096, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, pool));
    OK(cuMemAlloc(&at, 4096));
    WANT(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(at));
}
END_TEST

SUITE_MAIN("softcuda driver: memory of other processes", 60,
           both_use_the_same_memory, what_is_open_outlives_its_process,
           what_is_no_handle_is_refused)
