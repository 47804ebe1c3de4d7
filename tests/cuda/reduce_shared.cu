/*
 * Sum and maximum by a tree in shared memory, the last block finishing what
 * the others left (threadfence and a ticket).
 */
#include "program.h"

#include <climits>

enum { THREADS = 256 };

struct Result {
    long long sum;
    int most;
};

__device__ unsigned tickets;

__device__ void combine(Result *a, const Result &b)
{
    a->sum += b.sum;
    a->most = max(a->most, b.most);
}

__device__ Result reduce_block(Result *shared, Result mine)
{
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            combine(&shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    return shared[0];
}

__global__ void reduce(const int *in, int n, Result *partial, Result *out)
{
    __shared__ Result shared[THREADS];
    __shared__ bool is_last;
    Result mine = {0, INT_MIN};
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n;
         i += gridDim.x * THREADS)
        combine(&mine, Result{in[i], in[i]});
    Result all = reduce_block(shared, mine);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = all;
        __threadfence();
        is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last)
        return;
    mine = {0, INT_MIN};
    for (int i = threadIdx.x; i < gridDim.x; i += THREADS)
        combine(&mine, partial[i]);
    all = reduce_block(shared, mine);
    if (threadIdx.x == 0)
        *out = all;
}

int main()
{
    const int n = 250007, blocks = 37;
    std::vector<int> in(n);
    Random random(4);
    Result want = {0, INT_MIN};
    for (int &value : in) {
        value = random.below(2000001) - 1000000;
        want.sum += value;
        want.most = value > want.most ? value : want.most;
    }
    int *device_in = to_device(in);
    Result *partial = new_on_device<Result>(blocks);
    Result *out = new_on_device<Result>(1);
    for (int round = 0; round < 3; round++) {
        CHECK(cudaMemset(out, 0xff, sizeof *out));
        reduce<<<blocks, THREADS>>>(device_in, n, partial, out);
        Result got = to_host(out, 1)[0];
        EXPECT(got.sum == want.sum, "%lld, not %lld", got.sum, want.sum);
        EXPECT(got.most == want.most, "%d, not %d", got.most, want.most);
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(partial));
    CHECK(cudaFree(out));
    return pass("reduce_shared", "sum %lld most %d", want.sum, want.most);
}
