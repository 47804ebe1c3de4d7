/*
 * mri-fhd on managed memory.
 * What both sides use exists once and the driver moves its pages. Only
 * constant memory is filled by copies.
 */
#include "common/managed.h"
#include "mri_fhd/mri_fhd.h"

#include <stdlib.h>

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
    float *phi = managed_alloc(mri.phi_bytes);
    float *data = managed_alloc(mri.phi_bytes);
    float *rho = managed_alloc(mri.rho_bytes);
    float *place = managed_alloc(mri.place_bytes);
    float *f = managed_alloc(mri.f_bytes);

    mri_fhd_read(&mri, track, phi, data, place);
    read_mostly(phi, mri.phi_bytes);
    read_mostly(data, mri.phi_bytes);
    read_mostly(place, mri.place_bytes);
    prefer_device(f, mri.f_bytes);
    prefetch_to_device(phi, mri.phi_bytes);
    prefetch_to_device(data, mri.phi_bytes);
    prefetch_to_device(place, mri.place_bytes);
    prefetch_to_device(rho, mri.rho_bytes);
    combine_launch(combine, rho, phi, data);
    prefetch_to_host(rho, mri.rho_bytes);

    device_clear(f, mri.f_bytes);
    device_wait(); /* the CPU reads rho next */
    for (int i = 0; i < mri.chunks; i++) {
        int samples = mri_fhd_pack(&mri, i, track, rho, values);
        variable_set(constant, values, mri.values_bytes);
        add_launch(add, f, place, samples);
    }
    prefetch_to_host(f, mri.f_bytes);
    bench_output(f, mri.f_bytes);
    mri_fhd_finish(&mri);

    device_free(f);
    device_free(place);
    device_free(rho);
    device_free(data);
    device_free(phi);
    free(values);
    free(track);
    return 0;
}
