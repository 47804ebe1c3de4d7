/*
 * mri-fhd on the CUDA driver API, by somebody who is not sure what the other
 * side has seen: every array is copied to the device before every kernel and
 * back after it.
 */
#include "common/cuda.h"
#include "mri_fhd/mri_fhd.h"

#include <stdlib.h>
#include <string.h>

static struct mri_fhd mri;

static void combine_launch(CUfunction kernel, float *rho, float *phi,
                           float *data)
{
    void *arguments[] = {&rho, &phi, &data, &mri.samples};
    launch(kernel, mri.combine_grid, mri.block, arguments);
    device_wait();
}

static void add_launch(CUfunction kernel, float *f, float *place, int samples)
{
    void *arguments[] = {&f, &place, &mri.voxels, &samples};
    launch(kernel, mri.add_grid, mri.block, arguments);
    device_wait();
}

int main(int argc, char **argv)
{
    mri_fhd_open(&mri, argc, argv);
    CUmodule module = cuda_load();
    CUfunction combine = cuda_kernel(module, "mri_fhd_combine");
    CUfunction add = cuda_kernel(module, "mri_fhd_add");
    void *constant = cuda_variable(module, "mri_fhd_values");

    float *track = host_alloc(mri.track_bytes);
    float *values = host_alloc(mri.values_bytes);
    float *phi = device_alloc(mri.phi_bytes);
    float *data = device_alloc(mri.phi_bytes);
    float *rho = device_alloc(mri.rho_bytes);
    float *place = device_alloc(mri.place_bytes);
    float *f = device_alloc(mri.f_bytes);
    float *host_phi = host_alloc(mri.phi_bytes);
    float *host_data = host_alloc(mri.phi_bytes);
    float *host_rho = host_alloc(mri.rho_bytes);
    float *host_place = host_alloc(mri.place_bytes);
    float *host_f = host_alloc(mri.f_bytes);

    mri_fhd_read(&mri, track, host_phi, host_data, host_place);
    upload(phi, host_phi, mri.phi_bytes);
    upload(data, host_data, mri.phi_bytes);
    upload(rho, host_rho, mri.rho_bytes);
    combine_launch(combine, rho, phi, data);
    download(host_phi, phi, mri.phi_bytes);
    download(host_data, data, mri.phi_bytes);
    download(host_rho, rho, mri.rho_bytes);

    memset(host_f, 0, mri.f_bytes);
    for (int i = 0; i < mri.chunks; i++) {
        int samples = mri_fhd_pack(&mri, i, track, host_rho, values);
        variable_set(constant, values, mri.values_bytes);
        upload(f, host_f, mri.f_bytes);
        upload(place, host_place, mri.place_bytes);
        add_launch(add, f, place, samples);
        download(host_f, f, mri.f_bytes);
        download(host_place, place, mri.place_bytes);
    }
    bench_output(host_f, mri.f_bytes);
    mri_fhd_finish(&mri);

    free(host_f);
    free(host_place);
    free(host_rho);
    free(host_data);
    free(host_phi);
    device_free(f);
    device_free(place);
    device_free(rho);
    device_free(data);
    device_free(phi);
    free(values);
    free(track);
    return 0;
}
