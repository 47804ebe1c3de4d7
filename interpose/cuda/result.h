/*
 * What happened, in CUDA's terms: a status of the runtime as a result of the
 * driver, and results that end a context.
 */
#ifndef INTERPOSE_CUDA_RESULT_H
#define INTERPOSE_CUDA_RESULT_H

#include "interpose/cuda/resolve.h"

/** A status of the engine (device/driver.h) as a result of CUDA; `what` is said
 *  once. */
CUresult cuda_result(const char *what, int status);

/** The driver answered `result`: one that ends its context is remembered.
 *  Return: `result` */
CUresult cuda_seen(CUresult result);

/** What became of the current context where a context has ended: calls that
 *  need no driver otherwise fail as the driver's would. Costs nothing before. */
CUresult cuda_context_health(void);

#endif
