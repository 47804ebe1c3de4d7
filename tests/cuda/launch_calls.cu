/*
 * Launches by calls in place of <<<>>>: plain, with a configuration and its
 * attributes, cooperative, through a driver's handle; arguments of every size.
 */
#include "program.h"

struct Box {
    double corner[3];
    int count;
    char tag;
};

__global__ void mixed(long long *out, char a, short b, int c, float d, double e,
                      Box box, const int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a + b + c + (long long)d + (long long)e +
             (long long)box.corner[2] + box.count + box.tag + p[i];
}

template <int N> __global__ void times(long long *data, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        data[i] *= N;
}

int main()
{
    const int n = 512;
    std::vector<int> numbers(n);
    for (int i = 0; i < n; i++)
        numbers[i] = i * 3;
    int *p = to_device(numbers);
    long long *out = new_on_device<long long>(n);
    char a = -7;
    short b = 300;
    int c = 1 << 20, count = n;
    float d = 12.75f;
    double e = -1e10;
    Box box = {{1, 2, 3e9}, 99, 'x'};
    long long sum = a + b + c + 12 - 10000000000ll + 3000000000ll + 99 + 'x';
    void *args[] = {&out, &a, &b, &c, &d, &e, &box, &p};
    CHECK(cudaLaunchKernel((const void *)mixed, dim3(4), dim3(128), args, 0,
                           nullptr));
    std::vector<long long> got = to_host(out, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == sum + i * 3, "at %d: %lld", i, got[i]);

    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaLaunchAttribute attribute[1] = {};
    attribute[0].id = cudaLaunchAttributeCooperative;
    attribute[0].val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(64);
    config.stream = stream;
    CHECK(cudaLaunchKernelEx(&config, times<2>, out, count));
    config.attrs = attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, times<3>, out, count));
    void *few[] = {&out, &count};
    CHECK(cudaLaunchCooperativeKernel((const void *)times<5>, dim3(2), dim3(64),
                                      few, 0, stream));
    cudaFunction_t function;
    CHECK(cudaGetFuncBySymbol(&function, (const void *)times<7>));
    CHECK(cudaLaunchKernel((const void *)function, dim3(2), dim3(64), few, 0,
                           stream));
    CHECK(cudaStreamSynchronize(stream));
    got = to_host(out, n);
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == (sum + i * 3) * 210, "at %d: %lld", i, got[i]);
    CHECK_FAILS(cudaErrorCooperativeLaunchTooLarge,
                cudaLaunchCooperativeKernel((const void *)times<5>, dim3(65536),
                                            dim3(1024), few, 0, stream));
    config.blockDim = dim3(4096);
    CHECK_FAILS(TOO_MANY_THREADS,
                cudaLaunchKernelEx(&config, times<2>, out, count));
    cudaGetLastError();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(p));
    CHECK(cudaFree(out));
    return pass("launch_calls", "digest %016llx",
                (unsigned long long)digest(got));
}
