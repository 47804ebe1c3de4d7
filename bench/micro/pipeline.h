/*
 * A skeleton's work in the three stages of a pipeline: inputs to the device, the
 * kernel, the output back. Each stage can be timed by itself, in pieces, and all
 * of it as a call in chunks. Arrays are words; results are looked at.
 */
#ifndef BENCH_MICRO_PIPELINE_H
#define BENCH_MICRO_PIPELINE_H

#include <adsm.h>

/** When the output comes to the host. */
enum pipeline_form {
    PIPELINE_FETCH, /* as it is made                   */
    PIPELINE_AFTER, /* when all kernels have run       */
    PIPELINE_STAYS, /* not at all, or it is one number */
};

/** What is computed: a kernel of stages.cu. */
enum pipeline_kind { MAP, NEVMAP, MAPARRAY, ACCUMULATE, MAPREDUCE };

enum { PIPELINE_TABLE = 192 }; /* words that all of MAPARRAY reads */

struct pipeline {
    enum pipeline_kind kind;
    long n;
    adsmKernel *kernel;
    unsigned *in[2]; /* the second is NULL where there is one */
    unsigned *out, *table;
    unsigned turn; /* inputs differ from turn to turn */
};

/** Load the kernel, allocate the arrays, and make the calls that the library
 *  learns from. Exits 3 with a sentence when that fails. */
struct pipeline pipeline_make(enum pipeline_kind kind, long n);

/** Give the arrays back; the kernel stays for ever. */
void pipeline_free(struct pipeline *p);

/** Milliseconds of one stage by itself, in so many pieces, its inputs fresh. */
double pipeline_table_ms(struct pipeline *p);
double pipeline_up_ms(struct pipeline *p, int pieces);
double pipeline_kernel_ms(struct pipeline *p, int pieces);
double pipeline_down_ms(struct pipeline *p, int pieces);

/** And of a call in so many chunks, 0: as many as the library likes; until the
 *  output is where the form says. Exits 3 where it is wrong. */
double pipeline_call_ms(struct pipeline *p, int chunks,
                        enum pipeline_form form);

#endif
