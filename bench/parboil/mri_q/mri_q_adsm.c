/*
 * mri-q on adsm.h, which also says what the kernels read and write. A chunk is
 * an object and not constant memory.
 */
#include "common/shared.h"
#include "mri_q/mri_q.h"

#include <stdlib.h>
#include <string.h>

static struct mri_q mri;

static void weigh_launch(adsmKernel *kernel, float *weight, const float *phi)
{
    shared_launch(kernel, mri.weigh_grid, mri.block, adsmOut(weight),
                  adsmIn(phi), adsmVal(mri.samples));
    shared_wait();
}

static void add_launch(adsmKernel *kernel, float *q, const float *place,
                       const float *values, int samples)
{
    shared_launch(kernel, mri.add_grid, mri.block, adsmInOut(q), adsmIn(place),
                  adsmVal(mri.voxels), adsmIn(values), adsmVal(samples));
    shared_wait();
}

int main(int argc, char **argv)
{
    mri_q_open(&mri, argc, argv);
    adsmModule *module = shared_load();
    adsmKernel *weigh = shared_kernel(module, "mri_q_weigh");
    adsmKernel *add = shared_kernel(module, "mri_q_add_from");

    float *track = bench_alloc(mri.track_bytes);
    float *values = shared_alloc(mri.values_bytes);
    float *phi = shared_alloc(mri.phi_bytes);
    float *weight = shared_alloc(mri.weight_bytes);
    float *place = shared_alloc(mri.place_bytes);
    float *q = shared_alloc(mri.q_bytes);

    mri_q_read(&mri, track, phi, place);
    weigh_launch(weigh, weight, phi);

    memset(q, 0, mri.q_bytes);
    for (int i = 0; i < mri.chunks; i++) {
        int samples = mri_q_pack(&mri, i, track, weight, values);
        add_launch(add, q, place, values, samples);
    }
    bench_output(q, mri.q_bytes);
    mri_q_finish(&mri);

    shared_free(q);
    shared_free(place);
    shared_free(weight);
    shared_free(phi);
    shared_free(values);
    free(track);
    return 0;
}
