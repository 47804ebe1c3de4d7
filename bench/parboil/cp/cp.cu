/*
 * The potential of point charges on one plane of a lattice, one thread per
 * lattice point. A block brings the atoms into its shared memory a tile at a
 * time. Square root and division are the exactly rounded ones.
 */
#include "adsm_device.h"
#include "cp_kernel.h"

#define TILE (CP_BLOCK_X * CP_BLOCK_Y)

/*
 * plane    out: nx * ny potentials
 * atoms    x, y, z and charge of each
 * spacing  of the lattice; height  of the plane
 */
extern "C" __global__ void cp_plane(float *__restrict__ plane,
                                    const float *__restrict__ atoms, int count,
                                    int nx, int ny, float spacing, float height)
{
    static __shared__ float tile[4 * TILE];
    int thread = (int)(threadIdx.y * CP_BLOCK_X + threadIdx.x);
    int x = adsm_thread_x(), y = adsm_thread_y();
    float at_x = (float)x * spacing, at_y = (float)y * spacing;
    float sum = 0.0f;
    for (int first = 0; first < count; first += TILE) {
        int here = count - first < TILE ? count - first : TILE;
        if (thread < here)
            for (int i = 0; i < 4; i++)
                tile[4 * thread + i] = atoms[4 * (first + thread) + i];
        __syncthreads();
        for (int i = 0; i < here; i++) {
            float dx = at_x - tile[4 * i], dy = at_y - tile[4 * i + 1];
            float dz = height - tile[4 * i + 2];
            float square = adsm_fma(dx, dx, adsm_fma(dy, dy, dz * dz));
            square = square > CP_SQUARE_MIN ? square : CP_SQUARE_MIN;
            sum += tile[4 * i + 3] / adsm_sqrt(square);
        }
        __syncthreads();
    }
    if (x < nx && y < ny)
        plane[y * nx + x] = sum;
}
