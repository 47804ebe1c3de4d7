/*
 * Sparse matrix by vector, compressed rows: a thread per row and a warp per
 * row, which must agree exactly.
 */
#include "program.h"

__global__ void by_thread(int rows, const int *from, const int *column,
                          const double *value, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = 0;
    for (int i = from[row]; i < from[row + 1]; i++)
        sum += value[i] * x[column[i]];
    y[row] = sum;
}

__global__ void by_warp(int rows, const int *from, const int *column,
                        const double *value, const double *x, double *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    double sum = 0;
    for (int i = from[row] + lane; i < from[row + 1]; i += 32)
        sum += value[i] * x[column[i]];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        y[row] = sum;
}

int main()
{
    const int rows = 1500, columns = 1100;
    std::vector<int> from(1), column;
    std::vector<double> value, x(columns), want(rows);
    Random random(14);
    for (double &v : x)
        v = random.below(2001) - 1000;
    for (int row = 0; row < rows; row++) {
        int count = row % 50 == 7 ? 0 : random.below(row % 97 == 0 ? 400 : 12);
        for (int i = 0; i < count; i++) {
            column.push_back(random.below(columns));
            value.push_back(random.below(101) - 50);
            want[row] += value.back() * x[column.back()];
        }
        from.push_back((int)column.size());
    }
    int *device_from = to_device(from), *device_column = to_device(column);
    double *device_value = to_device(value), *device_x = to_device(x);
    double *y = new_on_device<double>(2 * rows);
    by_thread<<<(rows + 127) / 128, 128>>>(rows, device_from, device_column,
                                           device_value, device_x, y);
    by_warp<<<(rows + 3) / 4, 128>>>(rows, device_from, device_column,
                                     device_value, device_x, y + rows);
    std::vector<double> got = to_host(y, 2 * rows);
    for (int i = 0; i < 2 * rows; i++)
        EXPECT(got[i] == want[i % rows], "row %d: %g, not %g", i, got[i],
               want[i % rows]);
    CHECK(cudaFree(device_from));
    CHECK(cudaFree(device_column));
    CHECK(cudaFree(device_value));
    CHECK(cudaFree(device_x));
    CHECK(cudaFree(y));
    return pass("spmv_csr", "entries %zu digest %016llx", column.size(),
                (unsigned long long)digest(got));
}
