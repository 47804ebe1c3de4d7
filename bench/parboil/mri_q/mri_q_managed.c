/*
 * mri-q on managed memory.
 * What both sides use exists once and the driver moves its pages. Only
 * constant memory is filled by copies.
 */
#include "common/managed.h"
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
    float *phi = managed_alloc(mri.phi_bytes);
    float *weight = managed_alloc(mri.weight_bytes);
    float *place = managed_alloc(mri.place_bytes);
    float *q = managed_alloc(mri.q_bytes);

    mri_q_read(&mri, track, phi, place);
    read_mostly(phi, mri.phi_bytes);
    read_mostly(place, mri.place_bytes);
    prefer_device(q, mri.q_bytes);
    prefetch_to_device(phi, mri.phi_bytes);
    prefetch_to_device(place, mri.place_bytes);
    prefetch_to_device(weight, mri.weight_bytes);
    weigh_launch(weigh, weight, phi);
    prefetch_to_host(weight, mri.weight_bytes);

    device_clear(q, mri.q_bytes);
    device_wait(); /* the CPU reads weight next */
    for (int i = 0; i < mri.chunks; i++) {
        int samples = mri_q_pack(&mri, i, track, weight, values);
        variable_set(constant, values, mri.values_bytes);
        add_launch(add, q, place, samples);
    }
    prefetch_to_host(q, mri.q_bytes);
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
