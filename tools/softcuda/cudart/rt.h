/*
 * What every file of libcudart shares: the calling thread's state, how a call
 * begins and ends, and how older versions of the library differ.
 *
 * The library is built once per version: SC_CUDART is 11, 12 or 13.  Code is
 * written for the interface of 13; where an older version has another
 * function under the same name, old.c holds it and the new one gets the name
 * it had there.
 *
 * Calls go to the driver through its public names, so that a library
 * preloaded into the program sees them like anybody's.
 */
#ifndef SOFTCUDA_CUDART_RT_H
#define SOFTCUDA_CUDART_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/older.h"
#include "cudart/include/cuda_runtime_api.h"
#include "cuda.h"

#define SC_RT __attribute__((visibility("default"))) cudaError_t

/** Return the error from the calling function unless it is success. */
#define SC_RT_TRY(call)                                                        \
    do {                                                                       \
        cudaError_t sc_rt_try_ = (call);                                       \
        if (sc_rt_try_ != cudaSuccess)                                         \
            return sc_rt_try_;                                                 \
    } while (0)

/** The same in an entry point, which leaves the error behind as the last. */
#define SC_RT_BEGIN(call)                                                      \
    do {                                                                       \
        cudaError_t sc_rt_try_ = (call);                                       \
        if (sc_rt_try_ != cudaSuccess)                                         \
            return sc_rt_done(sc_rt_try_);                                     \
    } while (0)

/** A driver call's result as a runtime error. */
#define SC_RT_DRIVER(call) sc_rt_error(call)

/** NULL means the calling thread's own stream. */
static inline cudaStream_t sc_rt_own(cudaStream_t stream)
{
    return stream ? stream : cudaStreamPerThread;
}

/**
 * Make the driver ready and the calling thread's device usable: its primary
 * context is current afterwards, unless the program made another one current.
 *
 * Return: cudaSuccess, what cuInit or the context said
 * Thread: any
 */
cudaError_t sc_rt_enter(void);

/**
 * As sc_rt_enter, but only the driver: no context is made.
 *
 * Return: cudaSuccess, what cuInit said
 * Thread: any
 */
cudaError_t sc_rt_init(void);

/**
 * The context that sc_rt_enter left current, and a number that changes when a
 * device is reset.
 *
 * Thread: any, after sc_rt_enter
 */
CUcontext sc_rt_context(void);
uint64_t sc_rt_epoch(void);

/**
 * The primary context of a device, made if need be.
 *
 * @device ordinal; @ctx receives it
 * Return: cudaSuccess, cudaErrorInvalidDevice, what the driver said
 * Thread: any
 */
cudaError_t sc_rt_primary(int device, CUcontext *ctx);

/**
 * The calling thread's device.
 *
 * Thread: any, after sc_rt_init
 */
int sc_rt_device(void);

/**
 * A driver result as a runtime error.
 *
 * Thread: any
 */
cudaError_t sc_rt_error(CUresult result);

/**
 * End of every entry point: remember an error as the thread's last one, which
 * cudaErrorNotReady never is.
 *
 * Return: `error`
 * Thread: any
 */
cudaError_t sc_rt_done(cudaError_t error);

/**
 * Forget that a fault was sticky: the device was reset.
 *
 * Thread: any
 */
void sc_rt_forgive(void);

/**
 * Say one line on stderr.
 *
 * Thread: any
 */
void sc_rt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
