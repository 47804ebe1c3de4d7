/*
 * sad: motion estimation of a video encoder by sums of absolute differences.
 *
 * Owns the input, the CPU's part of the work (choosing motion vectors) and the
 * verification. Does not own frames and sums: each form allocates its own. One
 * thread.
 */
#ifndef BENCH_PARBOIL_SAD_H
#define BENCH_PARBOIL_SAD_H

#include "common/bench.h"
#include "common/input.h"
#include "sad/sad_kernel.h"

#define SAD_FIELDS 3
extern const struct input_field sad_fields[SAD_FIELDS];

struct sad {
    struct input input;
    int width, height, range;
    int macroblocks, places; /* places of the search window */
    size_t frame_bytes, sums_bytes;
    struct bench_dim block, grid_4x4, grid_8x8, grid_16x16;
};

/** Command line and header of the input. */
void sad_open(struct sad *sad, int argc, char **argv);

/** Read both frames. */
void sad_read(struct sad *sad, unsigned char *frame, unsigned char *reference);

/** Choose the vector of every partition, and give them to bench_output. */
void sad_choose(const struct sad *sad, const unsigned short *sums);

/** The next `count` partitions only, whose sums these are. */
void sad_choose_some(const struct sad *sad, const unsigned short *sums,
                     size_t count);

/** Stop the clock, verify, report. */
void sad_finish(struct sad *sad);

#endif
