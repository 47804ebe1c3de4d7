/*
 * Every way into and out of arrays: parts of rows, array to array, device to
 * array, three-dimensional boxes at an offset, asynchronously.
 */
#include "program.h"

enum { W = 32, H = 16, D = 8 };

__global__ void fill(int *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = i * 5 + 2;
}

int main()
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaArray_t a, b, box;
    CHECK(cudaMallocArray(&a, &format, W, H));
    CHECK(cudaMallocArray(&b, &format, W, H));
    CHECK(cudaMalloc3DArray(&box, &format, make_cudaExtent(W, H, D)));
    int *device = new_on_device<int>(W * H);
    fill<<<H, W>>>(device);
    std::vector<int> host(W * H, -1), got(W * H), want(W * H);
    CHECK(cudaMemcpy2DToArray(a, 0, 0, host.data(), W * 4, W * 4, H,
                              cudaMemcpyHostToDevice));
    /* An 8 by 6 window of the device's data to column 10, row 3. */
    CHECK(cudaMemcpy2DToArray(a, 10 * 4, 3, device + 2 * W + 5, W * 4, 8 * 4, 6,
                              cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, W * 4, H,
                                   cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DFromArray(got.data(), W * 4, b, 0, 0, W * 4, H,
                                cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            bool in = x >= 10 && x < 18 && y >= 3 && y < 9;
            int from = (y - 3 + 2) * W + (x - 10 + 5);
            want[y * W + x] = in ? from * 5 + 2 : -1;
        }
    EXPECT(got == want, "window: %d at 10 3", got[3 * W + 10]);

    /* The array as layer 5 of a volume, from device memory as layer 2. */
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaMemcpy3DParms copy = {};
    copy.srcArray = b;
    copy.dstArray = box;
    copy.dstPos = make_cudaPos(0, 0, 5);
    copy.extent = make_cudaExtent(W, H, 1);
    copy.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemcpy3DAsync(&copy, stream));
    copy = {};
    copy.srcPtr = make_cudaPitchedPtr(device, W * 4, W, H);
    copy.dstArray = box;
    copy.dstPos = make_cudaPos(0, 0, 2);
    copy.extent = make_cudaExtent(W, H, 1);
    copy.kind = cudaMemcpyDefault;
    CHECK(cudaMemcpy3DAsync(&copy, stream));
    std::vector<int> corner(3 * 4 * 4);
    copy = {};
    copy.srcArray = box;
    copy.srcPos = make_cudaPos(9, 2, 2);
    copy.dstPtr = make_cudaPitchedPtr(corner.data(), 3 * 4, 3, 4);
    copy.extent = make_cudaExtent(3, 4, 4);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3DAsync(&copy, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 3; x++) {
            int first = ((2 + y) * W + 9 + x) * 5 + 2;
            EXPECT(corner[y * 3 + x] == first, "layer 2: %d at %d %d",
                   corner[y * 3 + x], x, y);
            EXPECT(corner[(12 + y) * 3 + x] == want[(2 + y) * W + 9 + x],
                   "layer 5: %d at %d %d", corner[(12 + y) * 3 + x], x, y);
        }
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeArray(a));
    CHECK(cudaFreeArray(b));
    CHECK(cudaFreeArray(box));
    CHECK(cudaFree(device));
    for (int i = 12; i < 36; i++)
        corner[i] = 0; /* layers 3 and 4 were never written */
    return pass("array_copies", "digest %016llx %016llx",
                (unsigned long long)digest(got),
                (unsigned long long)digest(corner));
}
