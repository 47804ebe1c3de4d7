/*
 * LU factors with partial pivoting, column by column, in double precision; the
 * determinant from their diagonal against the CPU's own elimination.
 */
#include "program.h"

/* One block: row with the largest entry of the column, swapped to the top. */
__global__ void pivot(double *a, int n, int k, int *swaps)
{
    __shared__ double most[128];
    __shared__ int where[128];
    int t = threadIdx.x;
    most[t] = -1;
    where[t] = k;
    for (int row = k + t; row < n; row += 128) {
        if (fabs(a[row * n + k]) > most[t]) {
            most[t] = fabs(a[row * n + k]);
            where[t] = row;
        }
    }
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half &&
            (most[t + half] > most[t] ||
             (most[t + half] == most[t] && where[t + half] < where[t]))) {
            most[t] = most[t + half];
            where[t] = where[t + half];
        }
        __syncthreads();
    }
    int row = where[0];
    for (int column = t; column < n && row != k; column += 128) {
        double kept = a[k * n + column];
        a[k * n + column] = a[row * n + column];
        a[row * n + column] = kept;
    }
    if (t == 0 && row != k)
        ++*swaps;
}

__global__ void scale(double *a, int n, int k)
{
    int row = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n)
        a[row * n + k] /= a[k * n + k];
}

__global__ void eliminate(double *a, int n, int k)
{
    int column = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    int row = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < n)
        a[row * n + column] -= a[row * n + k] * a[k * n + column];
}

static double determinant(std::vector<double> a, int n)
{
    double result = 1;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int row = k + 1; row < n; row++)
            if (std::fabs(a[row * n + k]) > std::fabs(a[best * n + k]))
                best = row;
        for (int j = 0; j < n && best != k; j++)
            std::swap(a[k * n + j], a[best * n + j]);
        result *= best != k ? -a[k * n + k] : a[k * n + k];
        for (int row = k + 1; row < n; row++) {
            double factor = a[row * n + k] / a[k * n + k];
            for (int j = k; j < n; j++)
                a[row * n + j] -= factor * a[k * n + j];
        }
    }
    return result;
}

int main()
{
    const int n = 60;
    std::vector<double> a(n * n);
    Random random(23);
    for (double &value : a)
        value = random.unit() - 0.5;
    double *device_a = to_device(a);
    int *swaps = to_device(std::vector<int>(1));
    for (int k = 0; k < n - 1; k++) {
        int left = n - k - 1;
        pivot<<<1, 128>>>(device_a, n, k, swaps);
        scale<<<(left + 31) / 32, 32>>>(device_a, n, k);
        eliminate<<<dim3((left + 15) / 16, (left + 7) / 8), dim3(16, 8)>>>(
            device_a, n, k);
    }
    std::vector<double> lu = to_host(device_a, n * n);
    double got = to_host(swaps, 1)[0] % 2 ? -1 : 1;
    for (int i = 0; i < n; i++)
        got *= lu[i * n + i];
    double want = determinant(a, n);
    EXPECT(std::fabs(got - want) <= 1e-9 * std::fabs(want), "%.17g, not %.17g",
           got, want);
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(swaps));
    return pass("lu", "n %d determinant %.8e", n, got);
}
