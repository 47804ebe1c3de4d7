/*
 * Two images to compare: one, and the same after it was stored badly.
 *
 * Owns their input file's numbers and their making. Does not own the pixels.
 * One thread.
 */
#ifndef BENCH_RANGES_IMAGES_H
#define BENCH_RANGES_IMAGES_H

#include <stddef.h>

#include "common/chunk.h"
#include "common/input.h"

#define IMAGES_FIELDS 3
extern const struct input_field images_fields[IMAGES_FIELDS];

struct images {
    long nx, ny, pixels;
    long chunks; /* of one image; the last one is filled up with zeros */
    uint32_t seed;
    size_t bytes; /* of one image */
};

/** Command line and input of a program; `kind` as for program_open. */
void images_open(struct images *images, int argc, char **argv,
                 const char *kind);

/** Make both images, values from 0 to 255. */
void images_make(const struct images *images, struct chunk *first,
                 struct chunk *second);

#endif
