/* What the files of sched/skeleton*.c share; nobody else's. Failures set the
 * error detail. Thread: the one that makes the call. Signal: never */
#ifndef ADSM_SCHED_SKELETON_PARTS_H
#define ADSM_SCHED_SKELETON_PARTS_H

#include "sched/operator.h"
#include "sched/scratch.h"
#include "sched/skeleton.h"

enum { ADSM_WALK_SCRATCH = 16 }; /* more than 2^46 indices need */

/** A skeleton that is being called. */
struct adsm_walk {
    const adsmOperator *op;
    const adsmOpts *opts;
    bool begun; /* a pass was made: the others come behind it */
    struct adsm_scratch *scratch[ADSM_WALK_SCRATCH];
    int count;
};

/** One pass: a call, whose kernel has an idea of blocks and of how many indices
 *  a thread handles. */
struct adsm_pass {
    adsmBox range;
    long align;
    long each[3];
    unsigned block[3];
    bool by_rows; /* tiles cut the outermost dimension only */
    bool last;    /* what is asked for behind the call is behind this pass */
};

int adsm_walk_pass(struct adsm_walk *walk, adsmKernel *kernel,
                   const struct adsm_pass *pass, int count,
                   const adsmArg *args);
int adsm_walk_operator(struct adsm_walk *walk, enum adsm_operator_kernel which,
                       const struct adsm_pass *pass, int count,
                       const adsmArg *args);

/** An array of the operator's elements until the walk ends. */
int adsm_walk_scratch(struct adsm_walk *walk, adsmBox shape, void **array);
int adsm_walk_end(struct adsm_walk *walk, int rc);

/** A pointer to elements of the operator, as an argument. */
adsmArg adsm_walk_array(const struct adsm_walk *walk, const void *array,
                        adsmMode mode);

/** Partial results of [lo, hi): one for each chunk of `rows` rows. */
int adsm_walk_fold(struct adsm_walk *walk, const void *in, long lo, long hi,
                   int rows, void *out, bool last);

/* ---- what is given (skeleton_check.c) --------------------------------------- */

/** Is `in` an array over this range, of the operator's elements? */
int adsm_walk_check_in(const struct adsm_walk *walk, const void *in,
                       const adsmBox *range);

/** Is `result` an array of one dimension with at least `count`? `name` is its
 *  parameter's. */
int adsm_walk_check_result(const struct adsm_walk *walk, const char *name,
                           const void *result, long count);

/** Have two arrays no byte in common? */
int adsm_walk_check_apart(const struct adsm_walk *walk, const void *in,
                          const adsmBox *range, const char *name,
                          const void *result, long count);

#endif
