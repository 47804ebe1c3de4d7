/* What the files of call/skeleton*.c share; nobody else's. Failures set the
 * error detail. Thread: the one that makes the call. Signal: never */
#ifndef ADSM_CALL_SKELETON_PARTS_H
#define ADSM_CALL_SKELETON_PARTS_H

#include "call/operator.h"
#include "call/scratch.h"
#include "call/skeleton.h"

enum { ADSM_SKELETON_SCRATCH = 16 }; /* more than 2^46 indices need */

/** A skeleton that is being called. */
struct adsm_skeleton {
    const adsmOperator *op;
    const adsmOpts *opts;
    bool begun; /* a pass was made: the others come behind it */
    struct adsm_scratch *scratch[ADSM_SKELETON_SCRATCH];
    int count;
};

/** One pass: a call, whose kernel has an idea of blocks and of how many indices
 *  a thread handles. */
struct adsm_pass {
    adsmBox range;
    long align;
    long each[3];
    unsigned block[3];
    bool last; /* what is asked for behind the call is behind this pass */
};

int adsm_skeleton_pass(struct adsm_skeleton *skeleton, adsmKernel *kernel,
                       const struct adsm_pass *pass, int count,
                       const adsmArg *args);
int adsm_skeleton_operator(struct adsm_skeleton *skeleton,
                           enum adsm_operator_kernel which,
                           const struct adsm_pass *pass, int count,
                           const adsmArg *args);

/** An array of the operator's elements until the skeleton ends. */
int adsm_skeleton_scratch(struct adsm_skeleton *skeleton, adsmBox shape,
                          void **array);
int adsm_skeleton_end(struct adsm_skeleton *skeleton, int rc);

/** A pointer to elements of the operator, as an argument. */
adsmArg adsm_skeleton_array(const struct adsm_skeleton *skeleton,
                            const void *array, adsmMode mode);

/** Partial results of [lo, hi): one for each chunk of `rows` rows. */
int adsm_skeleton_fold(struct adsm_skeleton *skeleton, const void *in, long lo,
                       long hi, int rows, void *out, bool last);

/* ---- what is given (skeleton_check.c) --------------------------------------- */

/** Is `in` an array over this range, of the operator's elements? */
int adsm_skeleton_check_in(const struct adsm_skeleton *skeleton, const void *in,
                           const adsmBox *range);

/** Is `result` an array of one dimension with at least `count`? `name` is its
 *  parameter's. */
int adsm_skeleton_check_result(const struct adsm_skeleton *skeleton,
                               const char *name, const void *result,
                               long count);

/** Have two arrays no byte in common? */
int adsm_skeleton_check_apart(const struct adsm_skeleton *skeleton,
                              const void *in, const adsmBox *range,
                              const char *name, const void *result, long count);

#endif
