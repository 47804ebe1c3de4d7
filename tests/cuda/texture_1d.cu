/*
 * Textures of one dimension: fetches from linear memory, arrays by element
 * and by linear filter, every address mode, normalised coordinates.
 */
#include "program.h"

enum { N = 64, POINTS = 400 };

__global__ void fetch(cudaTextureObject_t texture, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch<float>(texture, i - 2);
}

__global__ void sample(cudaTextureObject_t texture, float *out, float scale)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < POINTS)
        out[i] = tex1D<float>(texture, (i * 0.5f - 60.25f) * scale);
}

static float texel(const std::vector<float> &data, int i,
                   cudaTextureAddressMode mode)
{
    switch (mode) {
    case cudaAddressModeWrap:
        return data[(i % N + N) % N];
    case cudaAddressModeMirror:
        i = (i % (2 * N) + 2 * N) % (2 * N);
        return data[i < N ? i : 2 * N - 1 - i];
    case cudaAddressModeBorder:
        return i < 0 || i >= N ? 0 : data[i];
    default:
        return data[i < 0 ? 0 : i >= N ? N - 1 : i];
    }
}

static uint64_t try_mode(const std::vector<float> &data, cudaArray_t array,
                         float *out, cudaTextureAddressMode mode,
                         cudaTextureFilterMode filter, bool normalised)
{
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.addressMode[0] = mode;
    how.filterMode = filter;
    how.readMode = cudaReadModeElementType;
    how.normalizedCoords = normalised;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    sample<<<(POINTS + 63) / 64, 64>>>(texture, out, normalised ? 1.0f / N : 1);
    std::vector<float> got = to_host(out, POINTS);
    CHECK(cudaDestroyTextureObject(texture));
    for (int k = 0; k < POINTS; k++) {
        float x = k * 0.5f - 60.25f, want;
        if (filter == cudaFilterModePoint) {
            want = texel(data, (int)std::floor(x), mode);
        } else {
            int i = (int)std::floor(x - 0.5f);
            float part = x - 0.5f - i;
            want = (1 - part) * texel(data, i, mode) +
                   part * texel(data, i + 1, mode);
        }
        EXPECT(got[k] == want, "mode %d filter %d at %g: %g, not %g", mode,
               filter, x, got[k], want);
    }
    return digest(got);
}

int main()
{
    std::vector<float> data(N);
    Random random(25);
    for (float &value : data)
        value = random.below(1000);
    float *linear = to_device(data), *out = new_on_device<float>(POINTS);
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = linear;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = N * sizeof(float);
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    fetch<<<2, 64>>>(texture, out, N + 4);
    std::vector<float> got = to_host(out, N + 4);
    for (int i = 0; i < N + 4; i++) {
        float want = i < 2 || i >= N + 2 ? 0 : data[i - 2];
        EXPECT(got[i] == want, "fetch %d: %g, not %g", i - 2, got[i], want);
    }
    CHECK(cudaDestroyTextureObject(texture));

    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, N, 0));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, data.data(), N * 4, N * 4, 1,
                              cudaMemcpyHostToDevice));
    uint64_t all = 0;
    for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
        for (auto mode : {cudaAddressModeClamp, cudaAddressModeBorder})
            all ^= try_mode(data, array, out, mode, filter, false);
        for (auto mode : {cudaAddressModeClamp, cudaAddressModeBorder,
                          cudaAddressModeWrap, cudaAddressModeMirror})
            all = all * 3 + try_mode(data, array, out, mode, filter, true);
    }
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(linear));
    CHECK(cudaFree(out));
    return pass("texture_1d", "digest %016llx", (unsigned long long)all);
}
