/*
 * Pitched memory: rectangles in every direction, with strides of their own,
 * set and copied synchronously and on a stream.
 */
#include "program.h"

enum { W = 100, H = 40 };

__global__ void scale(int *data, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    int *row = (int *)((char *)data + y * pitch);
    if (x < width && y < height)
        row[x] = row[x] * 3 + y;
}

int main()
{
    std::vector<int> host(W * H), got(W * H);
    for (int i = 0; i < W * H; i++)
        host[i] = i * 11;
    int *a, *b;
    size_t pitch_a, pitch_b;
    CHECK(cudaMallocPitch(&a, &pitch_a, W * 4, H));
    CHECK(cudaMallocPitch(&b, &pitch_b, (W + 50) * 4, H + 2));
    EXPECT(pitch_a >= W * 4 && pitch_a % 32 == 0, "pitch %zu", pitch_a);
    CHECK(cudaMemcpy2D(a, pitch_a, host.data(), W * 4, W * 4, H,
                       cudaMemcpyHostToDevice));
    scale<<<dim3(1, H), 128>>>(a, pitch_a, W, H);
    CHECK(cudaMemset2D(b, pitch_b, 0xab, (W + 50) * 4, H + 2));
    /* A window of 60 by 20 from (20, 10) to (5, 7). */
    char *from = (char *)a + 10 * pitch_a + 20 * 4;
    char *to = (char *)b + 7 * pitch_b + 5 * 4;
    CHECK(cudaMemcpy2D(to, pitch_b, from, pitch_a, 60 * 4, 20,
                       cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2D(got.data(), W * 4, b, pitch_b, W * 4, H,
                       cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            int sy = y - 7 + 10, sx = x - 5 + 20;
            bool in = y >= 7 && y < 27 && x >= 5 && x < 65;
            int want = in ? host[sy * W + sx] * 3 + sy : (int)0xabababab;
            EXPECT(got[y * W + x] == want, "at %d %d: %x, not %x", x, y,
                   got[y * W + x], want);
        }

    /* Every second row, upwards in one array, asynchronously. */
    cudaStream_t stream;
    int *pinned;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&pinned, W * H * 4));
    CHECK(cudaMemset2DAsync(a, pitch_a, 0, W * 4, H, stream));
    CHECK(cudaMemcpy2DAsync(a, 2 * pitch_a, host.data(), W * 4, W * 4, H / 2,
                            cudaMemcpyDefault, stream));
    scale<<<dim3(1, H), 128, 0, stream>>>(a, pitch_a, W, H);
    CHECK(cudaMemcpy2DAsync(pinned, W * 4, a, pitch_a, W * 4, H,
                            cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < W * H; i++) {
        int x = i % W, y = i / W;
        int want = (y % 2 ? 0 : host[y / 2 * W + x]) * 3 + y;
        EXPECT(pinned[i] == want, "row %d: %d, not %d", y, pinned[i], want);
    }
    CHECK_FAILS(cudaErrorInvalidPitchValue,
                cudaMemcpy2D(a, W, host.data(), W * 4, W * 4, H,
                             cudaMemcpyHostToDevice));
    uint64_t second = digest(pinned, W * H * 4);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return pass("copy2d", "digest %016llx %016llx",
                (unsigned long long)digest(got), (unsigned long long)second);
}
