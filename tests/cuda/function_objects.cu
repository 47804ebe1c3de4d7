/*
 * Lambdas of the host that run on the device (--extended-lambda), function
 * objects, and a small for_each of our own over them.
 */
#include "program.h"

template <typename Function> __global__ void run(Function function, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        function(i);
}

template <typename Function> void for_each(int n, Function function)
{
    run<<<7, 96>>>(function, n);
    CHECK(cudaGetLastError());
}

struct Polynomial {
    int factors[4];
    __host__ __device__ int operator()(int x) const
    {
        int value = 0;
        for (int factor : factors)
            value = value * x + factor;
        return value;
    }
};

int main()
{
    const int n = 5000;
    int *data = new_on_device<int>(n);
    Polynomial polynomial = {{3, -2, 7, 11}};
    int shift = 5;
    for_each(n, [=] __device__(int i) { data[i] = polynomial(i) + shift; });
    auto mix = [] __host__ __device__(int a, int b) { return a * 31 ^ b; };
    for_each(n, [=] __device__(int i) { data[i] = mix(data[i], i); });
    std::vector<int> got = to_host(data, n);
    for (int i = 0; i < n; i++) {
        int value = (int)(3u * i * i * i - 2u * i * i + 7u * i + 11) + shift;
        int want = (int)((unsigned)value * 31) ^ i;
        EXPECT(got[i] == want, "at %d: %d, not %d", i, got[i], want);
    }
    CHECK(cudaFree(data));
    return pass("function_objects", "digest %016llx",
                (unsigned long long)digest(got));
}
