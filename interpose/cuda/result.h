/*
 * What happened, in CUDA's terms: a status of the runtime as a result of the
 * driver, and results that end a context.
 */
#ifndef INTERPOSE_CUDA_RESULT_H
#define INTERPOSE_CUDA_RESULT_H

#include "interpose/cuda/resolve.h"

/** What the two below do with what did not succeed. */
CUresult cuda_result_of(const char *what, int status);
void cuda_see(CUresult result);

/** A status of the engine (device/driver.h) as a result of CUDA; `what` is said
 *  once. */
static inline CUresult cuda_result(const char *what, int status)
{
    return hook_likely(!status) ? CUDA_SUCCESS : cuda_result_of(what, status);
}

/** The driver answered `result`: one that ends its context is remembered.
 *  Return: `result` */
static inline CUresult cuda_seen(CUresult result)
{
    if (hook_unlikely(result))
        cuda_see(result);
    return result;
}

/** What became of the current context where a context has ended: calls that
 *  need no driver otherwise fail as the driver's would. Costs nothing before. */
CUresult cuda_context_health(void);

#endif
