#include <cuda_fp16.h>
#include <cooperative_groups.h>

extern "C" __global__ void reduce(const float *in, float *sum, int n)
{
    __shared__ float part[32];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        v += in[i];
    for (int d = 16; d; d >>= 1)
        v += __shfl_down_sync(~0u, v, d);
    if ((threadIdx.x & 31) == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int d = 16; d; d >>= 1)
            v += __shfl_xor_sync(~0u, v, d);
        if (threadIdx.x == 0)
            atomicAdd(sum, v);
    }
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins,
                                     int n)
{
    __shared__ unsigned mine[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (mine[i])
            atomicAdd(&bins[i], mine[i]);
}

extern "C" __global__ void votes(const int *in, int *out, unsigned long long *m)
{
    int v = in[threadIdx.x];
    unsigned ballot = __ballot_sync(~0u, v > 0);
    int any = __any_sync(~0u, v == 3), all = __all_sync(~0u, v < 100);
    out[threadIdx.x] = __popc(ballot) + any * 100 + all * 1000 +
                       __ffs(v) + __clz(v) + __brev(v) + __byte_perm(v, 7, 0x5140);
    atomicMax(m, (unsigned long long)v);
    __threadfence();
    atomicCAS(&out[64], 0, v);
    int count = __syncthreads_count(v > 2);
    int both = __syncthreads_and(v) + __syncthreads_or(v);
    out[threadIdx.x] += count + both;
}

extern "C" __global__ void halves(const __half *in, __half2 *out, float *wide)
{
    int i = threadIdx.x;
    __half a = in[2 * i], b = in[2 * i + 1];
    __half2 v = __halves2half2(__hadd(a, b), __hmul(a, b));
    out[i] = __hfma2(v, v, __float2half2_rn(0.5f));
    wide[i] = __half2float(a) * (__hgt(a, b) ? 1 : 2);
}

extern "C" __global__ void machine(int *out, const int *code, int n)
{
    int state = threadIdx.x, pc = 0, stack[8];
    for (int i = 0; i < 8; i++)
        stack[i] = i * state;
    while (pc < n) {
        switch (code[pc++]) {
        case 0: state += 3; break;
        case 1: state *= 5; break;
        case 2: stack[state & 7] = state; break;
        case 3: state ^= stack[(state >> 3) & 7]; break;
        case 4: if (state & 1) pc++; break;
        case 5: state = -state; break;
        case 6: state /= 3; break;
        case 7: state %= 1000; break;
        default: out[threadIdx.x] = -1; return;
        }
    }
    out[threadIdx.x] = state;
}

template <typename T> __device__ T scan(T v)
{
    for (int d = 1; d < 32; d *= 2) {
        T up = __shfl_up_sync(~0u, v, d);
        if ((threadIdx.x & 31) >= d)
            v += up;
    }
    return v;
}

extern "C" __global__ void scans(int *ints, double *doubles, long long *longs)
{
    ints[threadIdx.x] = scan(ints[threadIdx.x]);
    doubles[threadIdx.x] = scan(doubles[threadIdx.x]);
    longs[threadIdx.x] = scan(longs[threadIdx.x]) / (threadIdx.x + 1);
}

extern "C" __global__ void lock(int *mutex, int *value)
{
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    *(volatile int *)value += 1;
    __threadfence();
    atomicExch(mutex, 0);
}

extern "C" __global__ void groups(float *out)
{
    auto block = cooperative_groups::this_thread_block();
    auto tile = cooperative_groups::tiled_partition<8>(block);
    float v = out[threadIdx.x];
    for (int d = tile.size() / 2; d; d /= 2)
        v += tile.shfl_down(v, d);
    block.sync();
    out[threadIdx.x] = v;
}
