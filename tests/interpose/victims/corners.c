/*
 * Corners of the driver API: pitched memory and rectangles on it, address
 * ranges, bad pointers, contexts that go away, launches described in every
 * way.
 *
 *   explicit   arguments and results in plain memory
 *   touch      results read through the device pointer, and launch arguments
 *              and copy descriptions kept in device memory
 */
#include "victim.h"

static bool touch;
static CUfunction step;

/* Room for `bytes` that the CPU uses: plain, or device memory. */
static void *room(size_t bytes)
{
    CUdeviceptr at;
    if (!touch)
        return calloc(1, bytes);
    CHECK(cuMemAlloc(&at, bytes));
    CHECK(cuMemsetD8(at, 0, bytes));
    return (void *)at;
}

static uint64_t sum(CUdeviceptr from, size_t bytes)
{
    if (touch)
        return victim_hash((const uint8_t *)from, bytes);
    uint8_t *seen = malloc(bytes);
    CHECK(cuMemcpyDtoH(seen, from, bytes));
    uint64_t result = victim_hash(seen, bytes);
    free(seen);
    return result;
}

static void poke(CUdeviceptr to, uint8_t value)
{
    if (touch)
        *(volatile uint8_t *)to = value;
    else
        CHECK(cuMemcpyHtoD(to, &value, 1));
}

static void pitched(void)
{
    enum { WIDTH = 1000, HEIGHT = 700 };
    CUdeviceptr at, other, base;
    size_t pitch, pitch2, bytes;
    CHECK(cuMemAllocPitch(&at, &pitch, WIDTH, HEIGHT, 4));
    CHECK(cuMemAllocPitch(&other, &pitch2, WIDTH, HEIGHT, 16));
    CHECK(cuMemGetAddressRange(&base, &bytes, at + pitch * 5 + 3));
    printf("pitch %zu %zu base %d bytes %zu\n", pitch, pitch2, base == at,
           bytes);
    CHECK(cuMemsetD8(at, 1, pitch * HEIGHT));
    CHECK(cuMemsetD8(other, 2, pitch2 * HEIGHT));
    for (size_t i = 0; i < 40; i++)
        poke(at + i * 17171, (uint8_t)(i + 3));
    CHECK(cuMemsetD2D8(at + 5, pitch, 9, 333, 300));
    printf("%016llx\n", (unsigned long long)sum(at, pitch * HEIGHT));
    for (size_t i = 0; i < 40; i++)
        poke(at + i * 16001, (uint8_t)(i + 90));
    CHECK(cuMemsetD2D16(at + 100 * pitch, pitch, 0x1234, 77, 400));
    CHECK(cuMemsetD2D32(at + 60, pitch, 0xabcdef01, 11, 699));
    printf("%016llx\n", (unsigned long long)sum(at, pitch * HEIGHT));
    CUDA_MEMCPY2D *copy = room(sizeof *copy);
    *copy = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcDevice = at,
                            .srcPitch = pitch,
                            .srcXInBytes = 7,
                            .srcY = 50,
                            .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                            .dstDevice = other,
                            .dstPitch = pitch2,
                            .dstY = 3,
                            .WidthInBytes = 901,
                            .Height = 600};
    for (size_t i = 0; i < 40; i++)
        poke(other + i * 15013, (uint8_t)(i + 7));
    CHECK(cuMemcpy2D(copy));
    printf("%016llx\n", (unsigned long long)sum(other, pitch2 * HEIGHT));
    copy->Height = 0;
    printf("empty %d\n", cuMemcpy2D(copy));
    CHECK(cuMemFree(at));
    CHECK(cuMemFree(other));
}

/* All must be refused, the same as without us. */
static void refused(void)
{
    CUdeviceptr at, base;
    size_t bytes;
    char byte;
    CHECK(cuMemAlloc(&at, 5000));
    printf("%d", cuMemAlloc(NULL, 10));
    printf(" %d", cuMemAlloc(&base, 0));
    printf(" %d", cuMemAlloc(&base, (size_t)1 << 60));
    printf(" %d", cuMemAlloc(&base, SIZE_MAX));
    printf(" %d", cuMemFree(at + 256));
    printf(" %d", cuMemFree(0));
    printf(" %d", cuMemcpyHtoD(at, &byte, 0));
    CHECK(cuMemFree(at));
    printf(" %d", cuMemFree(at));
    printf(" %d", cuMemGetAddressRange(&base, &bytes, at));
    printf(" %d\n", cuMemcpyDtoH(&byte, 0x10, 1));
}

