/*
 * saxpy on a stream between two events, whose time has to be sensible.
 */
#include "program.h"

__global__ void saxpy(int n, float a, const float *__restrict__ x,
                      float *__restrict__ y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        y[i] = fmaf(a, x[i], y[i]);
}

int main()
{
    const int n = 1 << 16, rounds = 5;
    std::vector<float> x(n), y(n);
    Random random(2);
    for (int i = 0; i < n; i++) {
        x[i] = random.unit();
        y[i] = random.unit();
    }
    float *device_x = to_device(x), *device_y = to_device(y);
    cudaEvent_t start, stop;
    cudaStream_t stream;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventRecord(start, stream));
    for (int r = 0; r < rounds; r++)
        saxpy<<<24, 128, 0, stream>>>(n, 0.5f + r, device_x, device_y);
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventQuery(start));
    float ms = -1, backwards = 1;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaEventElapsedTime(&backwards, stop, start));
    EXPECT(ms > 0 && ms < 60000, "%g ms", ms);
    EXPECT(backwards <= 0, "%g ms", backwards);
    std::vector<float> got = to_host(device_y, n);
    for (int i = 0; i < n; i++) {
        float want = y[i];
        for (int r = 0; r < rounds; r++)
            want = fmaf(0.5f + r, x[i], want);
        EXPECT(got[i] == want, "y[%d] = %g, not %g", i, got[i], want);
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device_x));
    CHECK(cudaFree(device_y));
    return pass("saxpy_events", "n %d digest %016llx", n,
                (unsigned long long)digest(got));
}
