/*
 * floyd on every device: each writes a share of the rows and reads one row of
 * all, another in each step.
 */
#include "common/device.h"
#include "floyd/floyd.h"

int main(int argc, char **argv)
{
    struct floyd floyd;
    floyd_open(&floyd, argc, argv);
    adsmKernel *step = device_kernel("floyd_step");
    int32_t *path = device_array(sizeof *path, adsmR2(floyd.n, floyd.n));

    floyd_make(&floyd, path);
    for (long k = 0; k < floyd.steps; k++)
        device_call(step, adsmR2(floyd.n, floyd.n),
                    adsmBoxed(path, ADSM_INOUT, "[i][:]"),
                    adsmBoxed(path, ADSM_IN, "[$1][:]", k), adsmVal(floyd.n),
                    adsmVal(k));
    shared_wait();
    floyd_finish(&floyd, path);

    shared_free(path);
    return 0;
}
