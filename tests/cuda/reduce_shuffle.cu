/*
 * Block sum by shuffles: down within a warp, one word per warp through shared
 * memory, a butterfly at the end. Blocks that are no multiple of a warp.
 */
#include "program.h"

__device__ float warp_sum(unsigned mask, float value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(mask, value, offset);
    return value;
}

__global__ void block_sums(const float *in, float *out, int n)
{
    __shared__ float warps[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int warp_count = (blockDim.x + 31) / 32;
    /* The last warp may be a part of one. */
    unsigned mask = __ballot_sync(__activemask(), true);
    float value = i < n ? in[i] : 0;
    int width = __popc(mask);
    if (width == 32) {
        value = warp_sum(mask, value);
    } else {
        float sum = 0;
        for (int from = 0; from < width; from++)
            sum += __shfl_sync(mask, value, from);
        value = sum;
    }
    if (lane == 0)
        warps[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < warp_count ? warps[lane] : 0;
        for (int flip = 16; flip > 0; flip /= 2)
            value += __shfl_xor_sync(0xffffffff, value, flip);
        if (lane == 31)
            out[blockIdx.x] = value;
    }
}

int main()
{
    const int n = 40000;
    std::vector<float> in(n);
    Random random(5);
    for (float &value : in)
        value = random.below(1000);
    float *device_in = to_device(in), *out = new_on_device<float>(n);
    double all = 0;
    for (int threads : {32, 64, 100, 256, 500, 1024}) {
        int blocks = (n + threads - 1) / threads;
        block_sums<<<blocks, threads>>>(device_in, out, n);
        std::vector<float> got = to_host(out, blocks);
        for (int b = 0; b < blocks; b++) {
            double want = 0;
            for (int i = b * threads; i < n && i < (b + 1) * threads; i++)
                want += in[i];
            EXPECT(got[b] == want, "block %d of %d: %g", b, threads, got[b]);
            all += got[b];
        }
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(out));
    return pass("reduce_shuffle", "total %.0f", all);
}
