/*
 * heat3d on every device: a step brings each the planes beside its own.
 */
#include "common/device.h"
#include "heat3d/heat3d.h"

/* The six cells beside one. */
static adsmArg neighbours(const float *cells)
{
    adsmArg arg = adsmCross(cells, 1, 1, ADSM_EDGE_NONE);
    arg.radius[2] = 1; /* the macro is for two dimensions */
    return arg;
}

int main(int argc, char **argv)
{
    struct heat3d heat;
    heat3d_open(&heat, argc, argv);
    adsmKernel *step = device_kernel("heat3d_step");
    adsmBox all = adsmR3(heat.nz, heat.ny, heat.nx);
    float *now = device_array(sizeof *now, all);
    float *next = device_array(sizeof *next, all);

    heat3d_make(&heat, now);
    for (int i = 0; i < heat.steps; i++) {
        device_call(step, all, neighbours(now), adsmOut(next), adsmVal(heat.nz),
                    adsmVal(heat.ny), adsmVal(heat.nx), adsmVal(heat.factor));
        float *last = now;
        now = next;
        next = last;
    }
    shared_wait();
    heat3d_finish(&heat, now);

    shared_free(next);
    shared_free(now);
    return 0;
}
