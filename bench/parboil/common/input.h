/*
 * Input files: a header that says what is inside, then plain arrays.
 *
 * FORMATS.md describes them. Owns opening, the header's checks, the check that
 * the file has exactly the bytes its header promises, and reading. Does not
 * own what the values mean. Bad files end the program as bench.h says, status
 * BENCH_EXIT_INPUT. One thread, no locks.
 */
#ifndef BENCH_PARBOIL_INPUT_H
#define BENCH_PARBOIL_INPUT_H

#include <stdint.h>
#include <stdio.h>

#define INPUT_MAGIC        "ADSMPAR1"
#define INPUT_FIELDS_MAX   12
#define INPUT_HEADER_BYTES 64
/* More than the largest set any of the programs is made for. */
#define INPUT_BYTES_MAX (UINT64_C(4) << 30)

/** One number of the header: its name and range, both ends included. */
struct input_field {
    const char *name;
    uint32_t min, max;
};

struct input {
    FILE *file;
    const char *path;
    uint32_t value[INPUT_FIELDS_MAX];
};

/**
 * Open a file and check its header.
 *
 * @kind    as in the file, which has the first 8 characters: "cp"
 * @fields  what value[0], value[1], … mean; those behind must be zero in the
 *          file
 */
void input_open(struct input *input, const char *path, const char *kind,
                const struct input_field *fields, int count);

/** Check that a regular file has exactly `bytes` bytes behind its header. */
void input_expect(const struct input *input, uint64_t bytes);

/**
 * Read the next bytes of the file. Charged to BENCH_READ.
 *
 * @to  given to fread as it is
 */
void input_read(struct input *input, void *to, size_t bytes);

/** Check that all values lie in [min, max]; not-a-number never does. */
void input_check(const struct input *input, const char *what,
                 const float *values, size_t count, float min, float max);

/** End the program: "'path' message". */
_Noreturn void input_refuse(const struct input *input, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void input_close(struct input *input);

/**
 * Write a header.
 *
 * @values  `count` numbers, zeros are put behind
 * Return: 0, -1 with errno set
 */
int input_write_header(FILE *file, const char *kind, const uint32_t *values,
                       int count);

#endif
