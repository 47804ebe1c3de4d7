/*
 * Seven points in three dimensions, marching along z with the column in
 * registers and the plane in shared memory.
 */
#include "program.h"

enum { BX = 16, BY = 8 };

/* Powers of two: fused or not, the result is the same. */
__device__ __host__ inline float mix(float centre, float a, float b, float c,
                                     float d, float e, float f)
{
    return (((a + b) + (c + d)) + (e + f)) * 0.125f + centre * 0.25f;
}

__global__ void march(const float *in, float *out, int nx, int ny, int nz)
{
    __shared__ float plane[BY + 2][BX + 2];
    int x = blockIdx.x * BX + threadIdx.x + 1;
    int y = blockIdx.y * BY + threadIdx.y + 1;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool inside = x < nx - 1 && y < ny - 1;
    int layer = nx * ny, i = y * nx + x;
    bool readable = x < nx && y < ny;
    float below = readable ? in[i] : 0;
    float here = readable ? in[i + layer] : 0;
    for (int z = 1; z < nz - 1; z++) {
        i += layer;
        float above = readable ? in[i + layer] : 0;
        __syncthreads();
        plane[ty][tx] = here;
        if (readable && tx == 1)
            plane[ty][0] = in[i - 1];
        if (inside && tx == BX)
            plane[ty][BX + 1] = in[i + 1];
        if (readable && ty == 1)
            plane[0][tx] = in[i - nx];
        if (inside && ty == BY)
            plane[BY + 1][tx] = in[i + nx];
        __syncthreads();
        if (inside)
            out[i] = mix(here, plane[ty][tx - 1], plane[ty][tx + 1],
                         plane[ty - 1][tx], plane[ty + 1][tx], below, above);
        below = here;
        here = above;
    }
}

int main()
{
    const int nx = 37, ny = 29, nz = 23, steps = 4;
    std::vector<float> grid(nx * ny * nz), next;
    Random random(13);
    for (float &value : grid)
        value = random.unit();
    float *a = to_device(grid), *b = to_device(grid);
    dim3 block(BX, BY), blocks((nx - 2 + BX - 1) / BX, (ny - 2 + BY - 1) / BY);
    for (int s = 0; s < steps; s++) {
        march<<<blocks, block>>>(a, b, nx, ny, nz);
        std::swap(a, b);
    }
    std::vector<float> got = to_host(a, grid.size());
    for (int s = 0; s < steps; s++) {
        next = grid;
        for (int z = 1; z < nz - 1; z++)
            for (int y = 1; y < ny - 1; y++)
                for (int x = 1; x < nx - 1; x++) {
                    const float *p = &grid[(z * ny + y) * nx + x];
                    next[(z * ny + y) * nx + x] =
                        mix(p[0], p[-1], p[1], p[-nx], p[nx], p[-nx * ny],
                            p[nx * ny]);
                }
        grid.swap(next);
    }
    for (size_t i = 0; i < grid.size(); i++)
        EXPECT(got[i] == grid[i], "at %zu: %g, not %g", i, got[i], grid[i]);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return pass("stencil3d", "%dx%dx%d after %d digest %016llx", nx, ny, nz,
                steps, (unsigned long long)digest(got));
}
