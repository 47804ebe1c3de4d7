/*
 * Layered textures of one and two dimensions: layers never mix, and a layer
 * out of range is the nearest one.
 */
#include "program.h"

#include <algorithm>

enum { WIDTH = 20, HEIGHT = 10, LAYERS = 5 };

__global__ void read_lines(cudaTextureObject_t texture, float *out)
{
    int x = threadIdx.x, layer = blockIdx.x;
    out[layer * WIDTH + x] = tex1DLayered<float>(texture, x + 0.75f, layer);
}

__global__ void read_pictures(cudaTextureObject_t texture, float *out)
{
    int x = threadIdx.x, y = threadIdx.y, layer = blockIdx.x;
    out[(layer * HEIGHT + y) * WIDTH + x] =
        tex2DLayered<float>(texture, x + 0.75f, y + 0.25f, layer);
}

static cudaTextureObject_t texture_of(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    for (auto &mode : how.addressMode)
        mode = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    return texture;
}

static cudaArray_t array_of(std::vector<float> &data, int height)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMemcpy3DParms copy = {};
    int rows = height ? height : 1;
    CHECK(cudaMalloc3DArray(&array, &format,
                            make_cudaExtent(WIDTH, height, LAYERS),
                            cudaArrayLayered));
    copy.srcPtr =
        make_cudaPitchedPtr(data.data(), WIDTH * sizeof(float), WIDTH, rows);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(WIDTH, rows, LAYERS);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaExtent extent;
    unsigned flags;
    CHECK(cudaArrayGetInfo(&format, &extent, &flags, array));
    EXPECT(extent.width == WIDTH && extent.depth == LAYERS &&
               flags == cudaArrayLayered && format.x == 32,
           "%zu %zu %zu %u", extent.width, extent.height, extent.depth, flags);
    return array;
}

int main()
{
    std::vector<float> lines(WIDTH * LAYERS), pictures(lines.size() * HEIGHT);
    Random random(28);
    for (float &value : lines)
        value = random.below(1024);
    for (float &value : pictures)
        value = random.below(1024);
    cudaArray_t flat = array_of(lines, 0), deep = array_of(pictures, HEIGHT);
    cudaTextureObject_t flat_texture = texture_of(flat);
    cudaTextureObject_t deep_texture = texture_of(deep);
    float *out = new_on_device<float>(WIDTH * HEIGHT * (LAYERS + 2));
    read_lines<<<LAYERS + 2, WIDTH>>>(flat_texture, out);
    std::vector<float> got = to_host(out, WIDTH * (LAYERS + 2));
    for (int i = 0; i < WIDTH * (LAYERS + 2); i++) {
        int x = i % WIDTH, layer = std::min(i / WIDTH, LAYERS - 1);
        int right = std::min(x + 1, WIDTH - 1);
        float want = 0.75f * lines[layer * WIDTH + x] +
                     0.25f * lines[layer * WIDTH + right];
        EXPECT(got[i] == want, "%d in line %d: %g, not %g", x, i / WIDTH,
               got[i], want);
    }
    read_pictures<<<LAYERS, dim3(WIDTH, HEIGHT)>>>(deep_texture, out);
    std::vector<float> seen = to_host(out, WIDTH * HEIGHT * LAYERS);
    for (int i = 0; i < WIDTH * HEIGHT * LAYERS; i++) {
        int x = i % WIDTH, y = i / WIDTH % HEIGHT;
        const float *layer = &pictures[i / WIDTH / HEIGHT * WIDTH * HEIGHT];
        int right = std::min(x + 1, WIDTH - 1), above = std::max(y - 1, 0);
        float want = 0.75f * 0.75f * layer[y * WIDTH + x] +
                     0.25f * 0.75f * layer[y * WIDTH + right] +
                     0.75f * 0.25f * layer[above * WIDTH + x] +
                     0.25f * 0.25f * layer[above * WIDTH + right];
        EXPECT(seen[i] == want, "%d: %g, not %g", i, seen[i], want);
    }
    CHECK(cudaDestroyTextureObject(flat_texture));
    CHECK(cudaDestroyTextureObject(deep_texture));
    CHECK(cudaFreeArray(flat));
    CHECK(cudaFreeArray(deep));
    CHECK(cudaFree(out));
    return pass("texture_layered", "digest %016llx %016llx",
                (unsigned long long)digest(got),
                (unsigned long long)digest(seen));
}
