/*
 * Scan in one pass: each block publishes its sum, then looks back over the
 * blocks before it until one has published its whole prefix.
 */
#include "program.h"

enum { THREADS = 128, EACH = 4, CHUNK = THREADS * EACH };
enum { NOTHING, SUM, PREFIX };

__device__ unsigned next_chunk;

/* State in the upper word, value in the lower: one word says both. */
__device__ void publish(unsigned long long *place, unsigned state, unsigned v)
{
    __threadfence();
    atomicExch(place, (unsigned long long)state << 32 | v);
}

__device__ unsigned look_back(unsigned long long *states, int chunk)
{
    unsigned sum = 0;
    for (int before = chunk - 1; before >= 0; before--) {
        unsigned long long word;
        do
            word = *(volatile unsigned long long *)&states[before];
        while (word >> 32 == NOTHING);
        sum += (unsigned)word;
        if (word >> 32 == PREFIX)
            break;
    }
    return sum;
}

__global__ void scan(const unsigned *in, unsigned *out,
                     unsigned long long *states, int n)
{
    __shared__ unsigned sums[THREADS], chunk, prefix;
    int t = threadIdx.x;
    /* Chunks are taken in the order in which blocks really start. */
    if (t == 0)
        chunk = atomicAdd(&next_chunk, 1);
    __syncthreads();
    unsigned values[EACH], sum = 0;
    for (int k = 0; k < EACH; k++) {
        int i = chunk * CHUNK + t * EACH + k;
        sum += i < n ? in[i] : 0;
        values[k] = sum;
    }
    sums[t] = sum;
    for (int offset = 1; offset < THREADS; offset *= 2) {
        __syncthreads();
        unsigned before = t >= offset ? sums[t - offset] : 0;
        __syncthreads();
        sums[t] += before;
    }
    if (t == THREADS - 1) {
        publish(&states[chunk], chunk == 0 ? PREFIX : SUM, sums[t]);
        prefix = look_back(states, chunk);
        publish(&states[chunk], PREFIX, prefix + sums[t]);
    }
    __syncthreads();
    unsigned base = prefix + sums[t] - sum;
    for (int k = 0; k < EACH; k++) {
        int i = chunk * CHUNK + t * EACH + k;
        if (i < n)
            out[i] = base + values[k];
    }
}

int main()
{
    const int n = 60001, chunks = (n + CHUNK - 1) / CHUNK;
    std::vector<unsigned> in(n);
    Random random(11);
    for (unsigned &value : in)
        value = random.below(50000);
    unsigned *device_in = to_device(in), *out = new_on_device<unsigned>(n);
    auto *states = new_on_device<unsigned long long>(chunks);
    unsigned want = 0, zero = 0;
    for (int round = 0; round < 2; round++) {
        CHECK(cudaMemset(states, 0, chunks * sizeof *states));
        CHECK(cudaMemcpyToSymbol(next_chunk, &zero, sizeof zero));
        scan<<<chunks, THREADS>>>(device_in, out, states, n);
        std::vector<unsigned> got = to_host(out, n);
        want = 0;
        for (int i = 0; i < n; i++) {
            want += in[i];
            EXPECT(got[i] == want, "out[%d] = %u, not %u", i, got[i], want);
        }
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(states));
    return pass("scan_lookback", "n %d total %u", n, want);
}
