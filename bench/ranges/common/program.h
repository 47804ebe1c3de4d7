/*
 * What the programs of bench/ranges share besides bench.h: the numbers of
 * their input, the comparison with the CPU's bytes, the picture.
 *
 * Does not own the device (device.h). Errors end the program as bench.h says.
 * One thread, no locks.
 */
#ifndef BENCH_RANGES_PROGRAM_H
#define BENCH_RANGES_PROGRAM_H

#include "canvas.h"
#include "common/bench.h"
#include "common/input.h"

/** Let the command line have --png; before program_open. */
void program_has_picture(void);

/**
 * Read the command line and the input, which is a header of numbers only.
 *
 * @kind    of the file, and name of the one in data/ that is the default
 * @fields  the numbers; @value  receives `count` of them
 */
void program_open(int argc, char **argv, const char *kind,
                  const struct input_field *fields, int count, uint32_t *value);

/** Whether --png was given; then program_picture is to be called. */
bool program_draws(void);

/** Save the picture and free the canvas. */
void program_picture(struct canvas *canvas);

/** A canvas of one colour; ends the program when there is no memory. */
struct canvas program_canvas(int width, int height, struct rgb colour);

/** From black over red and yellow to white; `part` is cut to [0, 1]. */
struct rgb program_glow(float part);

/**
 * Compare an array of the result with the CPU's, byte for byte; ends the
 * program with BENCH_EXIT_WRONG at the first element that differs.
 *
 * @what  names an element, "body"
 */
void program_same(const char *what, const void *got, const void *want,
                  size_t count, size_t elem);

#endif
