/*
 * sph on every device: each has its share of the drops, and two of the three
 * calls of a step bring it what the others made of theirs.
 */
#include "common/device.h"
#include "sph/sph.h"

int main(int argc, char **argv)
{
    struct sph sph;
    sph_open(&sph, argc, argv);
    adsmKernel *density = device_kernel("sph_density");
    adsmKernel *force = device_kernel("sph_force");
    adsmKernel *move = device_kernel("sph_move");
    adsmBox all = adsmR1(sph.n);
    struct sph_drop *drops = device_array(sizeof *drops, all);
    struct sph_state *states = device_array(sizeof *states, all);
    struct sph_push *pushes = device_array(sizeof *pushes, all);

    sph_make(&sph, drops);
    for (int i = 0; i < sph.steps; i++) {
        device_call(density, all, adsmAll(drops), adsmOut(states),
                    adsmVal(sph.n), adsmVal(sph.law));
        device_call(force, all, adsmAll(drops), adsmAll(states),
                    adsmOut(pushes), adsmVal(sph.n), adsmVal(sph.law));
        device_call(move, all, adsmInOut(drops), adsmIn(pushes),
                    adsmVal(sph.law));
    }
    shared_wait();
    sph_finish(&sph, drops);

    shared_free(pushes);
    shared_free(states);
    shared_free(drops);
    return 0;
}
