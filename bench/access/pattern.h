/*
 * Eight ways in which programs use arrays from both sides, written once in the
 * words of form.h.
 *
 * A pattern is set up, repeated some times, and ended; each repetition is of
 * `steps` steps, and goes on where the one before it ended. What the CPU reads
 * goes into a sum, and in the end all that the arrays hold: the same whatever
 * the form. One thread, after form_start.
 */
#ifndef BENCH_ACCESS_PATTERN_H
#define BENCH_ACCESS_PATTERN_H

#include <stddef.h>
#include <stdint.h>

enum size { SIZE_QUICK, SIZE_USUAL, SIZE_LARGE, SIZE_COUNT };

struct pattern {
    const char *name;
    /* By size: of an array, or cells of a row; steps of a repetition. */
    size_t extent[SIZE_COUNT];
    int steps[SIZE_COUNT];
    void (*setup)(size_t extent);
    void (*repeat)(int steps);
    void (*end)(void);
};

/** All of them; the last has no name. */
extern const struct pattern patterns[];

/** Return: NULL when there is none. */
const struct pattern *pattern_find(const char *name);

/** What was read so far. */
uint64_t pattern_sum(void);

#endif
