/*
 * mri-q on the CUDA driver API.
 */
#include "common/cuda.h"
#include "mri_q/mri_q.h"

#include <stdlib.h>

static struct mri_q mri;

static void weigh_launch(CUfunction kernel, float *weight, float *phi)
{
    void *arguments[] = {&weight, &phi, &mri.samples};
    launch(kernel, mri.weigh_grid, mri.block, arguments);
    device_wait();
}

static void add_launch(CUfunction kernel, float *q, float *place, int samples)
{
    void *arguments[] = {&q, &place, &mri.voxels, &samples};
    launch(kernel, mri.add_grid, mri.block, arguments);
    device_wait();
}

int main(int argc, char **argv)
{
    mri_q_open(&mri, argc, argv);
    CUmodule module = cuda_load();
    CUfunction weigh = cuda_kernel(module, "mri_q_weigh");
    CUfunction add = cuda_kernel(module, "mri_q_add");
    void *constant = cuda_variable(module, "mri_q_values");

    float *track = host_alloc(mri.track_bytes);
    float *values = host_alloc(mri.values_bytes);
    float *phi = device_alloc(mri.phi_bytes);
    float *weight = device_alloc(mri.weight_bytes);
    float *place = device_alloc(mri.place_bytes);
    float *q = device_alloc(mri.q_bytes);

    mri_q_read(&mri, track, phi, place);
    weigh_launch(weigh, weight, phi);

    device_clear(q, mri.q_bytes);
    for (int i = 0; i < mri.chunks; i++) {
        int samples = mri_q_pack(&mri, i, track, weight, values);
        variable_set(constant, values, mri.values_bytes);
        add_launch(add, q, place, samples);
    }
    bench_output(q, mri.q_bytes);
    mri_q_finish(&mri);

    device_free(q);
    device_free(place);
    device_free(weight);
    device_free(phi);
    free(values);
    free(track);
    return 0;
}
