/* A program for nvcc whose CPU uses what cudaMalloc gave: README.md. */
#include <stdio.h>

__global__ void scale(float *x, long n, float factor)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factor;
}

int main(void)
{
    float *x;
    long n = 1000000;
    cudaMalloc(&x, n * sizeof *x);
    for (long i = 0; i < n; i++)
        x[i] = i; /* the CPU, in device memory */
    scale<<<(n + 255) / 256, 256>>>(x, n, 3);
    printf("%.0f %.0f\n", x[1], x[n - 1]); /* waits, then fetches these */
    return cudaFree(x);
}
