/*
 * Transposition through a padded tile, for elements of 1, 4 and 8 bytes.
 */
#include "program.h"

enum { TILE = 32, ROWS = 8 };

template <typename T>
__global__ void transpose(T *out, const T *in, int width, int height)
{
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T> uint64_t run(int width, int height)
{
    std::vector<T> in(width * height);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (T)(i * 7 + 3);
    T *device_in = to_device(in), *device_out = new_on_device<T>(in.size());
    dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    transpose<<<grid, dim3(TILE, ROWS)>>>(device_out, device_in, width, height);
    std::vector<T> out = to_host(device_out, in.size());
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            EXPECT(out[x * height + y] == in[y * width + x], "at %d %d", x, y);
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(device_out));
    return digest(out);
}

int main()
{
    uint64_t bytes = run<unsigned char>(130, 67);
    uint64_t words = run<float>(257, 64);
    uint64_t longs = run<long long>(33, 100);
    return pass("transpose", "%016llx %016llx %016llx",
                (unsigned long long)bytes, (unsigned long long)words,
                (unsigned long long)longs);
}
