/*
 * vecadd on the CUDA driver API, by somebody who is not sure what the other
 * side has seen: every array is copied to the device before every kernel and
 * back after it.
 */
#include "common/cuda.h"
#include "vecadd/vecadd.h"

#include <stdlib.h>

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
    float *host_a = host_alloc(add.bytes);
    float *host_b = host_alloc(add.bytes);
    float *host_sum = host_alloc(add.bytes);

    vecadd_make(&add, 0, host_a);
    vecadd_make(&add, 1, host_b);
    upload(a, host_a, add.bytes);
    upload(b, host_b, add.bytes);
    upload(sum, host_sum, add.bytes);
    add_launch(kernel, sum, a, b);
    download(host_a, a, add.bytes);
    download(host_b, b, add.bytes);
    download(host_sum, sum, add.bytes);
    bench_output(host_sum, add.bytes);
    vecadd_finish(&add);

    free(host_sum);
    free(host_b);
    free(host_a);
    device_free(sum);
    device_free(b);
    device_free(a);
    return 0;
}
