/*
 * Variables of the device: copied to and from with offsets, asynchronously,
 * from the device itself; their addresses and sizes; initial values.
 */
#include "program.h"

struct Setting {
    int rows[4];
    double factor;
};

__constant__ Setting setting = {{1, 2, 3, 4}, 0.5};
__constant__ float weights[32];
__device__ int table[64];
__device__ double total = 1.25;
__device__ const int primes[] = {2, 3, 5, 7, 11, 13};
__device__ int *indirect = &table[8];
static __device__ unsigned hidden[3] = {7, 8, 9};

__global__ void mix(int *out)
{
    int i = threadIdx.x;
    table[i] = table[i] * 2 + setting.rows[i % 4] + primes[i % 6];
    out[i] = (int)(weights[i % 32] * 16) + hidden[i % 3];
    if (i == 0)
        total += setting.factor;
    if (i == 8)
        *indirect += 1000;
}

int main()
{
    std::vector<int> values(64), got(64);
    std::vector<float> weight(32);
    for (int i = 0; i < 64; i++)
        values[i] = i * i;
    for (int i = 0; i < 32; i++)
        weight[i] = i / 16.0f;
    CHECK(cudaMemcpyToSymbol(table, values.data(), 64 * 4));
    int *device_part = to_device(std::vector<int>{-5, -6, -7});
    CHECK(cudaMemcpyToSymbol(table, device_part, 12, 20 * 4,
                             cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpyToSymbolAsync(weights, weight.data(), 16 * 4, 0,
                                  cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpyToSymbolAsync(weights, weight.data() + 16, 16 * 4, 16 * 4,
                                  cudaMemcpyHostToDevice, 0));
    int rows[2] = {30, 40};
    CHECK(cudaMemcpyToSymbol(setting, rows, sizeof rows,
                             offsetof(Setting, rows[2])));
    int *out = new_on_device<int>(64);
    mix<<<1, 64>>>(out);
    CHECK(cudaMemcpyFromSymbol(got.data(), table, 64 * 4));
    std::vector<int> seen = to_host(out, 64);
    const int prime[] = {2, 3, 5, 7, 11, 13}, row[] = {1, 2, 30, 40};
    for (int i = 0; i < 64; i++) {
        int start = i >= 20 && i < 23 ? -5 - (i - 20) : values[i];
        int want = start * 2 + row[i % 4] + prime[i % 6];
        want += i == 8 ? 1000 : 0;
        EXPECT(got[i] == want, "table[%d]: %d, not %d", i, got[i], want);
        EXPECT(seen[i] == i % 32 + 7 + i % 3, "out[%d]: %d", i, seen[i]);
    }
    double sum;
    CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    EXPECT(sum == 1.75, "total %g", sum);
    void *address;
    size_t bytes;
    CHECK(cudaGetSymbolAddress(&address, table));
    CHECK(cudaGetSymbolSize(&bytes, table));
    EXPECT(bytes == 256, "%zu bytes", bytes);
    int direct;
    CHECK(cudaMemcpy(&direct, (int *)address + 9, 4, cudaMemcpyDeviceToHost));
    EXPECT(direct == got[9], "%d at the address", direct);
    CHECK(cudaGetSymbolSize(&bytes, setting));
    EXPECT(bytes == sizeof(Setting), "%zu bytes", bytes);
    CHECK(cudaFree(device_part));
    CHECK(cudaFree(out));
    return pass("symbols", "total %g digest %016llx", sum,
                (unsigned long long)digest(got));
}
