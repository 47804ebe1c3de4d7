/*
 * A program of the driver API alone: its own context, allocations, pitched
 * rows, copies, a set, events; the kernel comes from this file's own image.
 */
#include "program.h"

#include <cuda.h>

#define DRIVER(call)                                                           \
    do {                                                                       \
        CUresult driver_result = (call);                                       \
        EXPECT(driver_result == CUDA_SUCCESS, "%d", (int)driver_result);       \
    } while (0)

static const char text[] = R"(
.version 6.4
.target sm_70
.address_size 64
.visible .entry sum_rows(.param .u64 data, .param .u64 pitch, .param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd2, [pitch];
    ld.param.u64 %rd3, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.s64 %rd5, %rd1, %rd4;
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
NEXT:
    ld.global.u32 %r4, [%rd5];
    add.u32 %r2, %r2, %r4;
    add.s64 %rd5, %rd5, %rd2;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 16;
    @%p1 bra NEXT;
    add.s64 %rd6, %rd3, %rd4;
    st.global.u32 [%rd6], %r2;
    ret;
}
)";

enum { WIDTH = 100, HEIGHT = 16 };

int main()
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr rows, out;
    CUevent start, stop;
    size_t pitch;
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
#if CUDA_VERSION >= 13000
    DRIVER(cuCtxCreate(&context, nullptr, 0, device));
#else
    DRIVER(cuCtxCreate(&context, 0, device));
#endif
    DRIVER(cuModuleLoadDataEx(&module, text, 0, nullptr, nullptr));
    DRIVER(cuModuleGetFunction(&kernel, module, "sum_rows"));
    DRIVER(cuMemAllocPitch(&rows, &pitch, WIDTH * 4, HEIGHT, 4));
    DRIVER(cuMemAlloc(&out, WIDTH * 4));
    DRIVER(cuEventCreate(&start, CU_EVENT_DEFAULT));
    DRIVER(cuEventCreate(&stop, CU_EVENT_DEFAULT));
    std::vector<unsigned> host(WIDTH * HEIGHT), got(WIDTH);
    Random random(39);
    for (unsigned &value : host)
        value = random.below(100000);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host.data();
    copy.srcPitch = WIDTH * 4;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = rows;
    copy.dstPitch = pitch;
    copy.WidthInBytes = WIDTH * 4;
    copy.Height = HEIGHT;
    DRIVER(cuEventRecord(start, nullptr));
    DRIVER(cuMemcpy2D(&copy));
    DRIVER(cuMemsetD32(out, 0x55555555, WIDTH));
    void *arguments[] = {&rows, &pitch, &out};
    DRIVER(cuLaunchKernel(kernel, 1, 1, 1, WIDTH, 1, 1, 0, nullptr, arguments,
                          nullptr));
    DRIVER(cuMemcpyDtoH(got.data(), out, WIDTH * 4));
    DRIVER(cuEventRecord(stop, nullptr));
    DRIVER(cuEventSynchronize(stop));
    float ms = -1;
    DRIVER(cuEventElapsedTime(&ms, start, stop));
    EXPECT(ms >= 0, "%g ms", ms);
    for (int x = 0; x < WIDTH; x++) {
        unsigned want = 0;
        for (int y = 0; y < HEIGHT; y++)
            want += host[y * WIDTH + x];
        EXPECT(got[x] == want, "column %d: %u, not %u", x, got[x], want);
    }
    CUdeviceptr base;
    size_t bytes;
    DRIVER(cuMemGetAddressRange(&base, &bytes, out + 40));
    EXPECT(base == out && bytes >= WIDTH * 4, "%zu bytes", bytes);
    DRIVER(cuEventDestroy(start));
    DRIVER(cuEventDestroy(stop));
    DRIVER(cuMemFree(rows));
    DRIVER(cuMemFree(out));
    DRIVER(cuModuleUnload(module));
    DRIVER(cuCtxDestroy(context));
    return pass("driver_only", "digest %016llx",
                (unsigned long long)digest(got));
}
