/*
 * Trajectory and voxels of a scanner, for mri-q and mri-fhd. See data.h.
 */
#include "common/data.h"

#include <math.h>

void data_scan_track(float *track, size_t samples, float reach)
{
    const size_t spoke = 64;
    for (size_t i = 0; i < samples; i++) {
        double n = (double)(i / spoke);
        double z = 2 * fmod(n * 0.4656, 1.0) - 1, turn = fmod(n * 0.6823, 1.0);
        double r = ((double)(i % spoke) + 0.5) / (double)spoke * (double)reach;
        double flat = r * sqrt(1 - z * z);
        track[i] = (float)(flat * cos(2 * M_PI * turn));
        track[samples + i] = (float)(flat * sin(2 * M_PI * turn));
        track[2 * samples + i] = (float)(r * z);
    }
}

void data_scan_place(float *place, size_t voxels, size_t edge)
{
    for (size_t i = 0; i < voxels; i++) {
        size_t at[3] = {i % edge, i / edge % edge, i / edge / edge};
        for (size_t axis = 0; axis < 3; axis++)
            place[axis * voxels + i] =
                ((float)at[axis] + 0.5f) / (float)edge - 0.5f;
    }
}
