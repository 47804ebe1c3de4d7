/*
 * vecadd on the CUDA driver API.
 */
#include "common/cuda.h"
#include "vecadd/vecadd.h"

static struct vecadd add;

static void add_launch(CUfunction kernel, float *sum, float *a, float *b)
{
    void *arguments[] = {&sum, &a, &b, &add.elements};
    launch(kernel, add.grid, add.block, arguments);
    device_wait();
}

int main(int argc, char **argv)
{
    vecadd_open(&add, argc, argv);
    CUfunction kernel = cuda_kernel(cuda_load(), "vecadd");

    float *a = device_alloc(add.bytes);
    float *b = device_alloc(add.bytes);
    float *sum = device_alloc(add.bytes);

    vecadd_make(&add, 0, a);
    vecadd_make(&add, 1, b);
    add_launch(kernel, sum, a, b);
    bench_output(sum, add.bytes);
    vecadd_finish(&add);

    device_free(sum);
    device_free(b);
    device_free(a);
    return 0;
}
