/*
 * mri-fhd on the CPU: input, packing, and F^H d in f64. See mri_fhd.h.
 *
 * Tolerance: 1e-5 of the sum of the weights. Phases are computed in f32, and a
 * phase of 50 turns is known to some 3e-6 of one.
 */
#include "mri_fhd/mri_fhd.h"

#include <math.h>
#include <stdlib.h>

#define MRI_FHD_TOLERANCE 1e-5
/* Voxels times samples; above, only every n-th voxel is verified. */
#define MRI_FHD_WORK 3e6

const struct input_field mri_fhd_fields[MRI_FHD_FIELDS] = {
    {"voxels", 1, 1 << 26},
    {"samples", 1, 1 << 24},
};

static struct bench_dim grid_for(int threads)
{
    return (struct bench_dim){
        ((unsigned)threads + MRI_FHD_THREADS - 1) / MRI_FHD_THREADS, 1, 1};
}

void mri_fhd_open(struct mri_fhd *mri, int argc, char **argv)
{
    const char *path = bench_open(argc, argv, BENCH_DATA "/mri_fhd.par");
    input_open(&mri->input, path, "mri-fhd", mri_fhd_fields, MRI_FHD_FIELDS);
    mri->voxels = (int)mri->input.value[0];
    mri->samples = (int)mri->input.value[1];
    mri->chunks = (mri->samples + MRI_FHD_CHUNK - 1) / MRI_FHD_CHUNK;
    mri->track_bytes = (size_t)mri->samples * 3 * sizeof(float);
    mri->phi_bytes = (size_t)mri->samples * 2 * sizeof(float);
    mri->rho_bytes = mri->phi_bytes;
    mri->place_bytes = (size_t)mri->voxels * 3 * sizeof(float);
    mri->f_bytes = (size_t)mri->voxels * 2 * sizeof(float);
    mri->values_bytes = MRI_FHD_CHUNK * MRI_FHD_NUMBERS * sizeof(float);
    mri->block = (struct bench_dim){MRI_FHD_THREADS, 1, 1};
    mri->combine_grid = grid_for(mri->samples);
    mri->add_grid = grid_for(mri->voxels);
    input_expect(&mri->input,
                 mri->track_bytes + 2 * mri->phi_bytes + mri->place_bytes);
}

void mri_fhd_read(struct mri_fhd *mri, float *track, float *phi, float *data,
                  float *place)
{
    size_t samples = (size_t)mri->samples, voxels = (size_t)mri->voxels;
    input_read(&mri->input, track, mri->track_bytes);
    input_read(&mri->input, phi, mri->phi_bytes);
    input_read(&mri->input, data, mri->phi_bytes);
    input_read(&mri->input, place, mri->place_bytes);
    input_close(&mri->input);
    bench_work();
    bench_enter(BENCH_CPU);
    input_check(&mri->input, "k", track, 3 * samples, -1e4f, 1e4f);
    input_check(&mri->input, "phi", phi, 2 * samples, -1e6f, 1e6f);
    input_check(&mri->input, "datum", data, 2 * samples, -1e6f, 1e6f);
    input_check(&mri->input, "place", place, 3 * voxels, -10.0f, 10.0f);
}

int mri_fhd_pack(const struct mri_fhd *mri, int chunk, const float *track,
                 const float *rho, float *values)
{
    int first = chunk * MRI_FHD_CHUNK, count = mri->samples - first;
    if (count > MRI_FHD_CHUNK)
        count = MRI_FHD_CHUNK;
    for (int i = first; i < first + count; i++) {
        *values++ = track[i];
        *values++ = track[mri->samples + i];
        *values++ = track[2 * mri->samples + i];
        *values++ = rho[i];
        *values++ = rho[mri->samples + i];
    }
    return count;
}

struct scan {
    float *track, *phi, *data, *place;
};

static void voxel_verify(const struct mri_fhd *mri, const struct scan *scan,
                         size_t voxel, const float *f)
{
    double re = 0, im = 0, size = 0;
    size_t samples = (size_t)mri->samples, voxels = (size_t)mri->voxels;
    for (size_t i = 0; i < samples; i++) {
        double turns = 0;
        for (size_t axis = 0; axis < 3; axis++)
            turns += (double)scan->track[axis * samples + i] *
                     (double)scan->place[axis * voxels + voxel];
        double phi_re = (double)scan->phi[i];
        double phi_im = (double)scan->phi[samples + i];
        double data_re = (double)scan->data[i];
        double data_im = (double)scan->data[samples + i];
        double rho_re = phi_re * data_re + phi_im * data_im;
        double rho_im = phi_re * data_im - phi_im * data_re;
        double cosine = cos(2 * M_PI * turns), sine = sin(2 * M_PI * turns);
        re += rho_re * cosine - rho_im * sine;
        im += rho_re * sine + rho_im * cosine;
        size += hypot(rho_re, rho_im);
    }
    bench_check("real part", voxel, (double)f[voxel], re,
                MRI_FHD_TOLERANCE * size);
    bench_check("imaginary part", voxel, (double)f[voxels + voxel], im,
                MRI_FHD_TOLERANCE * size);
}

static void verify(struct mri_fhd *mri)
{
    const float *f = bench_result(mri->f_bytes);
    struct scan scan = {
        bench_alloc(mri->track_bytes), bench_alloc(mri->phi_bytes),
        bench_alloc(mri->phi_bytes), bench_alloc(mri->place_bytes)};
    input_open(&mri->input, mri->input.path, "mri-fhd", mri_fhd_fields,
               MRI_FHD_FIELDS);
    mri_fhd_read(mri, scan.track, scan.phi, scan.data, scan.place);
    size_t voxels = (size_t)mri->voxels;
    size_t stride = 1 + (size_t)((double)voxels * mri->samples / MRI_FHD_WORK);
    for (size_t i = 0; i < voxels; i += stride)
        voxel_verify(mri, &scan, i, f);
    free(scan.track);
    free(scan.phi);
    free(scan.data);
    free(scan.place);
}

void mri_fhd_finish(struct mri_fhd *mri)
{
    if (bench_end())
        verify(mri);
    bench_report();
}
