/*
 * lu on every device, as a call that reads the whole matrix and writes a share
 * of its rows, once for each column.
 */
#include "common/device.h"
#include "lu/lu.h"

int main(int argc, char **argv)
{
    struct lu lu;
    lu_open(&lu, argc, argv);
    adsmKernel *step = device_kernel("lu_step");
    float *a = device_array(sizeof *a, adsmR2(lu.n, lu.n));
    float *b = device_array(sizeof *b, adsmR2(lu.n, lu.n));

    lu_make(&lu, a);
    for (long k = 0; k + 1 < lu.n; k++) {
        device_call(step, adsmR2(lu.n, lu.n), adsmAll(a), adsmOut(b),
                    adsmVal(lu.n), adsmVal(k));
        float *next = b;
        b = a;
        a = next;
    }
    shared_wait();
    lu_finish(&lu, a);

    shared_free(b);
    shared_free(a);
    return 0;
}
