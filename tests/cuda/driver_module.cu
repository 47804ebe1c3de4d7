/*
 * The driver API beside the runtime: PTX text loaded and launched, its
 * variables reached by name, with memory and streams of the runtime.
 */
#include "program.h"

#include <cuda.h>

#define DRIVER(call) check_driver((call), #call, __LINE__)

static void check_driver(CUresult result, const char *call, int line)
{
    const char *name = "?";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    printf("FAIL line %d: %s: %s\n", line, call, name);
    exit(EXIT_FAILURE);
}

static const char text[] = R"(
.version 6.4
.target sm_70
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 data, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r6, [%rd4];
    ld.global.u32 %r7, [factor];
    mul.lo.u32 %r6, %r6, %r7;
    st.global.u32 [%rd4], %r6;
DONE:
    ret;
}
)";

__global__ void shift(unsigned *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += 1;
}

int main()
{
    unsigned n = 3000;
    std::vector<unsigned> host(n);
    for (unsigned i = 0; i < n; i++)
        host[i] = i * i;
    unsigned *data = to_device(host);
    CUmodule module;
    CUfunction scale;
    CUdeviceptr factor;
    CUcontext context = nullptr;
    size_t bytes;
    DRIVER(cuCtxGetCurrent(&context));
    EXPECT(context != nullptr, "the runtime made no context current");
    DRIVER(cuModuleLoadData(&module, text));
    DRIVER(cuModuleGetFunction(&scale, module, "scale"));
    DRIVER(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
    EXPECT(bytes == 4, "%zu bytes", bytes);
    EXPECT(cuModuleGetFunction(&scale, module, "none") == CUDA_ERROR_NOT_FOUND,
           "a kernel that is not there");
    DRIVER(cuModuleGetFunction(&scale, module, "scale"));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    void *arguments[] = {&data, &n};
    DRIVER(cuLaunchKernel(scale, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream,
                          arguments, nullptr));
    shift<<<(n + 127) / 128, 128, 0, stream>>>(data, n);
    DRIVER(cuMemsetD32Async(factor, 10, 1, stream));
    DRIVER(cuLaunchKernel(scale, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream,
                          arguments, nullptr));
    DRIVER(cuStreamSynchronize(stream));
    std::vector<unsigned> got = to_host(data, n);
    for (unsigned i = 0; i < n; i++)
        EXPECT(got[i] == (host[i] * 3 + 1) * 10, "at %u: %u", i, got[i]);
    DRIVER(cuModuleUnload(module));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(data));
    return pass("driver_module", "digest %016llx",
                (unsigned long long)digest(got));
}
