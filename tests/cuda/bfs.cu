/*
 * Breadth-first search: frontiers as queues, a node claimed by compare and
 * swap, the size of the next frontier read back after each level.
 */
#include "program.h"

__global__ void expand(const int *from, const int *edges, int *distance,
                       const int *frontier, int size, int *next, int *next_size,
                       int level)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size)
        return;
    int node = frontier[i];
    for (int e = from[node]; e < from[node + 1]; e++) {
        int other = edges[e];
        if (atomicCAS(&distance[other], -1, level + 1) == -1)
            next[atomicAdd(next_size, 1)] = other;
    }
}

int main()
{
    const int n = 4000;
    std::vector<int> from(1), edges, want(n, -1), queue;
    Random random(21);
    for (int node = 0; node < n; node++) {
        /* Mostly near neighbours, so that there are many levels. */
        for (int k = 1 + random.below(3); k > 0; k--)
            edges.push_back((node + 1 + random.below(60)) % n);
        if (node % 400 == 3)
            for (int k = 0; k < 200; k++)
                edges.push_back(random.below(n / 2));
        from.push_back((int)edges.size());
    }
    int *device_from = to_device(from), *device_edges = to_device(edges);
    int *distance = to_device(want);
    int *frontier = new_on_device<int>(n), *next = new_on_device<int>(n);
    int *next_size = new_on_device<int>(1);
    int size = 1, level = 0, zero = 0;
    CHECK(cudaMemcpy(distance + 7, &zero, 4, cudaMemcpyHostToDevice));
    int root = 7;
    CHECK(cudaMemcpy(frontier, &root, 4, cudaMemcpyHostToDevice));
    while (size > 0) {
        CHECK(cudaMemset(next_size, 0, sizeof(int)));
        expand<<<(size + 63) / 64, 64>>>(device_from, device_edges, distance,
                                         frontier, size, next, next_size,
                                         level++);
        CHECK(cudaMemcpy(&size, next_size, 4, cudaMemcpyDeviceToHost));
        std::swap(frontier, next);
    }
    std::vector<int> got = to_host(distance, n);
    want[root] = 0;
    queue.push_back(root);
    for (size_t head = 0; head < queue.size(); head++)
        for (int e = from[queue[head]]; e < from[queue[head] + 1]; e++)
            if (want[edges[e]] < 0) {
                want[edges[e]] = want[queue[head]] + 1;
                queue.push_back(edges[e]);
            }
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == want[i], "node %d: %d, not %d", i, got[i], want[i]);
    EXPECT(level - 1 == want[queue.back()], "%d levels", level);
    for (int *p :
         {device_from, device_edges, distance, frontier, next, next_size})
        CHECK(cudaFree(p));
    return pass("bfs", "reached %zu levels %d digest %016llx", queue.size(),
                level, (unsigned long long)digest(got));
}
