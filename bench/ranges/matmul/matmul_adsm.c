/*
 * matmul on every device: each has a share of the rows of A and C, and all of B.
 * What they have made goes to the host at the same time.
 */
#include "common/device.h"
#include "matmul/matmul.h"

int main(int argc, char **argv)
{
    struct matmul m;
    matmul_open(&m, argc, argv);
    adsmKernel *product = device_kernel("matmul");
    float *a = device_array(sizeof *a, adsmR2(m.rows, m.inner));
    float *b = device_array(sizeof *b, adsmR2(m.inner, m.columns));
    float *c = device_array(sizeof *c, adsmR2(m.rows, m.columns));

    matmul_make(&m, a, b);
    device_call_with(((adsmOpts){.fetch = 1}), product,
                     adsmR2(m.rows, m.columns), adsmRows(adsmIn(a)), adsmAll(b),
                     adsmOut(c), adsmVal(m.inner), adsmVal(m.columns));
    shared_wait();
    matmul_finish(&m, c);

    shared_free(c);
    shared_free(b);
    shared_free(a);
    return 0;
}
