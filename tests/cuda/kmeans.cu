/*
 * k-means: nearest centre per point, sums in whole numbers by atomics, new
 * centres from the host through constant memory each round.
 */
#include "program.h"

enum { K = 7, DIMENSIONS = 3 };

__constant__ int centres[K][DIMENSIONS];

struct Sums {
    unsigned long long sum[K][DIMENSIONS];
    unsigned count[K], changed;
};

__device__ __host__ inline int nearest(const int (*centre)[DIMENSIONS],
                                       const int *point)
{
    int best = 0, least = 0x7fffffff;
    for (int k = 0; k < K; k++) {
        int square = 0;
        for (int d = 0; d < DIMENSIONS; d++)
            square += (point[d] - centre[k][d]) * (point[d] - centre[k][d]);
        if (square < least) {
            least = square;
            best = k;
        }
    }
    return best;
}

__global__ void assign(const int *points, int *which, int n, Sums *out)
{
    __shared__ Sums sums;
    for (int i = threadIdx.x; i < sizeof sums / 4; i += blockDim.x)
        ((unsigned *)&sums)[i] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int point[DIMENSIONS];
        for (int d = 0; d < DIMENSIONS; d++)
            point[d] = points[i * DIMENSIONS + d];
        int k = nearest(centres, point);
        if (which[i] != k)
            atomicAdd(&sums.changed, 1);
        which[i] = k;
        atomicAdd(&sums.count[k], 1);
        for (int d = 0; d < DIMENSIONS; d++)
            atomicAdd(&sums.sum[k][d], point[d]);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < K * DIMENSIONS; j += blockDim.x)
        atomicAdd(&out->sum[0][j], sums.sum[0][j]);
    for (int j = threadIdx.x; j < K; j += blockDim.x)
        atomicAdd(&out->count[j], sums.count[j]);
    if (threadIdx.x == 0)
        atomicAdd(&out->changed, sums.changed);
}

int main()
{
    const int n = 5000;
    std::vector<int> points(n * DIMENSIONS), labels(n, -1);
    Random random(20);
    for (int i = 0; i < n * DIMENSIONS; i++)
        points[i] = (i / DIMENSIONS % K) * 100 + random.below(140);
    int centre[K][DIMENSIONS];
    memcpy(centre, points.data(), sizeof centre);
    int *device_points = to_device(points), *which = to_device(labels);
    Sums *sums = new_on_device<Sums>(1), got;
    int rounds = 0;
    do {
        CHECK(cudaMemcpyToSymbol(centres, centre, sizeof centre));
        CHECK(cudaMemset(sums, 0, sizeof *sums));
        assign<<<(n + 127) / 128, 128>>>(device_points, which, n, sums);
        CHECK(cudaMemcpy(&got, sums, sizeof got, cudaMemcpyDeviceToHost));
        std::vector<int> now = to_host(which, n);
        for (int i = 0; i < n; i++)
            EXPECT(now[i] == nearest(centre, &points[i * DIMENSIONS]),
                   "round %d point %d: %d", rounds, i, now[i]);
        for (int k = 0; k < K; k++)
            for (int d = 0; d < DIMENSIONS && got.count[k]; d++)
                centre[k][d] = (int)(got.sum[k][d] / got.count[k]);
    } while (got.changed && ++rounds < 100);
    EXPECT(rounds > 1 && rounds < 100, "%d rounds", rounds);
    CHECK(cudaFree(device_points));
    CHECK(cudaFree(which));
    CHECK(cudaFree(sums));
    return pass("kmeans", "rounds %d digest %016llx", rounds,
                (unsigned long long)digest(centre, sizeof centre));
}
