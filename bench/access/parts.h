/*
 * What the patterns share: the sum of what is read, numbers that look random
 * and are the same in each form, and the arrays. Knows nothing of forms but
 * their words.
 */
#ifndef BENCH_ACCESS_PARTS_H
#define BENCH_ACCESS_PARTS_H

#include "form.h"
#include "pattern.h"

/** Add words that were read; which of them is where counts by the KiB. */
void sum_words(const void *words, size_t bytes);

/** The next number below `below`. */
uint32_t draw(uint32_t below);

/** Read all of an array into the sum, and free it. */
void array_end(struct array *array);

/** Sweeps over a grid of n x n cells (sweeps.c). */
void residual_setup(size_t n);
void residual_repeat(int steps);
void sources_setup(size_t n);
void sources_repeat(int steps);
void halo_setup(size_t n);
void halo_repeat(int steps);
void grid_end(void);

/** Arrays of so many bytes, used once a repetition (once.c). */
void stream_setup(size_t bytes);
void stream_repeat(int steps);
void stream_end(void);
void fresh_setup(size_t bytes);
void fresh_repeat(int steps);
void fresh_end(void);
void file_setup(size_t bytes);
void file_repeat(int steps);
void file_end(void);

/** Arrays touched here and there (scattered.c). */
void reads_setup(size_t bytes);
void reads_repeat(int steps);
void reads_end(void);
void index_setup(size_t bytes);
void index_repeat(int steps);
void index_end(void);

#endif
