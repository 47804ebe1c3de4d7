/*
 * Memory: allocations of every kind, copies and fills in one to three
 * dimensions, what a pointer is.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/cudart/cudart_test.h"

START_TEST(allocations_of_nothing_and_too_much)
{
    void *p = (void *)8;
    size_t before, after, total;
    OK(cudaMalloc(&p, 0));
    ck_assert_ptr_null(p);
    WANT(cudaErrorMemoryAllocation, cudaMalloc(&p, (size_t)1 << 50));
    WANT(cudaErrorMemoryAllocation, cudaGetLastError());
    WANT(cudaErrorInvalidValue, cudaMalloc(NULL, 8));
    OK(cudaFree(NULL));
    WANT(cudaErrorInvalidValue, cudaFree((void *)&before));
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaMalloc(&p, 8 * MIB));
    OK(cudaMemGetInfo(&after, &total));
    ck_assert_uint_ge(before - after, 8 * MIB);
    OK(cudaFree(p));
    OK(cudaMemGetInfo(&after, &total));
    ck_assert_uint_eq(before, after);
    WANT(cudaErrorInvalidValue, cudaFree(p));
}
END_TEST

/* Each way to ask for device memory, alone in a process. */
static cudaError_t ask(int way, size_t bytes)
{
    void *p;
    cudaArray_t array;
    struct cudaChannelFormatDesc desc =
        cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    switch (way) {
    case 0:
        return cudaMalloc(&p, bytes);
    case 1:
        return cudaMallocAsync(&p, bytes, NULL);
    default:
        return cudaMallocArray(&array, &desc, 32768, bytes / 32768, 0);
    }
}

/* A program that gives up after three of them. */
static _Noreturn void give_up(int way)
{
    void *p;
    setenv("SOFTCUDA_MEMORY", "64M", 1);
    OK(cudaMalloc(&p, 40 * MIB));
    for (int i = 0; i < 3; i++)
        WANT(cudaErrorMemoryAllocation, ask(way, 32 * MIB));
    exit(1);
}

static void check_refusal(int way)
{
    struct captured said;
    capture_begin(&said);
    pid_t child = fork();
    if (child == 0)
        give_up(way);
    waitpid(child, NULL, 0);
    capture_end(&said);
    const char *line = strstr(said.text, "no room for 32.000 MiB");
    ck_assert_ptr_nonnull(line);
    ck_assert_ptr_nonnull(strstr(line, "of 64 MiB (SOFTCUDA_MEMORY)"));
    ck_assert_ptr_nonnull(strstr(line, "40.000 are in use and 24.000 free"));
    ck_assert_ptr_null(strstr(line + 1, "no room"));
}

START_TEST(program_that_ends_of_a_refused_allocation_says_so)
{
    check_refusal(0);
}
END_TEST

START_TEST(program_that_ends_of_a_refused_pool_allocation_says_so)
{
    check_refusal(1);
}
END_TEST

START_TEST(program_that_ends_of_a_refused_array_says_so)
{
    check_refusal(2);
}
END_TEST

/* A byte that tells its place. */
static uint8_t mark(size_t i)
{
    return (uint8_t)(i * 7 + i / 256);
}

