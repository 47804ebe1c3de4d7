/*
 * Sparse matrix by vector, ELLPACK: columns of a padded, pitched table.
 */
#include "program.h"

__global__ void ell(int rows, int width, size_t pitch, const int *columns,
                    const char *values, size_t value_pitch, const float *x,
                    float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        int column = *(const int *)((const char *)columns + k * pitch +
                                    row * sizeof(int));
        const float *line = (const float *)(values + k * value_pitch);
        if (column >= 0)
            sum = fmaf(line[row], x[column], sum);
    }
    y[row] = sum;
}

int main()
{
    const int rows = 1111, width = 9;
    std::vector<int> columns(rows * width, -1);
    std::vector<float> values(rows * width), x(rows), want(rows);
    Random random(15);
    for (float &v : x)
        v = random.below(200) - 100;
    for (int row = 0; row < rows; row++) {
        for (int k = 0; k < row % (width + 1); k++) {
            columns[k * rows + row] = random.below(rows);
            values[k * rows + row] = random.below(64) / 8.0f;
            want[row] += values[k * rows + row] * x[columns[k * rows + row]];
        }
    }
    int *device_columns;
    char *device_values;
    size_t pitch, value_pitch, line = rows * sizeof(int);
    CHECK(cudaMallocPitch(&device_columns, &pitch, line, width));
    CHECK(cudaMallocPitch(&device_values, &value_pitch, line, width));
    CHECK(cudaMemcpy2D(device_columns, pitch, columns.data(), line, line, width,
                       cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(device_values, value_pitch, values.data(), line, line,
                       width, cudaMemcpyHostToDevice));
    float *device_x = to_device(x), *y = new_on_device<float>(rows);
    ell<<<(rows + 63) / 64, 64>>>(rows, width, pitch, device_columns,
                                  device_values, value_pitch, device_x, y);
    std::vector<float> got = to_host(y, rows);
    for (int row = 0; row < rows; row++)
        EXPECT(got[row] == want[row], "row %d: %g, not %g", row, got[row],
               want[row]);
    EXPECT(pitch % 4 == 0 && pitch >= line, "pitch %zu", pitch);
    CHECK(cudaFree(device_columns));
    CHECK(cudaFree(device_values));
    CHECK(cudaFree(device_x));
    CHECK(cudaFree(y));
    return pass("spmv_ell", "rows %d digest %016llx", rows,
                (unsigned long long)digest(got));
}
