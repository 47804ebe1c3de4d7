/*
 * Vector addition: the first program of everybody, with a size that is no
 * multiple of anything.
 */
#include "program.h"

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    const int n = 100003;
    std::vector<float> a(n), b(n);
    Random random(1);
    for (int i = 0; i < n; i++) {
        a[i] = random.unit();
        b[i] = random.unit() * 8;
    }
    float *device_a = to_device(a), *device_b = to_device(b);
    float *device_c = new_on_device<float>(n);
    add<<<(n + 255) / 256, 256>>>(device_a, device_b, device_c, n);
    CHECK(cudaGetLastError());
    std::vector<float> c = to_host(device_c, n);
    for (int i = 0; i < n; i++)
        EXPECT(c[i] == a[i] + b[i], "c[%d] = %g", i, c[i]);
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(device_c));
    return pass("vecadd", "n %d digest %016llx", n,
                (unsigned long long)digest(c));
}
