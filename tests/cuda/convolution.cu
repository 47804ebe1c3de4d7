/*
 * Separable convolution: the filter in constant memory, rows and columns
 * through shared tiles whose size the launch gives.
 */
#include "program.h"

enum { RADIUS = 5, TAPS = 2 * RADIUS + 1, BX = 32, BY = 8 };

__constant__ float filter[TAPS];

__global__ void rows(const float *in, float *out, int width, int height)
{
    extern __shared__ float line[];
    float *mine = line + threadIdx.y * (BX + 2 * RADIUS);
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    for (int i = threadIdx.x; i < BX + 2 * RADIUS; i += BX) {
        int from = blockIdx.x * BX + i - RADIUS;
        bool inside = from >= 0 && from < width && y < height;
        mine[i] = inside ? in[y * width + from] : 0;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < TAPS; k++)
        sum = fmaf(filter[k], mine[threadIdx.x + k], sum);
    if (x < width && y < height)
        out[y * width + x] = sum;
}

__global__ void columns(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int k = 0; k < TAPS; k++) {
        int from = y + k - RADIUS;
        if (from >= 0 && from < height)
            sum = fmaf(filter[k], in[from * width + x], sum);
    }
    out[y * width + x] = sum;
}

int main()
{
    const int width = 101, height = 45;
    float taps[TAPS];
    for (int k = 0; k < TAPS; k++)
        taps[k] = (k < TAPS / 2 ? k + 1 : TAPS - k) / 32.0f;
    std::vector<float> in(width * height), between(in.size()), want(in.size());
    Random random(24);
    for (float &value : in)
        value = random.below(256);
    float *a = to_device(in), *b = new_on_device<float>(in.size());
    dim3 block(BX, BY), grid((width + BX - 1) / BX, (height + BY - 1) / BY);
    CHECK(cudaMemcpyToSymbol(filter, taps, sizeof taps));
    rows<<<grid, block, BY *(BX + 2 * RADIUS) * sizeof(float)>>>(a, b, width,
                                                                 height);
    columns<<<grid, block>>>(b, a, width, height);
    std::vector<float> got = to_host(a, in.size());
    for (int way = 0; way < 2; way++) {
        const std::vector<float> &from = way ? between : in;
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                float sum = 0;
                for (int k = 0; k < TAPS; k++) {
                    int i = way ? x : x + k - RADIUS;
                    int j = way ? y + k - RADIUS : y;
                    if (i >= 0 && i < width && j >= 0 && j < height)
                        sum = fmaf(taps[k], from[j * width + i], sum);
                }
                (way ? want : between)[y * width + x] = sum;
            }
    }
    for (size_t i = 0; i < in.size(); i++)
        EXPECT(got[i] == want[i], "at %zu: %g, not %g", i, got[i], want[i]);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return pass("convolution", "%dx%d digest %016llx", width, height,
                (unsigned long long)digest(got));
}
