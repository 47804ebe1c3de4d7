/*
 * mri-q: the matrix Q of a magnetic resonance image off the Cartesian grid.
 *
 * Owns the input, the CPU's part of the work and the verification. Does not
 * own the arrays: each form allocates its own. One thread.
 */
#ifndef BENCH_PARBOIL_MRI_Q_H
#define BENCH_PARBOIL_MRI_Q_H

#include "common/bench.h"
#include "common/input.h"
#include "mri_q/mri_q_kernel.h"

#define MRI_Q_FIELDS 2
extern const struct input_field mri_q_fields[MRI_Q_FIELDS];

struct mri_q {
    struct input input;
    int voxels, samples, chunks;
    /* Arrays: kx, ky, kz of each sample; real and imaginary phi of each;
     * weight of each; x, y, z of each voxel; real and imaginary Q of each. */
    size_t track_bytes, phi_bytes, weight_bytes, place_bytes, q_bytes;
    size_t values_bytes; /* one chunk */
    struct bench_dim block, weigh_grid, add_grid;
};

/** Command line and header of the input. */
void mri_q_open(struct mri_q *mri, int argc, char **argv);

/** Read the arrays, all of one kind behind the other. */
void mri_q_read(struct mri_q *mri, float *track, float *phi, float *place);

/**
 * Put the samples of a chunk together, MRI_Q_NUMBERS numbers each.
 *
 * @values  receives them
 * Return: how many
 */
int mri_q_pack(const struct mri_q *mri, int chunk, const float *track,
               const float *weight, float *values);

/** Stop the clock, verify, report. */
void mri_q_finish(struct mri_q *mri);

#endif
