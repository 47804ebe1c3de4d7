/*
 * Three-dimensional pitched memory: boxes at offsets on both sides.
 */
#include "program.h"

enum { NX = 30, NY = 20, NZ = 10 };

__global__ void fill(cudaPitchedPtr box, cudaExtent extent)
{
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    char *layer = (char *)box.ptr + z * box.pitch * extent.height;
    ((short *)(layer + y * box.pitch))[x] = x + 100 * y + 1000 * z;
}

int main()
{
    cudaExtent extent = make_cudaExtent(NX * sizeof(short), NY, NZ);
    cudaPitchedPtr a, b;
    CHECK(cudaMalloc3D(&a, extent));
    CHECK(cudaMalloc3D(&b, make_cudaExtent(NX * 2 * sizeof(short), NY, NZ)));
    EXPECT(a.xsize == NX * 2 && a.ysize == NY, "%zu %zu", a.xsize, a.ysize);
    CHECK(cudaMemset3D(b, 0x11, make_cudaExtent(NX * 4, NY, NZ)));
    fill<<<dim3(NY, NZ), NX>>>(a, extent);
    cudaMemcpy3DParms inner = {};
    inner.srcPtr = a;
    inner.srcPos = make_cudaPos(4 * 2, 3, 2);
    inner.dstPtr = b;
    inner.dstPos = make_cudaPos(10 * 2, 1, 5);
    inner.extent = make_cudaExtent(16 * 2, 12, 4);
    inner.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemcpy3D(&inner));
    std::vector<short> got(NX * NY * NZ, -1);
    cudaMemcpy3DParms out = {};
    out.srcPtr = b;
    out.dstPtr = make_cudaPitchedPtr(got.data(), NX * 2, NX, NY);
    out.extent = extent;
    out.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&out));
    for (int i = 0; i < NX * NY * NZ; i++) {
        int x = i % NX, y = i / NX % NY, z = i / NX / NY;
        bool in = x >= 10 && x < 26 && y >= 1 && y < 13 && z >= 5 && z < 9;
        int want = x - 10 + 4 + 100 * (y - 1 + 3) + 1000 * (z - 5 + 2);
        want = in ? want : 0x1111;
        EXPECT(got[i] == want, "at %d %d %d: %d, not %d", x, y, z, got[i],
               want);
    }
    /* Host to host through the same call, on a stream. */
    std::vector<short> copy(got.size());
    cudaMemcpy3DParms here = {};
    here.srcPtr = make_cudaPitchedPtr(got.data(), NX * 2, NX, NY);
    here.dstPtr = make_cudaPitchedPtr(copy.data(), NX * 2, NX, NY);
    here.extent = extent;
    here.kind = cudaMemcpyHostToHost;
    CHECK(cudaMemcpy3DAsync(&here, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(copy == got, "copy on the host");
    CHECK(cudaFree(a.ptr));
    CHECK(cudaFree(b.ptr));
    return pass("copy3d", "digest %016llx", (unsigned long long)digest(got));
}
