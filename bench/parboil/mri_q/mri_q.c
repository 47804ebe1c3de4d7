/*
 * mri-q on the CPU: input, packing, and Q in f64. See mri_q.h.
 *
 * Tolerance: 1e-5 of the sum of the weights. Phases are computed in f32, and a
 * phase of 50 turns is known to some 3e-6 of one.
 */
#include "mri_q/mri_q.h"

#include <math.h>
#include <stdlib.h>

#define MRI_Q_TOLERANCE 1e-5
/* Voxels times samples; above, only every n-th voxel is verified. */
#define MRI_Q_WORK 3e6

const struct input_field mri_q_fields[MRI_Q_FIELDS] = {
    {"voxels", 1, 1 << 26},
    {"samples", 1, 1 << 24},
};

static struct bench_dim grid_for(int threads)
{
    return (struct bench_dim){
        ((unsigned)threads + MRI_Q_THREADS - 1) / MRI_Q_THREADS, 1, 1};
}

void mri_q_open(struct mri_q *mri, int argc, char **argv)
{
    const char *path = bench_open(argc, argv, BENCH_DATA "/mri_q.par");
    input_open(&mri->input, path, "mri-q", mri_q_fields, MRI_Q_FIELDS);
    mri->voxels = (int)mri->input.value[0];
    mri->samples = (int)mri->input.value[1];
    mri->chunks = (mri->samples + MRI_Q_CHUNK - 1) / MRI_Q_CHUNK;
    mri->weight_bytes = (size_t)mri->samples * sizeof(float);
    mri->track_bytes = 3 * mri->weight_bytes;
    mri->phi_bytes = 2 * mri->weight_bytes;
    mri->place_bytes = (size_t)mri->voxels * 3 * sizeof(float);
    mri->q_bytes = (size_t)mri->voxels * 2 * sizeof(float);
    mri->values_bytes = MRI_Q_CHUNK * MRI_Q_NUMBERS * sizeof(float);
    mri->block = (struct bench_dim){MRI_Q_THREADS, 1, 1};
    mri->weigh_grid = grid_for(mri->samples);
    mri->add_grid = grid_for(mri->voxels);
    input_expect(&mri->input,
                 mri->track_bytes + mri->phi_bytes + mri->place_bytes);
}

void mri_q_read(struct mri_q *mri, float *track, float *phi, float *place)
{
    size_t samples = (size_t)mri->samples, voxels = (size_t)mri->voxels;
    input_read(&mri->input, track, mri->track_bytes);
    input_read(&mri->input, phi, mri->phi_bytes);
    input_read(&mri->input, place, mri->place_bytes);
    input_close(&mri->input);
    bench_work();
    bench_enter(BENCH_CPU);
    input_check(&mri->input, "k", track, 3 * samples, -1e4f, 1e4f);
    input_check(&mri->input, "phi", phi, 2 * samples, -1e6f, 1e6f);
    input_check(&mri->input, "place", place, 3 * voxels, -10.0f, 10.0f);
}

int mri_q_pack(const struct mri_q *mri, int chunk, const float *track,
               const float *weight, float *values)
{
    int first = chunk * MRI_Q_CHUNK, count = mri->samples - first;
    if (count > MRI_Q_CHUNK)
        count = MRI_Q_CHUNK;
    for (int i = first; i < first + count; i++) {
        *values++ = track[i];
        *values++ = track[mri->samples + i];
        *values++ = track[2 * mri->samples + i];
        *values++ = weight[i];
    }
    return count;
}

struct data {
    float *track, *phi, *place;
};

static void voxel_verify(const struct mri_q *mri, const struct data *data,
                         size_t voxel, const float *q)
{
    double re = 0, im = 0, size = 0;
    size_t samples = (size_t)mri->samples, voxels = (size_t)mri->voxels;
    for (size_t i = 0; i < samples; i++) {
        double turns = 0;
        for (size_t axis = 0; axis < 3; axis++)
            turns += (double)data->track[axis * samples + i] *
                     (double)data->place[axis * voxels + voxel];
        double phi_re = (double)data->phi[i];
        double phi_im = (double)data->phi[samples + i];
        double weight = phi_re * phi_re + phi_im * phi_im;
        re += weight * cos(2 * M_PI * turns);
        im += weight * sin(2 * M_PI * turns);
        size += weight;
    }
    bench_check("real Q", voxel, (double)q[voxel], re, MRI_Q_TOLERANCE * size);
    bench_check("imaginary Q", voxel, (double)q[voxels + voxel], im,
                MRI_Q_TOLERANCE * size);
}

static void verify(struct mri_q *mri)
{
    const float *q = bench_result(mri->q_bytes);
    struct data data = {bench_alloc(mri->track_bytes),
                        bench_alloc(mri->phi_bytes),
                        bench_alloc(mri->place_bytes)};
    input_open(&mri->input, mri->input.path, "mri-q", mri_q_fields,
               MRI_Q_FIELDS);
    mri_q_read(mri, data.track, data.phi, data.place);
    size_t voxels = (size_t)mri->voxels;
    size_t stride = 1 + (size_t)((double)voxels * mri->samples / MRI_Q_WORK);
    for (size_t i = 0; i < voxels; i += stride)
        voxel_verify(mri, &data, i, q);
    free(data.track);
    free(data.phi);
    free(data.place);
}

void mri_q_finish(struct mri_q *mri)
{
    if (bench_end())
        verify(mri);
    bench_report();
}
