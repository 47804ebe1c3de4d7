/*
 * Managed memory: a list built by the host and walked by the device, both
 * sides writing in turn, and managed variables.
 */
#include "program.h"

struct Node {
    int value;
    Node *next;
};

__managed__ int counter = 5;
__managed__ float table[8] = {0, 1, 2};

__global__ void walk(Node *node, long long *sum)
{
    for (; node; node = node->next) {
        *sum += node->value;
        node->value = -node->value;
    }
    counter += 10;
    for (int i = 0; i < 8; i++)
        table[i] += 0.5f;
}

__global__ void grow(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * 2 + 1;
}

int main()
{
    int supported = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrManagedMemory, 0));
    if (!supported)
        return skip("managed", "the device has no managed memory");
    const int n = 300;
    Node *nodes;
    long long *sum, want = 0;
    CHECK(cudaMallocManaged(&nodes, n * sizeof *nodes));
    CHECK(cudaMallocManaged(&sum, sizeof *sum));
    for (int i = 0; i < n; i++) {
        nodes[i].value = i * 7 % 100;
        nodes[i].next = i + 1 < n ? &nodes[(i * 37 + 37) % n] : nullptr;
    }
    for (Node *node = nodes; node; node = node->next)
        want += node->value;
    *sum = 0;
    walk<<<1, 1>>>(nodes, sum);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*sum == want, "%lld, not %lld", *sum, want);
    EXPECT(nodes[37].value == -(37 * 7 % 100), "%d", nodes[37].value);
    EXPECT(counter == 15, "counter %d", counter);
    counter = 100;
    table[7] = 3;
    *sum = 0;
    walk<<<1, 1>>>(nodes, sum);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*sum == -want && counter == 110, "%lld %d", *sum, counter);
    EXPECT(table[2] == 3 && table[7] == 3.5f, "%g %g", table[2], table[7]);

    int *data;
    CHECK(cudaMallocManaged(&data, 10000 * sizeof *data, cudaMemAttachGlobal));
    long long total = 0, expected = 0;
    for (int i = 0; i < 10000; i++)
        data[i] = i;
    for (int round = 0; round < 3; round++) {
        grow<<<40, 256>>>(data, 10000);
        CHECK(cudaDeviceSynchronize());
        data[round]++;
    }
    for (int i = 0; i < 10000; i++) {
        int value = i;
        for (int round = 0; round < 3; round++)
            value = value * 2 + 1 + (round == i);
        expected += value;
        total += data[i];
    }
    EXPECT(total == expected, "%lld, not %lld", total, expected);
    int copied[3];
    CHECK(cudaMemcpy(copied, data + 5, sizeof copied, cudaMemcpyDefault));
    EXPECT(copied[1] == 6 * 8 + 7, "%d", copied[1]);
    CHECK(cudaFree(nodes));
    CHECK(cudaFree(sum));
    CHECK(cudaFree(data));
    return pass("managed", "sum %lld total %lld", want, total);
}
