/*
 * Textures of two dimensions: rotation of a picture by quarter steps with
 * linear filter, modes that differ per axis, pitched memory as the source.
 */
#include "program.h"

enum { WIDTH = 32, HEIGHT = 16, OUT = 96 };

__global__ void sample(cudaTextureObject_t texture, float4 *out, float x_scale,
                       float y_scale)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * OUT + x] = tex2D<float4>(texture, (x * 0.75f - 20) * x_scale,
                                     (y * 0.25f - 4) * y_scale);
}

static int place(int i, int size, cudaTextureAddressMode mode)
{
    int twice = (i % (2 * size) + 2 * size) % (2 * size);
    switch (mode) {
    case cudaAddressModeWrap:
        return twice % size;
    case cudaAddressModeMirror:
        return twice < size ? twice : 2 * size - 1 - twice;
    case cudaAddressModeBorder:
        return i < 0 || i >= size ? -1 : i;
    default:
        return i < 0 ? 0 : i >= size ? size - 1 : i;
    }
}

static float texel(const std::vector<float4> &data, int x, int y, int channel,
                   const cudaTextureDesc &how)
{
    x = place(x, WIDTH, how.addressMode[0]);
    y = place(y, HEIGHT, how.addressMode[1]);
    return x < 0 || y < 0 ? how.borderColor[channel]
                          : (&data[y * WIDTH + x].x)[channel];
}

static float expected(const std::vector<float4> &data, float x, float y,
                      int channel, const cudaTextureDesc &how)
{
    if (how.filterMode == cudaFilterModePoint)
        return texel(data, (int)std::floor(x), (int)std::floor(y), channel,
                     how);
    int i = (int)std::floor(x - 0.5f), j = (int)std::floor(y - 0.5f);
    float a = x - 0.5f - i, b = y - 0.5f - j;
    return (1 - a) * (1 - b) * texel(data, i, j, channel, how) +
           a * (1 - b) * texel(data, i + 1, j, channel, how) +
           (1 - a) * b * texel(data, i, j + 1, channel, how) +
           a * b * texel(data, i + 1, j + 1, channel, how);
}

static uint64_t try_texture(const std::vector<float4> &data,
                            const cudaResourceDesc &resource,
                            const cudaTextureDesc &how, float4 *out)
{
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    bool normal = how.normalizedCoords;
    sample<<<dim3(OUT / 16, OUT / 8), dim3(16, 8)>>>(
        texture, out, normal ? 1.0f / WIDTH : 1, normal ? 1.0f / HEIGHT : 1);
    std::vector<float4> got = to_host(out, OUT * OUT);
    CHECK(cudaDestroyTextureObject(texture));
    for (int i = 0; i < OUT * OUT * 4; i++) {
        float x = i / 4 % OUT * 0.75f - 20, y = i / 4 / OUT * 0.25f - 4;
        float want = expected(data, x, y, i % 4, how);
        float have = (&got[i / 4].x)[i % 4];
        EXPECT(have == want, "%g %g channel %d modes %d %d: %g, not %g", x, y,
               i % 4, how.addressMode[0], how.addressMode[1], have, want);
    }
    return digest(got);
}

int main()
{
    std::vector<float4> data(WIDTH * HEIGHT);
    Random random(26);
    for (float4 &v : data)
        v = make_float4(random.below(256), random.below(256), random.below(256),
                        random.below(256));
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
    cudaResourceDesc array = {}, pitched = {};
    array.resType = cudaResourceTypeArray;
    CHECK(cudaMallocArray(&array.res.array.array, &format, WIDTH, HEIGHT));
    size_t line = WIDTH * sizeof(float4), pitch;
    CHECK(cudaMemcpy2DToArray(array.res.array.array, 0, 0, data.data(), line,
                              line, HEIGHT, cudaMemcpyHostToDevice));
    void *linear;
    CHECK(cudaMallocPitch(&linear, &pitch, line, HEIGHT));
    CHECK(cudaMemcpy2D(linear, pitch, data.data(), line, line, HEIGHT,
                       cudaMemcpyHostToDevice));
    pitched.resType = cudaResourceTypePitch2D;
    pitched.res.pitch2D = {linear, format, WIDTH, HEIGHT, pitch};
    float4 *out = new_on_device<float4>(OUT * OUT);
    const cudaTextureAddressMode modes[] = {
        cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror,
        cudaAddressModeBorder};
    uint64_t all = 0;
    for (int kind = 0; kind < 8; kind++) {
        cudaTextureDesc how = {};
        how.filterMode = kind % 2 ? cudaFilterModeLinear : cudaFilterModePoint;
        how.normalizedCoords = true;
        how.addressMode[0] = modes[kind / 2];
        how.addressMode[1] = modes[(kind / 2 + kind) % 4];
        how.borderColor[0] = how.borderColor[3] = 128;
        all = all * 3 + try_texture(data, array, how, out);
        how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
        how.normalizedCoords = kind / 2 % 2;
        all = all * 3 + try_texture(data, pitched, how, out);
    }
    CHECK(cudaFreeArray(array.res.array.array));
    CHECK(cudaFree(linear));
    CHECK(cudaFree(out));
    return pass("texture_2d", "digest %016llx", (unsigned long long)all);
}