static void launches(void)
{
    enum { WORDS = 5000 };
    struct {
        CUdeviceptr words;
        unsigned n, k;
    } *values = room(4096), plain = {0, WORDS, 3};
    void **params = room(4096);
    CHECK(cuMemAlloc(&plain.words, WORDS * 4));
    CHECK(cuMemsetD32(plain.words, 5, WORDS));
    *values = plain;
    params[0] = &values->words;
    params[1] = &values->n;
    params[2] = &values->k;
    for (int i = 0; i < 3; i++) {
        values->k++;
        CHECK(cuLaunchKernel(step, WORDS / 100, 1, 1, 100, 1, 1, 0, NULL,
                             params, NULL));
    }
    printf("%016llx\n", (unsigned long long)sum(plain.words, WORDS * 4));
    size_t *bytes = room(4096);
    *bytes = sizeof plain;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, values,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, bytes, CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(step, WORDS / 100, 1, 1, 100, 1, 1, 0, NULL, NULL,
                         extra));
    CUlaunchConfig *config = room(4096);
    config->gridDimX = WORDS / 100;
    config->gridDimY = config->gridDimZ = 1;
    config->blockDimX = 100;
    config->blockDimY = config->blockDimZ = 1;
    CHECK(cuLaunchKernelEx(config, step, params, NULL));
    printf("%016llx\n", (unsigned long long)sum(plain.words, WORDS * 4));
    printf("%d\n", cuLaunchKernel(step, 1, 1, 1, 5000, 1, 1, 0, NULL, params,
                                  NULL) != CUDA_SUCCESS);
    printf("%016llx\n", (unsigned long long)sum(plain.words, WORDS * 4));
    CHECK(cuMemFree(plain.words));
}

static void contexts(void)
{
    CUdevice device;
    CUcontext first, second;
    CUdeviceptr at, there;
    CHECK(cuCtxGetCurrent(&first));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuMemAlloc(&at, 100000));
    CHECK(cuMemsetD8(at, 4, 100000));
    for (int i = 0; i < 3; i++) {
        CHECK(cuCtxCreate(&second, NULL, 0, device));
        CHECK(cuMemAlloc(&there, 50000));
        CHECK(cuMemsetD8(there, (unsigned char)i, 50000));
        poke(there + 49999, 77);
        CHECK(cuMemcpyDtoD(there + 1000, at + 5, 777));
        CHECK(cuMemcpyPeer(at + 90000, first, there, second, 5000));
        CHECK(cuCtxSynchronize());
        printf("%016llx\n", (unsigned long long)sum(there, 50000));
        CHECK(cuCtxDestroy(second));
        CHECK(cuCtxSetCurrent(first));
        poke(at + 7 + (size_t)i, 1);
        printf("%016llx\n", (unsigned long long)sum(at, 100000));
    }
    CHECK(cuMemFree(at));
}

static void last_release(void)
{
    CUdevice device;
    CUcontext context;
    CUdeviceptr at;
    CHECK(cuDeviceGet(&device, 0));
    for (int i = 0; i < 3; i++) {
        CHECK(cuMemAlloc(&at, 3 << 20));
        poke(at + 5, 3);
        CHECK(cuDevicePrimaryCtxRelease(device));
        CHECK(cuDevicePrimaryCtxRetain(&context, device));
        CHECK(cuCtxSetCurrent(context));
        CHECK(cuMemAlloc(&at, 3 << 20));
        CHECK(cuMemsetD8(at, 6, 3 << 20));
        printf("%016llx\n", (unsigned long long)sum(at, 3 << 20));
    }
}

int main(int argc, char **argv)
{
    CUmodule module;
    touch = argc > 1 && strcmp(argv[1], "touch") == 0;
    victim_start();
    CHECK(cuModuleLoadData(&module, victim_ptx));
    CHECK(cuModuleGetFunction(&step, module, "step"));
    pitched();
    refused();
    launches();
    contexts();
    last_release();
    return 0;
}
