/*
 * Votes and matches of a warp: whole, in part, in divergent branches and with
 * threads that have left.
 */
#include "program.h"

enum { KINDS = 9 };

__global__ void vote(const int *in, unsigned *out)
{
    int i = threadIdx.x, lane = i % 32, value = in[i];
    unsigned *mine = out + i * KINDS;
    mine[0] = __ballot_sync(0xffffffff, value & 1);
    mine[1] = __any_sync(0xffffffff, value == 77) +
              2 * __all_sync(0xffffffff, value >= 0);
    int same = -1;
    mine[2] = __match_any_sync(0xffffffff, value % 5);
    mine[3] = __match_all_sync(0xffffffff, value / 1000, &same);
    mine[4] = same;
    if (value % 3 == 0) {
        unsigned here = __activemask();
        mine[5] = __ballot_sync(here, value & 2) & here;
        __syncwarp(here);
    } else {
        mine[5] = ~0u;
    }
    unsigned half = lane < 16 ? 0xffff : 0xffff0000;
    mine[6] = __ballot_sync(half, value & 4);
    mine[7] = __match_any_sync(half, (long long)value % 3);
    mine[8] = 0;
    if (lane % 4 == 3)
        return;
    mine[8] = __ballot_sync(0x77777777, value & 8);
}

int main()
{
    const int n = 128;
    std::vector<int> in(n);
    Random random(37);
    for (int i = 0; i < n; i++)
        in[i] = i < 64 ? random.below(300) : 1000 + random.below(60);
    in[5] = 77;
    unsigned *out = new_on_device<unsigned>(n * KINDS);
    int *device_in = to_device(in);
    vote<<<1, n>>>(device_in, out);
    std::vector<unsigned> got = to_host(out, n * KINDS);
    for (int i = 0; i < n; i++) {
        unsigned want[KINDS] = {0}, all = 2;
        bool alike = true;
        for (int lane = 0; lane < 32; lane++) {
            int v = in[i / 32 * 32 + lane];
            unsigned bit = 1u << lane;
            bool half = lane / 16 == i % 32 / 16;
            want[0] |= v & 1 ? bit : 0;
            want[1] |= v == 77;
            all = v < 0 ? 0 : all;
            want[2] |= v % 5 == in[i] % 5 ? bit : 0;
            alike &= v / 1000 == in[i] / 1000;
            want[5] |= v % 3 == 0 && v & 2 ? bit : 0;
            want[6] |= half && v & 4 ? bit : 0;
            want[7] |= half && v % 3 == in[i] % 3 ? bit : 0;
            want[8] |= lane % 4 != 3 && v & 8 ? bit : 0;
        }
        want[1] += all;
        want[3] = alike ? ~0u : 0;
        want[4] = alike;
        want[5] = in[i] % 3 == 0 ? want[5] : ~0u;
        want[8] = i % 4 == 3 ? 0 : want[8];
        for (int k = 0; k < KINDS; k++) {
            /* Which threads run a branch together is the device's choice. */
            if (k == 5 && in[i] % 3 == 0)
                EXPECT((got[i * KINDS + k] & ~want[k]) == 0, "branch at %d", i);
            else
                EXPECT(got[i * KINDS + k] == want[k],
                       "thread %d kind %d: %x, not %x", i, k,
                       got[i * KINDS + k], want[k]);
        }
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(out));
    return pass("warp_votes", "digest %016llx",
                (unsigned long long)digest(got));
}
