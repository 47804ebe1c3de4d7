/*
 * Making input files: what parboil-data, ranges-data and the benchmarks share.
 *
 * Owns the table of benchmarks, the random numbers and the writing of files.
 * The same benchmark, sizes and seed give the same file everywhere. Errors end
 * the program with status 2. One thread, no locks.
 */
#ifndef BENCH_PARBOIL_DATA_H
#define BENCH_PARBOIL_DATA_H

#include <stdint.h>
#include <stdio.h>

#include "common/input.h"

struct data_kind;

/** What to make: the header's values, and the seed. */
struct data_request {
    const struct data_kind *kind;
    const char *path;
    uint64_t seed;
    uint32_t value[INPUT_FIELDS_MAX];
};

/** One benchmark: its header, its sizes, and who makes its files. */
struct data_kind {
    const char *name;
    const struct input_field *fields;
    int count;
    const uint32_t *small, *medium, *large; /* `count` values each */
    const uint32_t *gpu; /* keeps a fast device busy; NULL: has none */
    void (*write)(const struct data_request *request);
};

extern const struct data_kind cp_data, mri_fhd_data, mri_q_data, pns_data,
    rpes_data, sad_data, tpacf_data, vecadd_data;
/* Of one of the two programs. */
extern const struct data_kind *const data_kinds[];
extern const int data_kind_count;

/** Write a file that is a header only; a number called "seed" is the seed. */
void data_write_numbers(const struct data_request *request);

/** Open a file and write its header. */
FILE *data_create(const char *path, const struct data_kind *kind,
                  const uint32_t *values);

/** Write bytes; data_close reports what went wrong with any of them. */
void data_write(FILE *file, const void *data, size_t bytes);
void data_close(FILE *file, const char *path);

/** The next 64 random bits (splitmix64). */
uint64_t data_random(uint64_t *seed);

/** Uniform in [low, high). */
float data_uniform(uint64_t *seed, float low, float high);

/** Normally distributed, mean 0, deviation 1. */
float data_normal(uint64_t *seed);

/**
 * A trajectory in k-space of radial spokes, each turned by the golden angles
 * against the one before.
 *
 * @track  receives all kx, all ky, all kz, in turns per cube
 * @reach  length of a spoke
 */
void data_scan_track(float *track, size_t samples, float reach);

/** Centres of the voxels of a unit cube around 0: all x, all y, all z. */
void data_scan_place(float *place, size_t voxels, size_t edge);

/** Private memory; ends the program when there is none. */
void *data_alloc(size_t bytes);

#endif
