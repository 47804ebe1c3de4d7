/*
 * Atomics built from compare and swap: a float maximum, a product, a double
 * sum the old way, 16-bit words, exchange as a hand-over, scopes.
 */
#include "program.h"

__device__ float max_float(float *where, float value)
{
    int *word = (int *)where, old = *word, seen;
    do {
        seen = old;
        if (__int_as_float(seen) >= value)
            break;
        old = atomicCAS(word, seen, __float_as_int(value));
    } while (old != seen);
    return __int_as_float(old);
}

__device__ double add_double(double *where, double value)
{
    auto *word = (unsigned long long *)where;
    unsigned long long old = *word, seen;
    do {
        seen = old;
        double sum = __longlong_as_double(seen) + value;
        old = atomicCAS(word, seen, __double_as_longlong(sum));
    } while (old != seen);
    return __longlong_as_double(old);
}

__device__ void multiply(unsigned *where, unsigned factor)
{
    unsigned old = *where, seen;
    do {
        seen = old;
        old = atomicCAS(where, seen, seen * factor);
    } while (old != seen);
}

struct Totals {
    float most;
    unsigned product;
    double by_hand, direct;
    unsigned long long exchanged, handed_in;
    unsigned short small[2];
    int scoped, flags;
};

__global__ void combine(const float *in, int n, Totals *totals)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    max_float(&totals->most, in[i]);
    multiply(&totals->product, 2 * i + 1);
    add_double(&totals->by_hand, in[i]);
    atomicAdd(&totals->direct, (double)in[i]);
    /* What one puts in another takes out: nothing may get lost. */
    unsigned long long got = atomicExch(&totals->exchanged, i + 1ull);
    atomicAdd(&totals->handed_in, got);
    unsigned short old = totals->small[i % 2], seen;
    do {
        seen = old;
        old =
            atomicCAS(&totals->small[i % 2], seen, (unsigned short)(seen + 1));
    } while (old != seen);
    atomicAdd_system(&totals->scoped, 1);
    atomicAdd_block(&totals->scoped, 0);
    atomicOr(&totals->flags, 1 << i % 31);
}

int main()
{
    const int n = 3001;
    std::vector<float> in(n);
    Random random(38);
    Totals want;
    memset(&want, 0, sizeof want);
    want.most = -1;
    want.product = 1;
    Totals *totals = to_device(std::vector<Totals>(1, want));
    for (int i = 0; i < n; i++) {
        in[i] = random.below(100000);
        want.most = std::fmax(want.most, in[i]);
        want.product *= 2 * i + 1;
        want.direct += in[i];
    }
    float *device_in = to_device(in);
    combine<<<(n + 127) / 128, 128>>>(device_in, n, totals);
    Totals got = to_host(totals, 1)[0];
    EXPECT(got.most == want.most, "%g, not %g", got.most, want.most);
    EXPECT(got.product == want.product, "%u, not %u", got.product,
           want.product);
    EXPECT(got.direct == want.direct && got.by_hand == want.direct,
           "%g and %g, not %g", got.direct, got.by_hand, want.direct);
    EXPECT(got.exchanged + got.handed_in == (unsigned long long)n * (n + 1) / 2,
           "%llu left, %llu handed in", got.exchanged, got.handed_in);
    EXPECT(got.small[0] == (n + 1) / 2 && got.small[1] == n / 2, "%d %d",
           got.small[0], got.small[1]);
    EXPECT(got.scoped == n && got.flags == 0x7fffffff, "%d %x", got.scoped,
           got.flags);
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(totals));
    return pass("atomic_cas", "most %g product %u sum %.0f", got.most,
                got.product, got.direct);
}
