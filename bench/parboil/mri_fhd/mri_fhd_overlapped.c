/*
 * mri-fhd on the CUDA driver API, overlapped by hand: voxels go to the device
 * while phi and data are combined there, chunks are packed while those before
 * are added, and F^H d is written out piece by piece. Constant memory is one,
 * so a chunk's copy still waits for the kernel before it.
 */
#include "common/overlap.h"
#include "mri_fhd/mri_fhd.h"

#include <stdlib.h>

static struct mri_fhd mri;

static void combine_launch(CUfunction kernel, float *rho, float *phi,
                           float *data)
{
    void *arguments[] = {&rho, &phi, &data, &mri.samples};
    overlap_launch(kernel, mri.combine_grid, mri.block, arguments);
}

static void add_launch(CUfunction kernel, float *f, float *place, int samples)
{
    void *arguments[] = {&f, &place, &mri.voxels, &samples};
    overlap_launch(kernel, mri.add_grid, mri.block, arguments);
}

/* A chunk lies where it is until its copy is through: each has its place. */
static void chunks_add(CUfunction add, void *constant, const float *track,
                       const float *rho, float *values, float *f, float *place)
{
    for (int i = 0; i < mri.chunks; i++) {
        int samples = mri_fhd_pack(&mri, i, track, rho, values);
        overlap_upload(OVERLAP_WORK, constant, values, mri.values_bytes);
        add_launch(add, f, place, samples);
        values += mri.values_bytes / sizeof *values;
    }
}

int main(int argc, char **argv)
{
    mri_fhd_open(&mri, argc, argv);
    CUmodule module = cuda_load();
    CUfunction combine = cuda_kernel(module, "mri_fhd_combine");
    CUfunction add = cuda_kernel(module, "mri_fhd_add");
    void *constant = cuda_variable(module, "mri_fhd_values");

    overlap_open(OVERLAP_PIECE_BYTES);
    float *track = host_alloc(mri.track_bytes);
    float *values = pinned_alloc((size_t)mri.chunks * mri.values_bytes);
    float *phi = device_alloc(mri.phi_bytes);
    float *data = device_alloc(mri.phi_bytes);
    float *rho = device_alloc(mri.rho_bytes);
    float *place = device_alloc(mri.place_bytes);
    float *f = device_alloc(mri.f_bytes);
    float *host_phi = pinned_alloc(mri.phi_bytes);
    float *host_data = pinned_alloc(mri.phi_bytes);
    float *host_rho = pinned_alloc(mri.rho_bytes);
    float *host_place = pinned_alloc(mri.place_bytes);

    mri_fhd_read(&mri, track, host_phi, host_data, host_place);
    overlap_upload(OVERLAP_WORK, phi, host_phi, mri.phi_bytes);
    overlap_upload(OVERLAP_WORK, data, host_data, mri.phi_bytes);
    combine_launch(combine, rho, phi, data);
    overlap_download(OVERLAP_WORK, host_rho, rho, mri.rho_bytes);
    overlap_upload(OVERLAP_ASIDE, place, host_place, mri.place_bytes);
    overlap_clear(OVERLAP_ASIDE, f, mri.f_bytes);
    overlap_wait(OVERLAP_WORK);

    overlap_follow(OVERLAP_WORK, OVERLAP_ASIDE);
    chunks_add(add, constant, track, host_rho, values, f, place);
    struct overlap_result result = overlap_output(f);
    overlap_finish(&result, mri.f_bytes);
    mri_fhd_finish(&mri);

    pinned_free(host_place);
    pinned_free(host_rho);
    pinned_free(host_data);
    pinned_free(host_phi);
    device_free(f);
    device_free(place);
    device_free(rho);
    device_free(data);
    device_free(phi);
    pinned_free(values);
    free(track);
    overlap_close();
    return 0;
}
