/*
 * More than 48 KiB of shared memory, which a kernel has to ask for; several
 * arrays laid out in one piece of it.
 */
#include "program.h"

extern __shared__ unsigned char room[];

__global__ void reverse(const double *in, double *out, int n)
{
    double *values = (double *)room;
    int *order = (int *)(room + n * sizeof(double));
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        values[i] = in[blockIdx.x * n + i];
        order[i] = n - 1 - i;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = values[order[i]] + order[i];
}

int main()
{
    const int n = 5500, blocks = 3; /* 66,000 bytes a block */
    const size_t bytes = n * (sizeof(double) + sizeof(int));
    int most;
    CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                 0));
    if ((size_t)most < bytes)
        return skip("dynamic_shared", "the device has no 66,000 bytes");
    std::vector<double> in(n * blocks);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = i * 0.25;
    double *device_in = to_device(in);
    double *out = new_on_device<double>(in.size());
    reverse<<<blocks, 256, bytes>>>(device_in, out, n);
    CHECK_FAILS(cudaErrorInvalidValue, cudaGetLastError());
    CHECK(cudaFuncSetAttribute(
        reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    reverse<<<blocks, 256, bytes>>>(device_in, out, n);
    CHECK(cudaGetLastError());
    std::vector<double> got = to_host(out, in.size());
    for (size_t i = 0; i < in.size(); i++) {
        size_t from = i / n * n + (n - 1 - i % n);
        double want = in[from] + (n - 1 - i % n);
        EXPECT(got[i] == want, "at %zu: %g, not %g", i, got[i], want);
    }
    CHECK_FAILS(
        cudaErrorInvalidValue,
        cudaFuncSetAttribute(
            reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1));
    cudaGetLastError();
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(out));
    return pass("dynamic_shared", "bytes %zu digest %016llx", bytes,
                (unsigned long long)digest(got));
}
