/*
 * Surfaces: kernels write arrays of one to three dimensions and layers, read
 * them back at byte coordinates, and textures see what was written.
 */
#include "program.h"

enum { W = 24, H = 12, D = 6 };

__global__ void write_flat(cudaSurfaceObject_t line, cudaSurfaceObject_t plane)
{
    int x = threadIdx.x, y = threadIdx.y;
    if (y == 0)
        surf1Dwrite(x * 3 + 1, line, x * 4);
    surf2Dwrite(make_float2(x, y * 0.5f), plane, x * 8, y);
}

__global__ void write_deep(cudaSurfaceObject_t box, cudaSurfaceObject_t layers)
{
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    surf3Dwrite((unsigned char)(x + y * 3 + z * 17), box, x, y, z);
    surf2DLayeredwrite((short)(x * y - z), layers, x * 2, y, z);
}

__global__ void read_back(cudaSurfaceObject_t line, cudaSurfaceObject_t plane,
                          cudaSurfaceObject_t box, cudaSurfaceObject_t layers,
                          cudaTextureObject_t texture, int *out)
{
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    int word;
    surf1Dread(&word, line, x * 4);
    float2 pair = surf2Dread<float2>(plane, x * 8, y);
    int value = word * 7 + (int)(pair.x * 4 + pair.y * 64);
    value += surf3Dread<unsigned char>(box, x, y, z) * 5;
    value += surf2DLayeredread<short>(layers, x * 2, y, z) * 11;
    float2 seen = tex2D<float2>(texture, x, y);
    value += (int)(seen.x + seen.y * 2) * 1000;
    /* Beside the array: nothing is read, and a clamped read is the edge's. */
    value += surf2Dread<float2>(plane, (W + x) * 8, y, cudaBoundaryModeZero).x;
    value += surf1Dread<int>(line, (W + x) * 4, cudaBoundaryModeClamp);
    surf1Dwrite(-1, line, (W + x) * 4, cudaBoundaryModeZero);
    out[(z * H + y) * W + x] = value;
}

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    cudaSurfaceObject_t surface;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    return surface;
}

template <typename T>
static cudaArray_t array_of(int width, int height, int depth, unsigned flags)
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    CHECK(cudaMalloc3DArray(&array, &format,
                            make_cudaExtent(width, height, depth),
                            flags | cudaArraySurfaceLoadStore));
    return array;
}

int main()
{
    cudaArray_t arrays[4] = {array_of<int>(W, 0, 0, 0),
                             array_of<float2>(W, H, 0, 0),
                             array_of<unsigned char>(W, H, D, 0),
                             array_of<short>(W, H, D, cudaArrayLayered)};
    cudaSurfaceObject_t surfaces[4];
    for (int i = 0; i < 4; i++)
        surfaces[i] = surface_of(arrays[i]);
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = arrays[1];
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    int *out = new_on_device<int>(W * H * D);
    write_flat<<<1, dim3(W, H)>>>(surfaces[0], surfaces[1]);
    write_deep<<<D, dim3(W, H)>>>(surfaces[2], surfaces[3]);
    read_back<<<D, dim3(W, H)>>>(surfaces[0], surfaces[1], surfaces[2],
                                 surfaces[3], texture, out);
    std::vector<int> got = to_host(out, W * H * D);
    for (int i = 0; i < W * H * D; i++) {
        int x = i % W, y = i / W % H, z = i / W / H;
        int want = (x * 3 + 1) * 7 + x * 4 + y * 32;
        want += (x + y * 3 + z * 17) % 256 * 5 + (x * y - z) * 11;
        want += (x + y) * 1000 + (W - 1) * 3 + 1;
        EXPECT(got[i] == want, "at %d %d %d: %d, not %d", x, y, z, got[i],
               want);
    }
    std::vector<int> line(W);
    CHECK(cudaMemcpy2DFromArray(line.data(), W * 4, arrays[0], 0, 0, W * 4, 1,
                                cudaMemcpyDeviceToHost));
    EXPECT(line[0] == 1 && line[W - 1] == W * 3 - 2, "%d %d", line[0],
           line[W - 1]);
    CHECK(cudaDestroyTextureObject(texture));
    for (int i = 0; i < 4; i++) {
        CHECK(cudaDestroySurfaceObject(surfaces[i]));
        CHECK(cudaFreeArray(arrays[i]));
    }
    CHECK(cudaFree(out));
    return pass("surface", "digest %016llx", (unsigned long long)digest(got));
}
