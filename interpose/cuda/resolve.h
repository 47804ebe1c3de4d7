/*
 * The driver's own functions, behind the hooks.
 */
#ifndef INTERPOSE_CUDA_RESOLVE_H
#define INTERPOSE_CUDA_RESOLVE_H

#include "interpose/hook.h"

/**
 * Find the driver that the program loaded and fill the cuda half of hook_real.
 * Never loads it. Idempotent. Thread: any. Signal: never
 */
void cuda_resolve(void);

/** The program looked `link` up and got `found`: take it where cuda_resolve
 *  found nothing (a driver under another file name). */
void cuda_resolve_adopt(const struct hook_link *link, void *found);

/** Whether the real function at `slot` is known; tries once more. */
bool cuda_resolve_has(void **slot);

/** The real driver function `name` called with the arguments in parentheses;
 *  CUDA_ERROR_NOT_INITIALIZED when there is no driver. */
#define CUDA_REAL(name, args)                                                  \
    (hook_likely(hook_real.name != NULL) ||                                    \
             cuda_resolve_has((void **)&hook_real.name)                        \
         ? hook_real.name args                                                 \
         : CUDA_ERROR_NOT_INITIALIZED)

/** CUDA_REAL as every hook uses it: what the driver calls meanwhile is its
 *  own business, and so are its faults. */
#define CUDA_CALL(name, args)                                                  \
    ({                                                                         \
        hook_enter();                                                          \
        CUresult cuda_call_result = CUDA_REAL(name, args);                     \
        hook_leave();                                                          \
        cuda_call_result;                                                      \
    })

/**
 * The wrapper for what cuGetProcAddress answered, or `found` itself.
 *
 * @found  the driver's answer for (api, version, flags)
 */
void *cuda_resolve_wrap(const char *api, int version, uint64_t flags,
                        void *found);

#endif
