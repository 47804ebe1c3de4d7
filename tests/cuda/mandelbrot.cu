/*
 * Mandelbrot: as divergent as loops get. Operations are spelled out as single
 * roundings, so that the counts are those of the CPU, all of them.
 */
#include "program.h"

enum { MOST = 200 };

__device__ int escape(double cx, double cy)
{
    double x = 0, y = 0;
    int i = 0;
    for (; i < MOST; i++) {
        double xx = __dmul_rn(x, x), yy = __dmul_rn(y, y);
        if (__dadd_rn(xx, yy) > 4)
            break;
        y = __dadd_rn(__dmul_rn(2 * x, y), cy);
        x = __dadd_rn(__dsub_rn(xx, yy), cx);
    }
    return i;
}

__global__ void mandelbrot(int *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] =
            escape(__dadd_rn(__ddiv_rn(3.0 * x, width), -2.25),
                   __dadd_rn(__ddiv_rn(2.5 * y, height), -1.25));
}

static int escape_here(double cx, double cy)
{
    double x = 0, y = 0;
    int i = 0;
    for (; i < MOST; i++) {
        /* volatile: nothing may be fused here either */
        volatile double xx = x * x, yy = y * y, xy = 2 * x * y;
        if (xx + yy > 4)
            break;
        y = xy + cy;
        volatile double difference = xx - yy;
        x = difference + cx;
    }
    return i;
}

int main()
{
    const int width = 150, height = 100;
    int *out = new_on_device<int>(width * height);
    dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
    mandelbrot<<<grid, block>>>(out, width, height);
    std::vector<int> got = to_host(out, width * height);
    long long sum = 0;
    int inside = 0;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            volatile double cx = 3.0 * x / width, cy = 2.5 * y / height;
            int want = escape_here(cx - 2.25, cy - 1.25);
            EXPECT(got[y * width + x] == want, "at %d %d: %d, not %d", x, y,
                   got[y * width + x], want);
            sum += want;
            inside += want == MOST;
        }
    }
    CHECK(cudaFree(out));
    return pass("mandelbrot", "sum %lld inside %d", sum, inside);
}