START_TEST(every_kind_of_copy_moves_what_it_says)
{
    enum { N = 100000 };
    static uint8_t host[N], back[N];
    uint8_t *a, *b;
    for (size_t i = 0; i < N; i++)
        host[i] = mark(i);
    OK(cudaMalloc((void **)&a, N));
    OK(cudaMalloc((void **)&b, N));
    OK(cudaMemcpy(a, host, N, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b + 5, a, N - 5, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(back, b + 5, N - 5, cudaMemcpyDeviceToHost));
    ck_assert_mem_eq(back, host, N - 5);
    memset(back, 0, N);
    OK(cudaMemcpy(back, host, N, cudaMemcpyHostToHost));
    ck_assert_mem_eq(back, host, N);
    /* the direction follows from the pointers */
    memset(back, 0, N);
    OK(cudaMemset(a, 0, N));
    OK(cudaMemcpy(a, host, N, cudaMemcpyDefault));
    OK(cudaMemcpy(b, a, N, cudaMemcpyDefault));
    OK(cudaMemcpy(back, b, N, cudaMemcpyDefault));
    ck_assert_mem_eq(back, host, N);
    memset(back, 0, N);
    OK(cudaMemcpy(back, host, N, cudaMemcpyDefault));
    ck_assert_mem_eq(back, host, N);
}
END_TEST

START_TEST(wrong_copies_are_refused)
{
    char *p, host[64] = {0};
    OK(cudaMalloc((void **)&p, 64));
    WANT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpy(p, host, 8, (enum cudaMemcpyKind)5));
    WANT(cudaErrorInvalidMemcpyDirection,
         cudaMemcpy(p, host, 8, (enum cudaMemcpyKind) - 1));
    WANT(cudaErrorInvalidValue, cudaMemcpy(NULL, host, 8, cudaMemcpyDefault));
    WANT(cudaErrorInvalidValue, cudaMemcpy(p, NULL, 8, cudaMemcpyDefault));
    WANT(cudaErrorInvalidValue,
         cudaMemcpy(host, host, 8, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue,
         cudaMemcpy(host, host, 8, cudaMemcpyDeviceToHost));
    WANT(cudaErrorInvalidValue,
         cudaMemcpy(p, host, (size_t)1 << 40, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidValue, cudaMemset(host, 0, 8));
    WANT(cudaErrorInvalidValue, cudaMemset(p, 0, (size_t)1 << 40));
    WANT(cudaErrorInvalidPitchValue,
         cudaMemcpy2D(p, 4, host, 8, 8, 2, cudaMemcpyHostToDevice));
    WANT(cudaErrorInvalidPitchValue,
         cudaMemcpy2D(p, 8, host, 4, 8, 2, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(p, host, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(p, 8, host, 8, 0, 2, cudaMemcpyHostToDevice));
    cudaGetLastError();
    OK(cudaFree(p));
}
END_TEST

START_TEST(rectangles_keep_their_rows)
{
    enum { W = 37, H = 11, P = 48 };
    uint8_t host[H][W], back[H][P];
    uint8_t *p;
    size_t pitch;
    for (size_t i = 0; i < sizeof host; i++)
        host[i / W][i % W] = mark(i);
    OK(cudaMallocPitch((void **)&p, &pitch, W, H));
    ck_assert_uint_ge(pitch, W);
    OK(cudaMemset2D(p, pitch, 0xee, pitch, H));
    OK(cudaMemcpy2D(p, pitch, host, W, W, H, cudaMemcpyHostToDevice));
    memset(back, 0x11, sizeof back);
    OK(cudaMemcpy2D(back, P, p, pitch, W + 2, H, cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++) {
        ck_assert_mem_eq(back[y], host[y], W);
        ck_assert_uint_eq(back[y][W], 0xee);
        ck_assert_uint_eq(back[y][W + 2], 0x11);
    }
    /* one column becomes one row, direction inferred */
    memset(back, 0, sizeof back);
    OK(cudaMemcpy2D(back, 1, p + 3, pitch, 1, H, cudaMemcpyDefault));
    for (int y = 0; y < H; y++)
        ck_assert_uint_eq(back[0][y], host[y][3]);
    OK(cudaMemset2D(p + 1, pitch, 0, 2, H - 1));
    OK(cudaMemcpy2D(back, P, p, pitch, W, H, cudaMemcpyDeviceToHost));
    ck_assert(back[4][1] == 0 && back[4][2] == 0 && back[4][0] == host[4][0] &&
              back[4][3] == host[4][3] && back[H - 1][1] == host[H - 1][1]);
    OK(cudaFree(p));
    WANT(cudaErrorInvalidValue, cudaMallocPitch(NULL, &pitch, 4, 4));
}
END_TEST

START_TEST(boxes_keep_their_planes)
{
    enum { W = 20, H = 6, D = 5 };
    uint8_t host[D][H][W], back[D][H][W];
    struct cudaPitchedPtr box;
    for (size_t i = 0; i < sizeof host; i++)
        (&host[0][0][0])[i] = mark(i);
    OK(cudaMalloc3D(&box, (struct cudaExtent){W, H, D}));
    ck_assert_uint_eq(box.xsize, W);
    ck_assert_uint_eq(box.ysize, H);
    OK(cudaMemset3D(box, 0xdd, (struct cudaExtent){W, H, D}));
    /* the inner part: without the first column, row and plane */
    struct cudaMemcpy3DParms copy = {
        .srcPtr = {host, W, W, H},
        .srcPos = {1, 1, 1},
        .dstPtr = box,
        .dstPos = {1, 1, 1},
        .extent = {W - 1, H - 1, D - 1},
        .kind = cudaMemcpyHostToDevice,
    };
    OK(cudaMemcpy3D(&copy));
    struct cudaMemcpy3DParms all = {
        .srcPtr = box,
        .dstPtr = {back, W, W, H},
        .extent = {W, H, D},
        .kind = cudaMemcpyDefault,
    };
    OK(cudaMemcpy3DAsync(&all, NULL));
    OK(cudaDeviceSynchronize());
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                ck_assert_uint_eq(back[z][y][x],
                                  x && y && z ? host[z][y][x] : 0xdd);
    /* a pointer and an array at once, and neither */
    copy.dstPtr.ptr = NULL;
    WANT(cudaErrorInvalidValue, cudaMemcpy3D(&copy));
    WANT(cudaErrorInvalidValue, cudaMemcpy3D(NULL));
    OK(cudaFree(box.ptr));
    WANT(cudaErrorInvalidValue,
         cudaMalloc3D(NULL, (struct cudaExtent){W, H, D}));
    WANT(cudaErrorMemoryAllocation,
         cudaMalloc3D(&box, (struct cudaExtent){4, SIZE_MAX / 2, 4}));
}
END_TEST

START_TEST(fills_are_exact)
{
    uint8_t back[64], want[64], *p;
    OK(cudaMalloc((void **)&p, 64));
    OK(cudaMemset(p, 0, 64));
    OK(cudaMemset(p + 3, 0x1ab, 9)); /* a byte's worth of the value */
    OK(cudaMemsetAsync(p + 60, 0x77, 4, NULL));
    OK(cudaMemcpy(back, p, 64, cudaMemcpyDeviceToHost));
    memset(want, 0, 64);
    memset(want + 3, 0xab, 9);
    memset(want + 60, 0x77, 4);
    ck_assert_mem_eq(back, want, 64);
}
END_TEST

START_TEST(pinned_memory_is_seen_by_kernels)
{
    enum { N = 1000 };
    uint32_t *host, *device;
    unsigned flags;
    register_kernels();
    OK(cudaHostAlloc((void **)&host, N * 4, cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer((void **)&device, host, 0));
    OK(cudaHostGetFlags(&flags, host));
    ck_assert(flags & cudaHostAllocMapped);
    for (unsigned i = 0; i < N; i++)
        host[i] = i;
    OK(launch_add(count_of(8), count_of(128), device, N, 10, NULL));
    OK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < N; i++)
        ck_assert_uint_eq(host[i], i + 10);
    OK(cudaFreeHost(host));
    OK(cudaFreeHost(NULL));
    WANT(cudaErrorInvalidValue, cudaFreeHost(host));
    OK(cudaMallocHost((void **)&host, 0));
    ck_assert_ptr_null(host);
}
END_TEST

START_TEST(registered_memory_is_seen_by_kernels)
{
    uint32_t *host = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t *device;
    register_kernels();
    host[0] = 5;
    OK(cudaHostRegister(host, 8192, cudaHostRegisterMapped));
    WANT(cudaErrorHostMemoryAlreadyRegistered,
         cudaHostRegister(host, 8192, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer((void **)&device, host, 0));
    OK(launch_add(count_of(1), count_of(32), device, 32, 2, NULL));
    OK(cudaDeviceSynchronize());
    ck_assert(host[0] == 7 && host[31] == 2 && host[32] == 0);
    OK(cudaHostUnregister(host));
    WANT(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));
}
END_TEST

START_TEST(managed_memory_is_the_hosts_and_the_devices)
{
    enum { N = 3000 };
    uint32_t *both;
    register_kernels();
    OK(cudaMallocManaged((void **)&both, N * 4, cudaMemAttachGlobal));
    for (unsigned i = 0; i < N; i++)
        both[i] = i;
    OK(launch_add(count_of(24), count_of(128), both, N, 3, NULL));
    OK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < N; i++)
        ck_assert_uint_eq(both[i], i + 3);
    OK(cudaFree(both));
    WANT(cudaErrorInvalidValue, cudaMallocManaged((void **)&both, 8, 0));
    WANT(cudaErrorInvalidValue,
         cudaMallocManaged((void **)&both, 0, cudaMemAttachGlobal));
}
END_TEST

START_TEST(a_pointer_says_what_it_is)
{
    struct cudaPointerAttributes a;
    char *device, *pinned, *managed, stack;
    OK(cudaMalloc((void **)&device, 100));
    OK(cudaMallocHost((void **)&pinned, 100));
    OK(cudaMallocManaged((void **)&managed, 100, cudaMemAttachGlobal));
    OK(cudaPointerGetAttributes(&a, device + 7));
    ck_assert_int_eq(a.type, cudaMemoryTypeDevice);
    ck_assert_int_eq(a.device, 0);
    ck_assert_ptr_eq(a.devicePointer, device + 7);
    ck_assert_ptr_null(a.hostPointer);
    OK(cudaPointerGetAttributes(&a, pinned + 7));
    ck_assert_int_eq(a.type, cudaMemoryTypeHost);
    ck_assert_ptr_eq(a.hostPointer, pinned + 7);
    OK(cudaPointerGetAttributes(&a, managed));
    ck_assert_int_eq(a.type, cudaMemoryTypeManaged);
    ck_assert_ptr_eq(a.hostPointer, managed);
    ck_assert_ptr_eq(a.devicePointer, managed);
    OK(cudaPointerGetAttributes(&a, &stack));
    ck_assert_int_eq(a.type, cudaMemoryTypeUnregistered);
    ck_assert_ptr_null(a.devicePointer);
    WANT(cudaErrorInvalidValue, cudaPointerGetAttributes(NULL, device));
}
END_TEST

START_TEST(pools_give_memory_in_stream_order)
{
    cudaStream_t stream;
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX, used = 1;
    uint32_t *p, back[64];
    register_kernels();
    OK(cudaStreamCreate(&stream));
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    for (unsigned turn = 1; turn < 20; turn++) {
        OK(cudaMallocAsync((void **)&p, sizeof back, stream));
        OK(cudaMemsetAsync(p, 0, sizeof back, stream));
        OK(launch_add(count_of(1), count_of(64), p, 64, turn, stream));
        OK(cudaMemcpyAsync(back, p, sizeof back, cudaMemcpyDeviceToHost,
                           stream));
        OK(cudaFreeAsync(p, stream));
        OK(cudaStreamSynchronize(stream));
        ck_assert(back[0] == turn && back[63] == turn);
    }
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    ck_assert_uint_eq(used, 0);
    OK(cudaMemPoolTrimTo(pool, 0));
    OK(cudaStreamDestroy(stream));
}
END_TEST

SUITE_MAIN("cudart_memory", 60, allocations_of_nothing_and_too_much,
           program_that_ends_of_a_refused_allocation_says_so,
           program_that_ends_of_a_refused_pool_allocation_says_so,
           program_that_ends_of_a_refused_array_says_so,
           every_kind_of_copy_moves_what_it_says, wrong_copies_are_refused,
           rectangles_keep_their_rows, boxes_keep_their_planes, fills_are_exact,
           pinned_memory_is_seen_by_kernels,
           registered_memory_is_seen_by_kernels,
           managed_memory_is_the_hosts_and_the_devices,
           a_pointer_says_what_it_is, pools_give_memory_in_stream_order)
