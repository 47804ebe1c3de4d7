/*
 * Reductions by atomics alone: every kind the language has, in global and in
 * shared memory, with results that do not depend on the order.
 */
#include "program.h"

#include <climits>

struct Sums {
    int add, min, max, band, bor, bxor;
    unsigned uadd, umin, umax, inc, dec;
    unsigned long long wide;
    long long wide_min, wide_max;
    float fadd;
    double dadd;
};

__device__ void gather(Sums *sums, int value)
{
    atomicAdd(&sums->add, value);
    atomicMin(&sums->min, value);
    atomicMax(&sums->max, value);
    atomicAnd(&sums->band, value | 0x30);
    atomicOr(&sums->bor, value & 0x7070);
    atomicXor(&sums->bxor, value);
    atomicSub(&sums->uadd, (unsigned)value);
    atomicMin(&sums->umin, (unsigned)value);
    atomicMax(&sums->umax, (unsigned)value);
    atomicInc(&sums->inc, 1000);
    atomicDec(&sums->dec, 700);
    atomicAdd(&sums->wide, (unsigned long long)(long long)value);
    atomicMin(&sums->wide_min, (long long)value << 20);
    atomicMax(&sums->wide_max, (long long)value << 20);
    atomicAdd(&sums->fadd, (float)(value & 3));
    atomicAdd(&sums->dadd, (double)value);
}

__global__ void direct(const int *in, int n, Sums *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        gather(sums, in[i]);
}

__global__ void staged(const int *in, int n, Sums *out)
{
    __shared__ Sums sums;
    if (threadIdx.x == 0)
        sums = *out;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        gather(&sums, in[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        *out = sums;
}

static Sums expected(const std::vector<int> &in, const Sums &start)
{
    Sums s = start;
    for (int v : in) {
        s.add += v;
        s.min = v < s.min ? v : s.min;
        s.max = v > s.max ? v : s.max;
        s.band &= v | 0x30;
        s.bor |= v & 0x7070;
        s.bxor ^= v;
        s.uadd -= (unsigned)v;
        s.umin = (unsigned)v < s.umin ? (unsigned)v : s.umin;
        s.umax = (unsigned)v > s.umax ? (unsigned)v : s.umax;
        s.inc = s.inc >= 1000 ? 0 : s.inc + 1;
        s.dec = s.dec == 0 || s.dec > 700 ? 700 : s.dec - 1;
        s.wide += (unsigned long long)(long long)v;
        long long w = (long long)v * (1 << 20);
        s.wide_min = w < s.wide_min ? w : s.wide_min;
        s.wide_max = w > s.wide_max ? w : s.wide_max;
        s.fadd += v & 3;
        s.dadd += v;
    }
    return s;
}

int main()
{
    const int n = 7777;
    std::vector<int> in(n);
    Random random(7);
    for (int &value : in)
        value = random.below(100000) - 50000;
    Sums start;
    memset(&start, 0, sizeof start);
    start.min = start.umin = INT_MAX;
    start.max = INT_MIN;
    start.band = -1;
    start.wide_min = LLONG_MAX;
    start.wide_max = LLONG_MIN;
    int *device_in = to_device(in);
    Sums *sums = to_device(std::vector<Sums>(2, start));
    direct<<<(n + 127) / 128, 128>>>(device_in, n, sums);
    staged<<<1, 512>>>(device_in, n, sums + 1);
    std::vector<Sums> got = to_host(sums, 2);
    Sums want = expected(in, start);
    for (int way = 0; way < 2; way++)
        EXPECT(memcmp(&got[way], &want, sizeof want) == 0,
               "way %d: add %d/%d min %d/%d inc %u/%u dec %u/%u f %g/%g", way,
               got[way].add, want.add, got[way].min, want.min, got[way].inc,
               want.inc, got[way].dec, want.dec, got[way].fadd, want.fadd);
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(sums));
    return pass("reduce_atomics", "add %d xor %x wide %lld inc %u dec %u",
                want.add, want.bxor, (long long)want.wide, want.inc, want.dec);
}
