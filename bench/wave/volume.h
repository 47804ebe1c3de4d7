/*
 * The volume file: a velocity model, or the snapshots of a wave field.
 *
 * Owns the layout on disk. Everything is little endian; a header of 32 bytes
 *
 *     offset  type     meaning
 *      0      char[8]  "ADSMVOL1"
 *      8      u32      nx, cells along x (fastest in memory)
 *     12      u32      ny
 *     16      u32      nz, cells along z (slowest; downwards)
 *     20      u32      frames, 1 for a velocity model
 *     24      f32      spacing, edge of a cell in metres
 *     28      f32      interval, seconds between frames, 0 for a model
 *
 * is followed by frames * nz * ny * nx values of f32: m/s in a model, pressure
 * in snapshots. Does not own what the values mean. No locks; no state.
 *
 * Functions report with a status and a text, and never end the program.
 */
#ifndef BENCH_WAVE_VOLUME_H
#define BENCH_WAVE_VOLUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define VOLUME_HEADER_BYTES 32
#define VOLUME_EDGE_MIN     16
#define VOLUME_EDGE_MAX     4096
#define VOLUME_CELLS_MAX    ((uint64_t)1 << 31)

struct volume {
    uint32_t nx, ny, nz;
    uint32_t frames;
    float spacing_m;
    float interval_s;
};

/** Cells of one frame. Thread: any. Signal: any handler. */
static inline size_t volume_cells(const struct volume *volume)
{
    return (size_t)volume->nx * volume->ny * volume->nz;
}

/**
 * Say whether dimensions, spacing and frame count are ones a program can use.
 *
 * @why  receives one sentence naming the first wrong value and its range
 * Return: true when all are
 * Thread: any
 * Signal: never
 */
bool volume_is_valid(const struct volume *volume, char *why, size_t why_bytes);

/**
 * Read and check the header; for a regular file, also that the file holds
 * exactly the values its header promises.
 *
 * @file  at its beginning; left at the first value
 * @why   receives one sentence on failure
 * Return: true when `volume` is filled and valid
 * Thread: any
 * Signal: never
 */
bool volume_read_header(FILE *file, struct volume *volume, char *why,
                        size_t why_bytes);

/**
 * Write the header of a valid volume.
 *
 * Return: false with errno set when the file refused it
 * Thread: any
 * Signal: never
 */
bool volume_write_header(FILE *file, const struct volume *volume);

#endif
