/*
 * vecadd on managed memory.
 * What both sides use exists once and the driver moves its pages; nothing is
 * copied.
 */
#include "common/managed.h"
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

    float *a = managed_alloc(add.bytes);
    float *b = managed_alloc(add.bytes);
    float *sum = managed_alloc(add.bytes);

    vecadd_make(&add, 0, a);
    vecadd_make(&add, 1, b);
    read_mostly(a, add.bytes);
    read_mostly(b, add.bytes);
    prefetch_to_device(a, add.bytes);
    prefetch_to_device(b, add.bytes);
    prefetch_to_device(sum, add.bytes);
    add_launch(kernel, sum, a, b);
    prefetch_to_host(sum, add.bytes);
    bench_output(sum, add.bytes);
    vecadd_finish(&add);

    device_free(sum);
    device_free(b);
    device_free(a);
    return 0;
}
