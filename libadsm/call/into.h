/*
 * Operands that parts accumulate into (adsmInto), or write anywhere
 * (adsmScatter).
 *
 * A call of one part does so in the object itself. Where there are several each
 * has a copy of its own, a row of an array of the library's that begins as the
 * operator's identity. Behind them one call on the first device combines the
 * object and the rows, in the order of the parts, by the tree of reductions
 * (adsm_skeleton.h). So the result depends on how the range was cut and on what
 * the kernel makes of each part, not on who made it or was first.
 *
 * What is written anywhere is combined by exclusive or, the copies beginning as
 * the object: where all copies but one are what the object is, that is the one,
 * for an odd number of copies, and for an even one with the object besides. So it
 * is not asked which elements were written, nor of what type they are.
 *
 * Failures set the error detail. Thread: the one that makes the call. Signal:
 * never
 *
 * Source: CUDASTF's access mode `reduce` and StarPU's REDUX. Differs: a copy of
 * a part, not of a device, and what the object held takes part
 */
#ifndef ADSM_CALL_INTO_H
#define ADSM_CALL_INTO_H

#include "call/task.h"

struct adsm_into;

/** Take the operator of an argument, or that of what is written anywhere. ADSM_OK;
 *  ADSM_E_INVALID: it has none, or one of other elements */
int adsm_into_take(const struct adsm_task *task, const adsmArg *arg,
                   struct adsm_operand *operand);

/** Whether nothing else of the call lies in what is accumulated into. ADSM_OK;
 *  ADSM_E_INVALID */
int adsm_into_check(const struct adsm_task *task);

/**
 * Give each part its copies, where there are parts.
 *
 * @into  of adsm_into_end, also on failure; the task's memory
 * Return: ADSM_OK; ADSM_E_NOMEM; what calls return
 */
int adsm_into_begin(struct adsm_task *task, struct adsm_into **into);

/** Combine them, unless the parts failed with `rc`. Return: `rc`, or what calls
 *  return: the object is as it was */
int adsm_into_end(struct adsm_task *task, struct adsm_into *into, int rc);

#endif
