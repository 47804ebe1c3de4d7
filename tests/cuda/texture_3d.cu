/*
 * Textures of three dimensions: a volume filled by cudaMemcpy3D, sampled along
 * oblique rays by element and by linear filter.
 */
#include "program.h"

enum { NX = 16, NY = 12, NZ = 8, RAYS = 64, STEPS = 48 };

__device__ __host__ inline float3 point_of(int ray, int step)
{
    return make_float3(ray % 8 * 2.5f + step * 0.125f - 2,
                       ray / 8 * 2 + step * 0.25f - 5, step * 0.25f - 1);
}

__global__ void march(cudaTextureObject_t texture, float *out)
{
    int ray = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < STEPS; step++) {
        float3 p = point_of(ray, step);
        out[ray * STEPS + step] = tex3D<float>(texture, p.x, p.y, p.z);
    }
}

static float texel(const std::vector<float> &data, int x, int y, int z)
{
    auto clamp = [](int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; };
    return data[(clamp(z, NZ) * NY + clamp(y, NY)) * NX + clamp(x, NX)];
}

static float expected(const std::vector<float> &data, float3 p, bool linear)
{
    if (!linear)
        return texel(data, (int)std::floor(p.x), (int)std::floor(p.y),
                     (int)std::floor(p.z));
    int i = (int)std::floor(p.x - 0.5f), j = (int)std::floor(p.y - 0.5f);
    int k = (int)std::floor(p.z - 0.5f);
    float a = p.x - 0.5f - i, b = p.y - 0.5f - j, c = p.z - 0.5f - k, sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        int dx = corner & 1, dy = corner >> 1 & 1, dz = corner >> 2;
        sum += (dx ? a : 1 - a) * (dy ? b : 1 - b) * (dz ? c : 1 - c) *
               texel(data, i + dx, j + dy, k + dz);
    }
    return sum;
}

int main()
{
    std::vector<float> data(NX * NY * NZ);
    Random random(27);
    for (float &value : data)
        value = random.below(512);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(NX, NY, NZ)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(data.data(), NX * sizeof(float), NX, NY);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(NX, NY, NZ);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    float *out = new_on_device<float>(RAYS * STEPS);
    uint64_t all = 0;
    for (int linear = 0; linear < 2; linear++) {
        cudaResourceDesc resource = {};
        cudaTextureDesc how = {};
        cudaTextureObject_t texture;
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        for (auto &mode : how.addressMode)
            mode = cudaAddressModeClamp;
        how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
        march<<<2, RAYS / 2>>>(texture, out);
        std::vector<float> got = to_host(out, RAYS * STEPS);
        for (int i = 0; i < RAYS * STEPS; i++) {
            float3 p = point_of(i / STEPS, i % STEPS);
            float want = expected(data, p, linear);
            EXPECT(got[i] == want, "%g %g %g linear %d: %g, not %g", p.x, p.y,
                   p.z, linear, got[i], want);
        }
        CHECK(cudaDestroyTextureObject(texture));
        all = all * 3 + digest(got);
    }
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(out));
    return pass("texture_3d", "digest %016llx", (unsigned long long)all);
}
