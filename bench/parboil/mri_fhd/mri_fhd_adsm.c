/*
 * mri-fhd on adsm.h, which also says what the kernels read and write. A chunk is
 * an object and not constant memory.
 */
#include "common/shared.h"
#include "mri_fhd/mri_fhd.h"

#include <stdlib.h>
#include <string.h>

static struct mri_fhd mri;

static void combine_launch(adsmKernel *kernel, float *rho, const float *phi,
                           const float *data)
{
    shared_launch(kernel, mri.combine_grid, mri.block, adsmOut(rho),
                  adsmIn(phi), adsmIn(data), adsmVal(mri.samples));
    shared_wait();
}

static void add_launch(adsmKernel *kernel, float *f, const float *place,
                       const float *values, int samples)
{
    shared_launch(kernel, mri.add_grid, mri.block, adsmInOut(f), adsmIn(place),
                  adsmVal(mri.voxels), adsmIn(values), adsmVal(samples));
    shared_wait();
}

int main(int argc, char **argv)
{
    mri_fhd_open(&mri, argc, argv);
    adsmModule *module = shared_load();
    adsmKernel *combine = shared_kernel(module, "mri_fhd_combine");
    adsmKernel *add = shared_kernel(module, "mri_fhd_add_from");

    float *track = bench_alloc(mri.track_bytes);
    float *values = shared_alloc(mri.values_bytes);
    float *phi = shared_alloc(mri.phi_bytes);
    float *data = shared_alloc(mri.phi_bytes);
    float *rho = shared_alloc(mri.rho_bytes);
    float *place = shared_alloc(mri.place_bytes);
    float *f = shared_alloc(mri.f_bytes);

    mri_fhd_read(&mri, track, phi, data, place);
    combine_launch(combine, rho, phi, data);

    memset(f, 0, mri.f_bytes);
    for (int i = 0; i < mri.chunks; i++) {
        int samples = mri_fhd_pack(&mri, i, track, rho, values);
        add_launch(add, f, place, values, samples);
    }
    bench_output(f, mri.f_bytes);
    mri_fhd_finish(&mri);

    shared_free(f);
    shared_free(place);
    shared_free(rho);
    shared_free(data);
    shared_free(phi);
    shared_free(values);
    free(track);
    return 0;
}
