/*
 * Calls of the driver with no pointer, no bytes and far too many: what each
 * answers, what memory is like after it, and that the context still works.
 *
 *   explicit   memory is filled and looked at by copies
 *   touch      by the CPU, through the device pointer
 */
#include "victim.h"

enum { BYTES = 200000, SMALL = 1000, SIDES = 7, COUNTS = 10 };

static CUdeviceptr large, small;
static uint8_t *host, *seen;
static CUarray array;
static const size_t counts[COUNTS] = {0,
                                      1,
                                      4,
                                      BYTES,
                                      BYTES + 1,
                                      SIZE_MAX,
                                      SIZE_MAX - 3,
                                      SIZE_MAX / 2,
                                      (size_t)1 << 40,
                                      SIZE_MAX / 4 + 1};

static bool touch;

static void fill(CUdeviceptr to, size_t bytes)
{
    if (touch)
        for (size_t i = 0; i < bytes; i++)
            ((volatile uint8_t *)to)[i] = host[i];
    else
        CHECK(cuMemcpyHtoD(to, host, bytes));
}

static uint64_t hash_of(CUdeviceptr from, size_t bytes)
{
    if (touch)
        return victim_hash((const uint8_t *)from, bytes);
    memset(seen, 0, bytes);
    CHECK(cuMemcpyDtoH(seen, from, bytes));
    return victim_hash(seen, bytes);
}

static void reset(void)
{
    for (size_t i = 0; i < BYTES; i++)
        host[i] = victim_byte(i, 3);
    fill(large, BYTES);
    fill(small, SMALL);
}

/* The call's result, what it left, and whether the context is well. */
static void after(const char *name, size_t i, size_t k, size_t n,
                  CUresult result)
{
    printf("%s %zu %zu %zu: %d", name, i, k, n, result);
    CUresult wait = cuCtxSynchronize();
    uint64_t hash = hash_of(large, BYTES) * 31 + hash_of(small, SMALL);
    printf(" %d %016llx\n", wait, (unsigned long long)hash);
    if (result == CUDA_SUCCESS)
        reset();
}

static const char *const side_names[SIDES] = {
    "null", "large", "inside", "last", "small", "bottom", "top"};

static CUdeviceptr side(size_t i)
{
    CUdeviceptr sides[SIDES] = {0,     large, large + 1000,   large + BYTES - 4,
                                small, 16,    (CUdeviceptr)-8};
    return sides[i];
}

#define TRY(name, i, k, n, call)                                               \
    after(name, (size_t)(i), (size_t)(k), n, (call))

static void lines(void)
{
    for (size_t i = 0; i < SIDES; i++)
        for (size_t c = 0; c < COUNTS; c++) {
            size_t n = counts[c];
            printf("%s ", side_names[i]);
            TRY("D8", i, 0, n, cuMemsetD8(side(i), 1, n));
            TRY("D16", i, 0, n, cuMemsetD16(side(i), 2, n));
            TRY("D32", i, 0, n, cuMemsetD32(side(i), 3, n));
            TRY("D32Async", i, 0, n, cuMemsetD32Async(side(i), 3, n, NULL));
            TRY("DtoD", i, 1, n, cuMemcpyDtoD(side(i), large, n));
            TRY("DtoD", 1, i, n, cuMemcpyDtoD(large, side(i), n));
            TRY("DtoDAsync", i, 1, n,
                cuMemcpyDtoDAsync(side(i), large + 4096, n, NULL));
            TRY("Async", i, 1, n, cuMemcpyAsync(side(i), large, n, NULL));
            TRY("copy", 1, i, n, cuMemcpy(large, side(i), n));
        }
}

/* One side is the host's; never more of it than there is. */
static void hosts(void)
{
    for (size_t i = 0; i < SIDES; i++)
        for (size_t c = 0; c < 4; c++) {
            size_t n = counts[c];
            printf("%s ", side_names[i]);
            TRY("HtoD", i, 0, n, cuMemcpyHtoD(side(i), host, n));
            TRY("DtoH", i, 0, n, cuMemcpyDtoH(seen, side(i), n));
            TRY("HtoDAsync", i, 0, n,
                cuMemcpyHtoDAsync(side(i), host, n, NULL));
            TRY("HtoA", i, 0, n % 65536,
                cuMemcpyHtoA(array, 0, host, n % 65536));
            TRY("DtoA", i, 0, n, cuMemcpyDtoA(array, 0, side(i), n));
            TRY("AtoD", i, 0, n, cuMemcpyAtoD(side(i), array, 0, n));
        }
    TRY("HtoD", 9, 0, 0, cuMemcpyHtoD(large, NULL, 0));
    TRY("DtoH", 9, 0, 0, cuMemcpyDtoH(NULL, large, 0));
}

