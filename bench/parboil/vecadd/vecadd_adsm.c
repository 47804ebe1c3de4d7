/*
 * vecadd on adsm.h, which also says what the kernel reads and writes.
 */
#include "common/shared.h"
#include "vecadd/vecadd.h"

static struct vecadd add;

static void add_launch(adsmKernel *kernel, float *sum, const float *a,
                       const float *b)
{
    shared_launch(kernel, add.grid, add.block, adsmOut(sum), adsmIn(a),
                  adsmIn(b), adsmVal(add.elements));
    shared_wait();
}

int main(int argc, char **argv)
{
    vecadd_open(&add, argc, argv);
    adsmKernel *kernel = shared_kernel(shared_load(), "vecadd");

    float *a = shared_alloc(add.bytes);
    float *b = shared_alloc(add.bytes);
    float *sum = shared_alloc(add.bytes);

    vecadd_make(&add, 0, a);
    vecadd_make(&add, 1, b);
    add_launch(kernel, sum, a, b);
    bench_output(sum, add.bytes);
    vecadd_finish(&add);

    shared_free(sum);
    shared_free(b);
    shared_free(a);
    return 0;
}
