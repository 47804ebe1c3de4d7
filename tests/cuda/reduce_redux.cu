/*
 * The warp reductions of compute capability 8.0, whole warps and parts.
 */
#include "program.h"

enum { KINDS = 8, WARPS = 6 };

__global__ void reduce(const unsigned *in, unsigned *out)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned value = in[threadIdx.x];
    unsigned *mine = out + threadIdx.x;
    const int stride = WARPS * 32;
    /* Warp 0 whole; the others in two parts, cut at a place of their own. */
    bool low = warp == 0 || lane < warp * 5;
    unsigned mask = warp == 0 ? 0xffffffff : (1u << warp * 5) - 1;
    if (!low)
        mask = ~mask;
    mine[0 * stride] = __reduce_add_sync(mask, value);
    mine[1 * stride] = __reduce_min_sync(mask, value);
    mine[2 * stride] = __reduce_max_sync(mask, value);
    mine[3 * stride] = __reduce_and_sync(mask, value | 0xff);
    mine[4 * stride] = __reduce_or_sync(mask, value & 0xf0f);
    mine[5 * stride] = __reduce_xor_sync(mask, value);
    mine[6 * stride] = (unsigned)__reduce_min_sync(mask, (int)value);
    mine[7 * stride] = (unsigned)__reduce_max_sync(mask, (int)value);
}

static unsigned fold(int kind, unsigned a, unsigned b)
{
    switch (kind) {
    case 0:
        return a + b;
    case 1:
        return a < b ? a : b;
    case 2:
        return a > b ? a : b;
    case 3:
        return (a | 0xff) & (b | 0xff);
    case 4:
        return (a | b) & 0xf0f;
    case 5:
        return a ^ b;
    case 6:
        return (int)a < (int)b ? a : b;
    default:
        return (int)a > (int)b ? a : b;
    }
}

int main()
{
    const int n = WARPS * 32;
    std::vector<unsigned> in(n);
    Random random(6);
    for (unsigned &value : in)
        value = random.bits();
    unsigned *device_in = to_device(in);
    unsigned *out = new_on_device<unsigned>(n * KINDS);
    reduce<<<1, n>>>(device_in, out);
    std::vector<unsigned> got = to_host(out, n * KINDS);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < n; i++) {
            int warp = i / 32, cut = warp == 0 ? 32 : warp * 5;
            int from = i % 32 < cut ? 0 : cut, to = i % 32 < cut ? cut : 32;
            unsigned want = in[warp * 32 + from];
            want = fold(kind, want, kind == 0 || kind == 5 ? 0 : want);
            for (int lane = from + 1; lane < to; lane++)
                want = fold(kind, want, in[warp * 32 + lane]);
            EXPECT(got[kind * n + i] == want, "kind %d thread %d: %x, not %x",
                   kind, i, got[kind * n + i], want);
        }
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(out));
    return pass("reduce_redux", "digest %016llx",
                (unsigned long long)digest(got));
}
