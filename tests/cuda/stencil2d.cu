/*
 * Jacobi iterations on a plate: a shared tile with halo, two buffers swapped
 * between launches.
 */
#include "program.h"

enum { BX = 32, BY = 8 };

__global__ void step(const float *in, float *out, int width, int height)
{
    __shared__ float tile[BY + 2][BX + 2];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool inside = x < width && y < height;
    auto at = [=](int i, int j) {
        return in[min(max(j, 0), height - 1) * width +
                  min(max(i, 0), width - 1)];
    };
    tile[ty][tx] = at(x, y);
    if (tx == 1)
        tile[ty][0] = at(x - 1, y);
    if (tx == BX)
        tile[ty][BX + 1] = at(x + 1, y);
    if (ty == 1)
        tile[0][tx] = at(x, y - 1);
    if (ty == BY)
        tile[BY + 1][tx] = at(x, y + 1);
    __syncthreads();
    if (!inside)
        return;
    bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
    float around = (tile[ty][tx - 1] + tile[ty][tx + 1]) +
                   (tile[ty - 1][tx] + tile[ty + 1][tx]);
    out[y * width + x] = edge ? tile[ty][tx] : around * 0.25f;
}

int main()
{
    const int width = 117, height = 61, steps = 40;
    std::vector<float> plate(width * height), next;
    for (int x = 0; x < width; x++)
        plate[x] = (float)(x % 13);
    for (int y = 0; y < height; y++)
        plate[y * width + width - 1] = 5;
    float *a = to_device(plate), *b = to_device(plate);
    dim3 block(BX, BY), grid((width + BX - 1) / BX, (height + BY - 1) / BY);
    for (int s = 0; s < steps; s++) {
        step<<<grid, block>>>(a, b, width, height);
        std::swap(a, b);
    }
    std::vector<float> got = to_host(a, plate.size());
    for (int s = 0; s < steps; s++) {
        next = plate;
        for (int y = 1; y < height - 1; y++)
            for (int x = 1; x < width - 1; x++) {
                const float *p = &plate[y * width + x];
                next[y * width + x] =
                    ((p[-1] + p[1]) + (p[-width] + p[width])) * 0.25f;
            }
        plate.swap(next);
    }
    for (size_t i = 0; i < plate.size(); i++)
        EXPECT(got[i] == plate[i], "at %zu: %g, not %g", i, got[i], plate[i]);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return pass("stencil2d", "%dx%d after %d digest %016llx", width, height,
                steps, (unsigned long long)digest(got));
}