/* Rows: a pitch and a height of which the product does not fit. */
static void rows(void)
{
    static const size_t some[] = {0, 3, 512, (size_t)1 << 33, SIZE_MAX};
    enum { SOME = sizeof some / sizeof *some };
    for (size_t p = 0; p < SOME; p++)
        for (size_t w = 0; w < SOME; w++)
            for (size_t h = 0; h < SOME; h++) {
                CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .srcDevice = large + 150000,
                                      .srcPitch = some[p],
                                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .dstDevice = large,
                                      .dstPitch = some[p],
                                      .WidthInBytes = some[w],
                                      .Height = some[h]};
                printf("%zx %zx ", some[p], some[w]);
                TRY("D2D8", p, w, some[h],
                    cuMemsetD2D8(large, some[p], 9, some[w], some[h]));
                TRY("D2D32", p, w, some[h],
                    cuMemsetD2D32(large, some[p], 9, some[w], some[h]));
                TRY("2D", p, w, some[h], cuMemcpy2D(&copy));
                TRY("2DUnaligned", p, w, some[h], cuMemcpy2DUnaligned(&copy));
            }
    TRY("2D", 0, 0, 0, cuMemcpy2D(NULL));
    TRY("2DAsync", 0, 0, 0, cuMemcpy2DAsync(NULL, NULL));
    TRY("3D", 0, 0, 0, cuMemcpy3D(NULL));
    TRY("3DPeer", 0, 0, 0, cuMemcpy3DPeer(NULL));
}

/* Types of a side that there are not; offsets that go round. */
static void odd_rows(void)
{
    for (int type = 0; type < 7; type++) {
        CUDA_MEMCPY2D copy = {.srcMemoryType = (CUmemorytype)type,
                              .srcDevice = large,
                              .srcPitch = 512,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = large + 150000,
                              .dstPitch = 512,
                              .WidthInBytes = 100,
                              .Height = 10};
        TRY("type", type, 0, 0, cuMemcpy2D(&copy));
        copy.dstXInBytes = SIZE_MAX;
        TRY("x", type, 0, 0, cuMemcpy2D(&copy));
        copy.dstXInBytes = 0;
        copy.srcY = SIZE_MAX / 512;
        TRY("y", type, 0, 0, cuMemcpy2D(&copy));
        CUDA_MEMCPY3D box = {.srcMemoryType = (CUmemorytype)type,
                             .srcDevice = large,
                             .srcPitch = 512,
                             .srcHeight = 4,
                             .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                             .dstDevice = large + 150000,
                             .dstPitch = 512,
                             .dstHeight = 4,
                             .WidthInBytes = 100,
                             .Height = 3,
                             .Depth = 4};
        TRY("box", type, 0, 0, cuMemcpy3D(&box));
        box.dstHeight = 1;
        TRY("low", type, 0, 0, cuMemcpy3D(&box));
        box.dstHeight = SIZE_MAX;
        if (type != CU_MEMORYTYPE_ARRAY) /* which of two faults is said? */
            TRY("high", type, 0, 0, cuMemcpy3D(&box));
        box.dstHeight = 4;
        box.srcZ = SIZE_MAX;
        TRY("z", type, 0, 0, cuMemcpy3D(&box));
    }
}

static void allocations(void)
{
    static const size_t sizes[] = {0, SIZE_MAX, SIZE_MAX / 2 + 1,
                                   (size_t)1 << 50};
    size_t pitch;
    for (size_t i = 0; i < 4; i++) {
        CUdeviceptr made = 7;
        TRY("alloc", i, 0, 0, cuMemAlloc(&made, sizes[i]));
        TRY("nowhere", i, 0, 0, cuMemAlloc(NULL, sizes[i]));
        pitch = 5;
        TRY("pitch", i, 0, 0, cuMemAllocPitch(&made, &pitch, sizes[i], 1, 4));
        TRY("height", i, 0, 0,
            cuMemAllocPitch(&made, &pitch, 100, sizes[i], 4));
        TRY("both", i, 0, 0,
            cuMemAllocPitch(&made, &pitch, sizes[i], sizes[i], 16));
        printf("made %d\n", made == 7);
    }
    for (unsigned element = 0; element < 20; element++) {
        CUdeviceptr made;
        CUresult result = cuMemAllocPitch(&made, &pitch, 100, 3, element);
        TRY("element", element, 0, 0, result);
        if (result == CUDA_SUCCESS)
            CHECK(cuMemFree(made));
    }
    TRY("no pitch", 0, 0, 0, cuMemAllocPitch(&large, NULL, 100, 3, 4));
    for (size_t i = 0; i < SIDES; i++)
        if (side(i) != large && side(i) != small)
            TRY("free", i, 0, 0, cuMemFree(side(i)));
}

