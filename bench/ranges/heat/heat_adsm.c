/*
 * heat on every device: a step brings each the rows beside its own. Between two
 * steps the CPU writes into the plate as into any array.
 */
#include "common/device.h"
#include "heat/heat.h"

int main(int argc, char **argv)
{
    struct heat heat;
    heat_open(&heat, argc, argv);
    adsmKernel *step = device_kernel("heat_step");
    adsmBox all = adsmR2(heat.ny, heat.nx);
    float *now = device_array(sizeof *now, all);
    float *next = device_array(sizeof *next, all);

    heat_make(&heat, now);
    for (int i = 0; i < heat.steps; i++) {
        heat_touch(&heat, i, now);
        device_call(step, all, adsmCross(now, 1, 1, ADSM_EDGE_NONE),
                    adsmOut(next), adsmVal(heat.ny), adsmVal(heat.nx),
                    adsmVal(heat.factor));
        float *last = now;
        now = next;
        next = last;
    }
    shared_wait();
    heat_finish(&heat, now);

    shared_free(next);
    shared_free(now);
    return 0;
}
