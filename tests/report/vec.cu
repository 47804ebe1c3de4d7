/*
 * A program of the CUDA runtime API as nvcc makes it, with two things to mend, and
 * each call checked by a function. Knows nothing of libadsm.
 */
#include <cstdio>
#include <cstdlib>

__global__ void add(float *c, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

int main()
{
    const int n = 1 << 18, rounds = 5;
    const size_t bytes = n * sizeof(float);
    float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes);
    float *c = (float *)malloc(bytes), *to_a, *to_b, *to_c;
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
    check(cudaMalloc(&to_a, bytes));
    check(cudaMalloc(&to_b, bytes));
    check(cudaMalloc(&to_c, bytes)); /* ALLOCATES */
    for (int round = 0; round < rounds; round++) {
        b[round] += 1;
        check(cudaMemcpy(to_a, a, bytes, /* PLANTED duplicate */
                         cudaMemcpyHostToDevice));
        check(cudaMemcpy(to_b, b, bytes, cudaMemcpyHostToDevice));
        add<<<n / 256, 256>>>(to_c, to_a, to_b, n); /* LAUNCHES */
        check(cudaMemcpy(c, to_c, bytes, cudaMemcpyDeviceToHost));
        check(cudaDeviceSynchronize()); /* PLANTED needless_sync */
    }
    printf("%f\n", c[7]);
    check(cudaFree(to_a));
    check(cudaFree(to_b));
    check(cudaFree(to_c));
}
