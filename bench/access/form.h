/*
 * The forms in which a program can use an array from both sides, as one set of
 * words that say what the program does next. In each form they become what
 * somebody would write by hand, or nothing.
 *
 *   pageable  two memories and synchronous copies
 *   pinned    the same with page-locked memory and copies in stream 0
 *   managed   managed memory: waits alone
 *   hints     the same and where it is wanted next
 *   own       the device's memory by its own pointers: waits alone
 *
 * Nothing here knows of libadsm, without which `own` does not work. All calls of
 * the driver are counted. Errors end the program with status 1 and a sentence.
 * One thread, no locks.
 */
#ifndef BENCH_ACCESS_FORM_H
#define BENCH_ACCESS_FORM_H

#include "kernel.h"

#include <stddef.h>
#include <stdint.h>

enum form { FORM_PAGEABLE, FORM_PINNED, FORM_MANAGED, FORM_HINTS, FORM_OWN };

/** What an array is for: to be handed over as a whole, or to be the device's and
 *  touched here and there. Hints depend on it. */
enum use { USE_HANDED_OVER, USE_OF_DEVICE };

struct array {
    CUdeviceptr device;
    void *host; /* what the CPU uses; the device's address in some forms */
    size_t bytes;
};

/** What the program did by itself since form_start or form_count_from_here. */
struct form_counts {
    uint64_t up, down, bytes_up, bytes_down; /* copies */
    uint64_t calls;                          /* of the driver, all of them */
};

/** Open device 0 and load the kernels. */
void form_start(enum form form);

/** Begin to count. */
void form_count_from_here(void);

struct form_counts form_counts(void);

struct array array_new(size_t bytes, enum use use);
void array_free(struct array *array);

/** The CPU is about to write what work under way may use. */
void form_before_writing(void);

/** The CPU has written `bytes` from `at` on, which kernels read next. */
void array_written(const struct array *array, size_t at, size_t bytes);

/** The CPU is about to read `bytes` from `at` on, which kernels wrote: from
 *  form_wait on. */
void array_wanted(const struct array *array, size_t at, size_t bytes);

/** Wait for all that kernels do, and for what was wanted. */
void form_wait(void);

/** Launch `rows` rows of enough blocks for `threads` threads. */
void form_launch(enum kernel kernel, size_t threads, size_t rows,
                 void **arguments);

#endif
