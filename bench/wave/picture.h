/*
 * A picture of a wave field over its velocity model, as a PNG file.
 *
 * Owns colours, scale, axes and lettering. Does not own the volumes: it reads
 * one vertical slice of each where it lies, row by row. No locks; no state.
 */
#ifndef BENCH_WAVE_PICTURE_H
#define BENCH_WAVE_PICTURE_H

#include "volume.h"

struct picture {
    const float *pressure; /* volume_cells() values */
    const float *speed;    /* the same, m/s */
    struct volume volume;  /* dimensions and spacing */
    uint32_t y;            /* which vertical slice, below volume.ny */
    size_t source;         /* cell to mark, in that slice */
    float time_s;          /* for the caption */
};

/**
 * Draw the slice and write it to `path`.
 *
 * Pressure is laid in blue (low) and red (high) over the velocities in grey;
 * the longer edge of the slice is at least 512 pixels.
 *
 * @why  receives one sentence on failure
 * Return: true when the whole file is written
 * Thread: any
 * Signal: never
 */
bool picture_write(const struct picture *picture, const char *path, char *why,
                   size_t why_bytes);

#endif
