/*
 * Exclusive scan, work-efficient (up-sweep and down-sweep) in shared memory,
 * then the blocks' sums scanned the same way and added.
 */
#include "program.h"

enum { THREADS = 256, CHUNK = 2 * THREADS };

__global__ void scan_chunks(const int *in, int *out, int *sums, int n)
{
    __shared__ int chunk[CHUNK];
    int base = blockIdx.x * CHUNK, t = threadIdx.x;
    chunk[t] = base + t < n ? in[base + t] : 0;
    chunk[t + THREADS] = base + t + THREADS < n ? in[base + t + THREADS] : 0;
    int stride = 1;
    for (int d = THREADS; d > 0; d /= 2, stride *= 2) {
        __syncthreads();
        if (t < d)
            chunk[stride * (2 * t + 2) - 1] += chunk[stride * (2 * t + 1) - 1];
    }
    if (t == 0) {
        if (sums)
            sums[blockIdx.x] = chunk[CHUNK - 1];
        chunk[CHUNK - 1] = 0;
    }
    for (int d = 1; d < CHUNK; d *= 2) {
        stride /= 2;
        __syncthreads();
        if (t < d) {
            int left = stride * (2 * t + 1) - 1, right = left + stride;
            int kept = chunk[left];
            chunk[left] = chunk[right];
            chunk[right] += kept;
        }
    }
    __syncthreads();
    for (int i = t; i < CHUNK; i += THREADS)
        if (base + i < n)
            out[base + i] = chunk[i];
}

__global__ void add_sums(int *out, const int *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += sums[i / CHUNK];
}

int main()
{
    const int n = 150001, chunks = (n + CHUNK - 1) / CHUNK;
    std::vector<int> in(n);
    Random random(9);
    for (int &value : in)
        value = random.below(1000) - 300;
    int *device_in = to_device(in), *out = new_on_device<int>(n);
    int *sums = new_on_device<int>(chunks);
    scan_chunks<<<chunks, THREADS>>>(device_in, out, sums, n);
    scan_chunks<<<1, THREADS>>>(sums, sums, nullptr, chunks);
    add_sums<<<(n + 255) / 256, 256>>>(out, sums, n);
    std::vector<int> got = to_host(out, n);
    int want = 0;
    for (int i = 0; i < n; i++) {
        EXPECT(got[i] == want, "out[%d] = %d, not %d", i, got[i], want);
        want += in[i];
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(sums));
    return pass("scan_shared", "n %d total %d", n, want);
}
