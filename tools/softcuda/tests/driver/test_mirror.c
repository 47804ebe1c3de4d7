/*
 * Registered memory that kernels use: it stays the program's own.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/driver/driver_test.h"
#include "tests/driver/kernels.h"

static CUfunction add_kernel(void)
{
    CUmodule module;
    CUfunction add;
    begin();
    OK(cuModuleLoadData(&module, kernels_ptx));
    OK(cuModuleGetFunction(&add, module, "add"));
    return add;
}

static void add(CUfunction f, CUdeviceptr p, uint32_t n, uint32_t v,
                CUstream stream)
{
    void *params[] = {&p, &n, &v};
    OK(cuLaunchKernel(f, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, params,
                      NULL));
}

static CUdeviceptr show(void *at, size_t bytes)
{
    CUdeviceptr d;
    OK(cuMemHostRegister(at, bytes, CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&d, at, 0));
    return d;
}

START_TEST(stack_of_a_running_function_is_registered)
{
    CUfunction f = add_kernel();
    uint32_t x[64] = {1};
    CUdeviceptr d = show(x, sizeof x);
    add(f, d, 64, 41, NULL);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(x[0], 42);
    ck_assert_uint_eq(x[63], 41);
    OK(cuMemHostUnregister(x));
    ck_assert_uint_eq(x[0], 42);
}
END_TEST

static atomic_bool enough;
static _Atomic unsigned lost;

/* Count in a byte that nobody else writes to. */
static void *count_up(void *argument)
{
    volatile uint8_t *cell = argument;
    uint8_t n = *cell;
    while (!atomic_load(&enough)) {
        if (*cell != n)
            atomic_fetch_add(&lost, 1);
        *cell = ++n;
    }
    return NULL;
}

START_TEST(stores_of_other_threads_are_kept)
{
    enum { WORDS = 1 << 20, ROUNDS = 20 };
    CUfunction f = add_kernel();
    uint32_t *heap = malloc(4 * (WORDS + 2));
    pthread_t threads[3];
    memset(heap, 1, 4 * (WORDS + 2));
    /* before it, behind it, and in the midst of what kernels leave alone */
    uint8_t *cells[3] = {(uint8_t *)heap + 3, (uint8_t *)(heap + WORDS + 1),
                         (uint8_t *)(heap + WORDS / 2) + 1};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, count_up, cells[i]);
    for (int i = 0; i < ROUNDS; i++) {
        CUdeviceptr d = show(heap + 1, 4 * WORDS);
        add(f, d, WORDS / 4, 1, NULL);
        OK(cuCtxSynchronize());
        OK(cuMemHostUnregister(heap + 1));
    }
    atomic_store(&enough, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(lost, 0);
    ck_assert_uint_eq(heap[1], 0x01010101 + ROUNDS);
    ck_assert_uint_eq(heap[WORDS / 4], 0x01010101 + ROUNDS);
    free(heap);
}
END_TEST

START_TEST(odd_ranges_touch_their_bytes_only)
{
    uint64_t seed = 5;
    uint8_t *bytes = malloc(8192), before[8192];
    CUfunction f = add_kernel();
    (void)f;
    for (int round = 0; round < 200; round++) {
        unsigned at = next_random(&seed) % 4200,
                 n = 1 + next_random(&seed) % 99;
        fill_random(bytes, 8192, seed);
        memcpy(before, bytes, 8192);
        CUdeviceptr d = show(bytes + at, n);
        unsigned skip = next_random(&seed) % n;
        OK(cuMemsetD8(d + skip, 0x5c, n - skip));
        for (unsigned i = 0; i < 8192; i++)
            ck_assert_uint_eq(bytes[i],
                              i >= at + skip && i < at + n ? 0x5c : before[i]);
        OK(cuMemHostUnregister(bytes + at));
    }
    free(bytes);
}
END_TEST

