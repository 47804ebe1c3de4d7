/*
 * Texels that are no floats: bytes and shorts read as they are or as
 * fractions, vectors, halves, and reading beside an array.
 */
#include "program.h"

#include <cuda_fp16.h>

enum { N = 64 };

template <typename Texel, typename Read>
__global__ void read_all(cudaTextureObject_t texture, Read *out)
{
    out[threadIdx.x] = tex1D<Read>(texture, threadIdx.x + 0.5f);
}

template <typename Texel, typename Read>
std::vector<Read> read_back(const std::vector<Texel> &data,
                            const cudaChannelFormatDesc &format,
                            cudaTextureReadMode mode)
{
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, N));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, data.data(), N * sizeof(Texel),
                              N * sizeof(Texel), 1, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.readMode = mode;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    Read *out = new_on_device<Read>(N);
    read_all<Texel, Read><<<1, N>>>(texture, out);
    std::vector<Read> got = to_host(out, N);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(out));
    return got;
}

int main()
{
    std::vector<unsigned char> bytes(N);
    std::vector<short> shorts(N);
    std::vector<uchar4> colours(N);
    std::vector<int2> pairs(N);
    std::vector<__half> halves(N);
    Random random(29);
    for (int i = 0; i < N; i++) {
        bytes[i] = i * 4 + i / 21;
        shorts[i] = (short)(i * 1040 - 32768);
        colours[i] = make_uchar4(i, 255 - i, random.below(256), 77);
        pairs[i] = make_int2((int)random.bits(), -i);
        halves[i] = __float2half((i - 30) * 0.125f);
    }
    auto plain = read_back<unsigned char, unsigned char>(
        bytes, cudaCreateChannelDesc<unsigned char>(), cudaReadModeElementType);
    auto parts = read_back<unsigned char, float>(
        bytes, cudaCreateChannelDesc<unsigned char>(),
        cudaReadModeNormalizedFloat);
    auto signed_parts = read_back<short, float>(
        shorts, cudaCreateChannelDesc<short>(), cudaReadModeNormalizedFloat);
    auto colour = read_back<uchar4, float4>(
        colours, cudaCreateChannelDesc<uchar4>(), cudaReadModeNormalizedFloat);
    auto pair = read_back<int2, int2>(pairs, cudaCreateChannelDesc<int2>(),
                                      cudaReadModeElementType);
    auto half = read_back<__half, float>(halves, cudaCreateChannelDescHalf(),
                                         cudaReadModeElementType);
    double sum = 0;
    for (int i = 0; i < N; i++) {
        double most = std::fmax(shorts[i] / 32767.0, -1.0);
        EXPECT(plain[i] == bytes[i], "byte %d: %d", i, plain[i]);
        EXPECT(is_near(parts[i], bytes[i] / 255.0, 1e-6), "part %d: %g", i,
               parts[i]);
        EXPECT(is_near(signed_parts[i], most, 1e-6), "signed part %d: %g", i,
               signed_parts[i]);
        EXPECT(is_near(colour[i].y, colours[i].y / 255.0, 1e-6) &&
                   is_near(colour[i].w, 77 / 255.0, 1e-6),
               "colour %d: %g %g", i, colour[i].y, colour[i].w);
        EXPECT(pair[i].x == pairs[i].x && pair[i].y == -i, "pair %d", i);
        EXPECT(half[i] == (i - 30) * 0.125f, "half %d: %g", i, half[i]);
        sum += parts[i] + signed_parts[i] + colour[i].z;
    }
    return pass("texture_types", "sum %.3f digest %016llx", sum,
                (unsigned long long)digest(pair));
}
