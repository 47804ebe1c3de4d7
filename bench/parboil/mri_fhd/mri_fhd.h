/*
 * mri-fhd: the vector F^H d of a magnetic resonance image off the Cartesian
 * grid.
 *
 * Owns the input, the CPU's part of the work and the verification. Does not
 * own the arrays: each form allocates its own. One thread.
 */
#ifndef BENCH_PARBOIL_MRI_FHD_H
#define BENCH_PARBOIL_MRI_FHD_H

#include "common/bench.h"
#include "common/input.h"
#include "mri_fhd/mri_fhd_kernel.h"

#define MRI_FHD_FIELDS 2
extern const struct input_field mri_fhd_fields[MRI_FHD_FIELDS];

struct mri_fhd {
    struct input input;
    int voxels, samples, chunks;
    /* Arrays: kx, ky, kz of each sample; real and imaginary part of phi, of
     * the data and of rho; x, y, z of each voxel; real and imaginary part of
     * the result. */
    size_t track_bytes, phi_bytes, rho_bytes, place_bytes, f_bytes;
    size_t values_bytes; /* one chunk */
    struct bench_dim block, combine_grid, add_grid;
};

/** Command line and header of the input. */
void mri_fhd_open(struct mri_fhd *mri, int argc, char **argv);

/** Read the arrays, all of one kind behind the other. */
void mri_fhd_read(struct mri_fhd *mri, float *track, float *phi, float *data,
                  float *place);

/**
 * Put the samples of a chunk together, MRI_FHD_NUMBERS numbers each.
 *
 * @values  receives them
 * Return: how many
 */
int mri_fhd_pack(const struct mri_fhd *mri, int chunk, const float *track,
                 const float *rho, float *values);

/** Stop the clock, verify, report. */
void mri_fhd_finish(struct mri_fhd *mri);

#endif
