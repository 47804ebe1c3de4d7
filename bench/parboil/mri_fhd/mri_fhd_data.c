/*
 * A scan for mri-fhd: voxels of a cube and a trajectory of radial spokes that
 * are turned by the golden angles from one to the next; phi and the data are
 * noise.
 */
#include "common/data.h"
#include "mri_fhd/mri_fhd.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t small[] = {13824, 768};
static const uint32_t medium[] = {32768, 3072};
static const uint32_t large[] = {262144, 6144};
static const uint32_t gpu[] = {7077888, 131072};

static void mri_fhd_write(const struct data_request *request)
{
    uint64_t seed = request->seed;
    size_t voxels = request->value[0], samples = request->value[1];
    size_t edge = (size_t)ceil(cbrt((double)voxels));
    float *track = data_alloc(3 * samples * sizeof *track);
    float *signals = data_alloc(4 * samples * sizeof *signals);
    float *place = data_alloc(3 * voxels * sizeof *place);
    data_scan_track(track, samples, (float)edge / 2);
    data_scan_place(place, voxels, edge);
    for (size_t i = 0; i < 4 * samples; i++)
        signals[i] = data_normal(&seed);

    FILE *file = data_create(request->path, &mri_fhd_data, request->value);
    data_write(file, track, 3 * samples * sizeof *track);
    data_write(file, signals, 4 * samples * sizeof *signals);
    data_write(file, place, 3 * voxels * sizeof *place);
    data_close(file, request->path);
    free(track);
    free(signals);
    free(place);
}

const struct data_kind mri_fhd_data = {
    "mri-fhd", mri_fhd_fields, MRI_FHD_FIELDS, small, medium, large,
    gpu,       mri_fhd_write};
