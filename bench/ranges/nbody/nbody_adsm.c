/*
 * nbody on every device: each moves its share of the bodies and reads all of
 * them, so each step brings it what the others have moved.
 */
#include "common/device.h"
#include "nbody/nbody.h"

int main(int argc, char **argv)
{
    struct nbody nbody;
    nbody_open(&nbody, argc, argv);
    adsmKernel *step = device_kernel("nbody_step");
    struct nbody_body *p = device_array(sizeof *p, adsmR1(nbody.n));
    struct nbody_body *q = device_array(sizeof *q, adsmR1(nbody.n));

    nbody_make(&nbody, p);
    for (int i = 0; i < nbody.steps; i++) {
        device_call(step, adsmR1(nbody.n), adsmAll(p), adsmOut(q),
                    adsmVal(nbody.n), adsmVal(nbody.dt));
        struct nbody_body *next = q;
        q = p;
        p = next;
    }
    shared_wait();
    nbody_finish(&nbody, p);

    shared_free(q);
    shared_free(p);
    return 0;
}
