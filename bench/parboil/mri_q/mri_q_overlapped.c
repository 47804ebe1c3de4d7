/*
 * mri-q on the CUDA driver API, overlapped by hand: voxels go to the device
 * while weights are computed there, chunks are packed while those before are
 * added, and Q is written out piece by piece. Constant memory is one, so a
 * chunk's copy still waits for the kernel before it.
 */
#include "common/overlap.h"
#include "mri_q/mri_q.h"

#include <stdlib.h>

static struct mri_q mri;

static void weigh_launch(CUfunction kernel, float *weight, float *phi)
{
    void *arguments[] = {&weight, &phi, &mri.samples};
    overlap_launch(kernel, mri.weigh_grid, mri.block, arguments);
}

static void add_launch(CUfunction kernel, float *q, float *place, int samples)
{
    void *arguments[] = {&q, &place, &mri.voxels, &samples};
    overlap_launch(kernel, mri.add_grid, mri.block, arguments);
}

/* A chunk lies where it is until its copy is through: each has its place. */
static void chunks_add(CUfunction add, void *constant, const float *track,
                       const float *weight, float *values, float *q,
                       float *place)
{
    for (int i = 0; i < mri.chunks; i++) {
        int samples = mri_q_pack(&mri, i, track, weight, values);
        overlap_upload(OVERLAP_WORK, constant, values, mri.values_bytes);
        add_launch(add, q, place, samples);
        values += mri.values_bytes / sizeof *values;
    }
}

int main(int argc, char **argv)
{
    mri_q_open(&mri, argc, argv);
    CUmodule module = cuda_load();
    CUfunction weigh = cuda_kernel(module, "mri_q_weigh");
    CUfunction add = cuda_kernel(module, "mri_q_add");
    void *constant = cuda_variable(module, "mri_q_values");

    overlap_open(OVERLAP_PIECE_BYTES);
    float *track = host_alloc(mri.track_bytes);
    float *values = pinned_alloc((size_t)mri.chunks * mri.values_bytes);
    float *phi = device_alloc(mri.phi_bytes);
    float *weight = device_alloc(mri.weight_bytes);
    float *place = device_alloc(mri.place_bytes);
    float *q = device_alloc(mri.q_bytes);
    float *host_phi = pinned_alloc(mri.phi_bytes);
    float *host_weight = pinned_alloc(mri.weight_bytes);
    float *host_place = pinned_alloc(mri.place_bytes);

    mri_q_read(&mri, track, host_phi, host_place);
    overlap_upload(OVERLAP_WORK, phi, host_phi, mri.phi_bytes);
    weigh_launch(weigh, weight, phi);
    overlap_download(OVERLAP_WORK, host_weight, weight, mri.weight_bytes);
    overlap_upload(OVERLAP_ASIDE, place, host_place, mri.place_bytes);
    overlap_clear(OVERLAP_ASIDE, q, mri.q_bytes);
    overlap_wait(OVERLAP_WORK);

    overlap_follow(OVERLAP_WORK, OVERLAP_ASIDE);
    chunks_add(add, constant, track, host_weight, values, q, place);
    struct overlap_result result = overlap_output(q);
    overlap_finish(&result, mri.q_bytes);
    mri_q_finish(&mri);

    pinned_free(host_place);
    pinned_free(host_weight);
    pinned_free(host_phi);
    device_free(q);
    device_free(place);
    device_free(weight);
    device_free(phi);
    pinned_free(values);
    free(track);
    overlap_close();
    return 0;
}
