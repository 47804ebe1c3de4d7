// Textures, surfaces, bytes in words, tiles of a warp, copies into shared
// memory, memory from the stack.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

extern "C" __global__ void sample(cudaTextureObject_t plane,
                                  cudaTextureObject_t layers,
                                  cudaTextureObject_t line, float4 *out)
{
    int i = threadIdx.x;
    float4 v = tex2D<float4>(plane, i * 0.5f, i * 0.25f);
    v.x += tex2DLayered<float>(layers, i * 0.1f, 0.5f, i & 3);
    v.y += tex2DLod<float>(plane, 0.5f, 0.25f, (float)i);
    v.z += (float)tex1Dfetch<int>(line, i);
    float4 g = tex2Dgather<float4>(plane, 0.5f, 0.5f, 1);
    v.w += tex3D<float>(plane, g.x, g.y, g.z);
    out[i] = v;
}

extern "C" __global__ void draw(cudaSurfaceObject_t plane,
                                cudaSurfaceObject_t box, int *out)
{
    int x = threadIdx.x, y = threadIdx.y;
    surf2Dwrite(make_float2(x, y), plane, x * 8, y);
    surf3Dwrite((unsigned char)x, box, x, y, 1, cudaBoundaryModeZero);
    short s = surf2DLayeredread<short>(plane, x * 2, y, 1,
                                       cudaBoundaryModeClamp);
    out[x] = s + surf1Dread<int>(plane, x * 4);
}

extern "C" __global__ void bytes(const unsigned *a, const unsigned *b,
                                 unsigned *out)
{
    int i = threadIdx.x;
    out[i] = __vabsdiffu4(a[i], b[i]) ^ __vabsdiffu2(a[i], b[i]) ^
             __vsadu4(a[i], b[i]) ^ __vmaxs2(a[i], b[i]);
}

extern "C" __global__ void tiles(int *out)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int v = out[threadIdx.x];
    for (int n = 4; n; n /= 2)
        v += tile.shfl_down(v, n);
    out[threadIdx.x] = tile.any(v > 3) + tile.ballot(v & 1) + v;
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void copies(const float4 *in, float4 *out)
{
    __shared__ float4 s[64];
    int t = threadIdx.x & 31;
    __pipeline_memcpy_async(&s[t], &in[t], 16);
    __pipeline_memcpy_async(&s[t + 32], &in[t], 16, 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[63 - t];
}
#endif

extern "C" __global__ void stack(int *out, int n)
{
    int *p = (int *)__builtin_alloca(n * sizeof *p), sum = 0;
    for (int i = 0; i < n; i++)
        p[i] = i * n;
    for (int i = 0; i < n; i++)
        sum += p[i * 7 % n];
    out[threadIdx.x] = sum;
}
