/*
 * mandel on every device: each has its share of the pixels from the first call
 * to the last, and nothing moves in between.
 */
#include <string.h>

#include "common/device.h"
#include "mandel/mandel.h"

int main(int argc, char **argv)
{
    struct mandel mandel;
    mandel_open(&mandel, argc, argv);
    adsmKernel *more = device_kernel("mandel_more");
    adsmBox all = adsmR2(mandel.ny, mandel.nx);
    struct mandel_point *points = device_array(sizeof *points, all);

    memset(points, 0, mandel.bytes);
    for (int i = 0; i < mandel.calls; i++)
        device_call(more, all, adsmInOut(points), adsmVal(mandel.nx),
                    adsmVal(mandel.view), adsmVal(mandel.steps));
    shared_wait();
    mandel_finish(&mandel, points);

    shared_free(points);
    return 0;
}
