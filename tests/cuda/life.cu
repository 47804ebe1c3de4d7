/*
 * Game of life on a torus, a byte a cell, many short launches.
 */
#include "program.h"

__global__ void generation(const unsigned char *in, unsigned char *out,
                           int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                alive += in[(y + dy + height) % height * width +
                            (x + dx + width) % width];
    out[y * width + x] = alive == 3 || (alive == 2 && in[y * width + x]);
}

int main()
{
    const int width = 75, height = 50, generations = 60;
    std::vector<unsigned char> cells(width * height), next(width * height);
    Random random(22);
    for (unsigned char &cell : cells)
        cell = random.below(3) == 0;
    unsigned char *a = to_device(cells), *b = to_device(cells);
    dim3 block(32, 4), grid((width + 31) / 32, (height + 3) / 4);
    for (int g = 0; g < generations; g++) {
        generation<<<grid, block>>>(a, b, width, height);
        std::swap(a, b);
    }
    std::vector<unsigned char> got = to_host(a, cells.size());
    for (int g = 0; g < generations; g++) {
        for (int i = 0; i < width * height; i++) {
            int x = i % width, y = i / width;
            int left = (x + width - 1) % width, right = (x + 1) % width;
            int up = (y + height - 1) % height * width;
            int down = (y + 1) % height * width, row = y * width;
            int alive = cells[up + left] + cells[up + x] + cells[up + right] +
                        cells[row + left] + cells[row + right] +
                        cells[down + left] + cells[down + x] +
                        cells[down + right];
            next[i] = alive == 3 || (alive == 2 && cells[i]);
        }
        cells.swap(next);
    }
    int alive = 0;
    for (size_t i = 0; i < cells.size(); i++) {
        EXPECT(got[i] == cells[i], "cell %zu is %d", i, got[i]);
        alive += got[i];
    }
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return pass("life", "alive %d digest %016llx", alive,
                (unsigned long long)digest(got));
}