START_TEST(children_have_memory_of_their_own)
{
    CUfunction f = add_kernel();
    uint32_t *a = aligned_alloc(4096, 4096);
    memset(a, 0, 4096);
    CUdeviceptr d = show(a, 4096);
    add(f, d, 1024, 1, NULL);
    OK(cuCtxSynchronize());
    pid_t child = fork();
    if (child == 0) {
        memset(a, 9, 4096);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_uint_eq(a[5], 1);
    add(f, d, 1024, 1, NULL);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(a[5], 2);
    OK(cuMemHostUnregister(a));
    free(a);
}
END_TEST

START_TEST(copies_by_the_device_pointer_are_of_the_memory)
{
    CUdeviceptr p;
    void *seen;
    uint32_t a[100], back[100];
    CUfunction f = add_kernel();
    for (uint32_t i = 0; i < 100; i++)
        a[i] = i;
    CUdeviceptr d = show(a, sizeof a);
    OK(cuMemAlloc(&p, sizeof a));
    OK(cuMemcpyDtoD(p, d, sizeof a));
    add(f, p, 100, 7, NULL);
    OK(cuMemcpyDtoD(d, p, sizeof a));
    ck_assert_uint_eq(a[99], 106);
    a[99] = 5;
    OK(cuMemcpyDtoH(back, d, sizeof a));
    ck_assert_uint_eq(back[99], 5);
    back[0] = 77;
    OK(cuMemcpyHtoD(d, back, sizeof back));
    ck_assert_uint_eq(a[0], 77);
    OK(cuPointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_HOST_POINTER, d + 8));
    ck_assert_ptr_eq(seen, &a[2]);
    WANT(CUDA_ERROR_INVALID_VALUE,
         cuMemFreeHost((void *)(uintptr_t)(d & ~4095ull)));
    OK(cuMemHostUnregister(a));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(back, d, sizeof a));
}
END_TEST

static uint32_t seen_by_host;

static void CUDA_CB look(void *at)
{
    seen_by_host = *(uint32_t *)at;
}

START_TEST(streams_and_graphs_keep_their_order)
{
    CUstream one, two;
    CUevent done;
    CUgraph graph;
    CUgraphExec exec;
    static uint32_t a[5000];
    CUfunction f = add_kernel();
    CUdeviceptr d = show(a, sizeof a);
    OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&done, 0));
    for (int i = 0; i < 50; i++)
        add(f, d, 5000, 1, one);
    OK(cuEventRecord(done, one));
    OK(cuStreamWaitEvent(two, done, 0));
    OK(cuLaunchHostFunc(two, look, &a[4999]));
    OK(cuStreamSynchronize(two));
    ck_assert_uint_eq(seen_by_host, 50);
    OK(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 10; i++)
        add(f, d, 5000, 2, one);
    OK(cuStreamEndCapture(one, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    a[0] = 1000;
    OK(cuGraphLaunch(exec, one));
    OK(cuStreamSynchronize(one));
    ck_assert_uint_eq(a[0], 1020);
    ck_assert_uint_eq(a[4999], 70);
    OK(cuStreamWriteValue32(one, d + 4, 123, 0));
    OK(cuStreamWaitValue32(one, d + 4, 123, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamSynchronize(one));
    ck_assert_uint_eq(a[1], 123);
    OK(cuMemHostUnregister(a));
}
END_TEST

START_TEST(memory_that_is_gone_is_left_alone)
{
    CUdeviceptr d;
    CUfunction f = add_kernel();
    uint32_t *gone = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *kept = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUdeviceptr g = show(gone, 8192), k = show(kept, 8192);
    munmap(gone, 8192);
    add(f, g, 2048, 1, NULL);
    add(f, k, 2048, 1, NULL);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(kept[2047], 1);
    OK(cuMemHostUnregister(gone));
    mprotect(kept, 8192, PROT_READ);
    add(f, k, 2048, 1, NULL);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(kept[0], 1);
    mprotect(kept, 8192, PROT_NONE);
    OK(cuMemHostUnregister(kept));
    OK(cuMemHostRegister(kept, 8192, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&d, kept, 0));
}
END_TEST

static void *launch_many(void *argument)
{
    CUdeviceptr d = *(CUdeviceptr *)argument;
    CUcontext ctx;
    CUstream stream;
    CUmodule module;
    CUfunction f;
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuModuleLoadData(&module, kernels_ptx));
    OK(cuModuleGetFunction(&f, module, "add"));
    for (int i = 0; i < 100; i++)
        add(f, d, 3000, 1, stream);
    OK(cuStreamSynchronize(stream));
    return NULL;
}

START_TEST(threads_launch_on_ranges_of_their_own)
{
    enum { THREADS = 4 };
    CUcontext ctx;
    pthread_t threads[THREADS];
    static uint32_t a[THREADS][3001];
    CUdeviceptr d[THREADS];
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    for (int i = 0; i < THREADS; i++) {
        d[i] = show(a[i], 12000);
        pthread_create(&threads[i], NULL, launch_many, &d[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert(a[i][0] == 100 && a[i][2999] == 100 && a[i][3000] == 0);
        OK(cuMemHostUnregister(a[i]));
    }
}
END_TEST

SUITE_MAIN("softcuda driver: mirrors of registered memory", 60,
           stack_of_a_running_function_is_registered,
           stores_of_other_threads_are_kept, odd_ranges_touch_their_bytes_only,
           children_have_memory_of_their_own,
           copies_by_the_device_pointer_are_of_the_memory,
           streams_and_graphs_keep_their_order,
           memory_that_is_gone_is_left_alone,
           threads_launch_on_ranges_of_their_own)