static void questions(void)
{
    CUdeviceptr base;
    size_t bytes;
    unsigned type = 0;
    void *answers[] = {&type};
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    for (size_t i = 0; i < SIDES; i++) {
        base = bytes = 0;
        TRY("range", i, 0, 0, cuMemGetAddressRange(&base, &bytes, side(i)));
        TRY("base", i, 0, 0, cuMemGetAddressRange(&base, NULL, side(i)));
        TRY("bytes", i, 0, 0, cuMemGetAddressRange(NULL, &bytes, side(i)));
        TRY("neither", i, 0, 0, cuMemGetAddressRange(NULL, NULL, side(i)));
        printf("%d %zu\n", base == large, bytes);
        TRY("attribute", i, 0, 0,
            cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  side(i)));
        TRY("which", i, 0, 0,
            cuPointerGetAttribute(&type, (CUpointer_attribute)777, side(i)));
        TRY("none", i, 0, 0,
            cuPointerGetAttributes(0, which, answers, side(i)));
        TRY("no list", i, 0, 0,
            cuPointerGetAttributes(1, NULL, answers, side(i)));
        TRY("no place", i, 0, 0,
            cuPointerGetAttributes(1, which, NULL, side(i)));
        TRY("set", i, 0, 0,
            cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                                  side(i)));
        TRY("unmap", i, 0, 0, cuMemUnmap(side(i), SIZE_MAX));
        TRY("access", i, 0, 0, cuMemSetAccess(side(i), SIZE_MAX, NULL, 0));
        TRY("retain", i, 0, 0,
            cuMemRetainAllocationHandle(NULL, (void *)side(i)));
        TRY("register", i, 0, 0,
            cuMemHostRegister((void *)side(i), SIZE_MAX, 0));
        TRY("register", i, 1, 0, cuMemHostRegister((void *)side(i), 0, 0));
        TRY("write", i, 0, 0, cuStreamWriteValue32(NULL, side(i) | 2, 1, 0));
        TRY("flags", i, 0, 0, cuStreamWriteValue32(NULL, side(i), 1, 0x77));
    }
    TRY("batch", 0, 0, 0, cuStreamBatchMemOp(NULL, 1, NULL, 0));
    TRY("batch", 1, 0, 0, cuStreamBatchMemOp(NULL, 0, NULL, 0));
}

/* Handles of nothing. */
static void handles(CUfunction kernel)
{
    void *params[3] = {&large, &large, &large};
    CUlaunchConfig how = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1};
    CUgraphNode node;
    TRY("launch", 0, 0, 0,
        cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    TRY("grid", 0, 0, 0,
        cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    TRY("block", 0, 0, 0,
        cuLaunchKernel(kernel, 1, 1, 1, 4096, 1, 1, 0, NULL, params, NULL));
    TRY("shared", 0, 0, 0,
        cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, UINT32_MAX, NULL, params,
                       NULL));
    TRY("cooperative", 0, 0, 0,
        cuLaunchCooperativeKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params));
    TRY("ex", 0, 0, 0, cuLaunchKernelEx(NULL, kernel, params, NULL));
    TRY("ex", 1, 0, 0, cuLaunchKernelEx(&how, NULL, params, NULL));
    TRY("ex", 2, 0, 0, cuLaunchKernelEx(&how, kernel, params, NULL));
    TRY("graph", 0, 0, 0, cuGraphLaunch(NULL, NULL));
    TRY("host", 0, 0, 0, cuLaunchHostFunc(NULL, NULL, NULL));
    TRY("callback", 0, 0, 0, cuStreamAddCallback(NULL, NULL, NULL, 0));
    TRY("node", 0, 0, 0, cuGraphAddHostNode(&node, NULL, NULL, 0, NULL));
    TRY("event", 0, 0, 0, cuEventSynchronize(NULL));
    TRY("stream", 0, 0, 0, cuStreamDestroy(NULL));
    TRY("context", 0, 0, 0, cuCtxDestroy(NULL));
    TRY("module", 0, 0, 0, cuModuleUnload(NULL));
    TRY("image", 0, 0, 0, cuModuleLoadData(NULL, NULL));
    TRY("reset", 0, 0, 0, cuDevicePrimaryCtxReset(99));
    TRY("release", 0, 0, 0, cuDevicePrimaryCtxRelease(-1));
    TRY("retain", 0, 0, 0, cuDevicePrimaryCtxRetain(NULL, 0));
    TRY("peer", 0, 0, 0, cuCtxEnablePeerAccess(NULL, 0));
    TRY("peer", 1, 0, 0, cuCtxDisablePeerAccess(NULL));
}

int main(int argc, char **argv)
{
    CUmodule module;
    CUfunction kernel;
    CUDA_ARRAY_DESCRIPTOR shape = {4096, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    touch = argc > 1 && strcmp(argv[1], "touch") == 0;
    victim_start();
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&kernel, module, "step"));
    CHECK(cuMemAlloc(&large, BYTES));
    CHECK(cuMemAlloc(&small, SMALL));
    CHECK(cuArrayCreate(&array, &shape));
    host = malloc(BYTES);
    seen = malloc(BYTES);
    reset();
    lines();
    hosts();
    rows();
    odd_rows();
    allocations();
    questions();
    handles(kernel);
    return 0;
}
