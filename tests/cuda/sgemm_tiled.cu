/*
 * Matrix product through tiles of shared memory, sizes that no tile divides.
 */
#include "program.h"

enum { TILE = 16 };

__global__ void sgemm(const float *a, const float *b, float *c, int m, int n,
                      int k)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int from = 0; from < k; from += TILE) {
        int ka = from + threadIdx.x, kb = from + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] =
            row < m && ka < k ? a[row * k + ka] : 0;
        tile_b[threadIdx.y][threadIdx.x] =
            kb < k && column < n ? b[kb * n + column] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

int main()
{
    const int m = 83, n = 101, k = 67;
    std::vector<float> a(m * k), b(k * n);
    Random random(3);
    /* Small whole numbers: every order of summation gives the same. */
    for (float &value : a)
        value = random.below(17) - 8;
    for (float &value : b)
        value = random.below(17) - 8;
    float *device_a = to_device(a), *device_b = to_device(b);
    float *device_c = new_on_device<float>(m * n);
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    sgemm<<<grid, block>>>(device_a, device_b, device_c, m, n, k);
    CHECK(cudaDeviceSynchronize());
    std::vector<float> c = to_host(device_c, m * n);
    double trace = 0;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            double want = 0;
            for (int l = 0; l < k; l++)
                want += (double)a[i * k + l] * b[l * n + j];
            EXPECT(c[i * n + j] == want, "c[%d][%d] = %g", i, j, c[i * n + j]);
        }
        trace += c[i * n + i];
    }
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(device_c));
    return pass("sgemm_tiled", "%dx%dx%d trace %g", m, n, k, trace);
}
