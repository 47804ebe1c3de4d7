/*
 * What every file of the driver shares: export macro, entry checks, messages.
 *
 * Lock ranks, lower first: 1 start (bring-up of devices and contexts),
 * 1.5 mirrors (while bytes pass), 2 memory (address tables), 3 sched
 * (operations, streams, events, rings), 4 handles and link (leaves).  A call into the program (callbacks) is made
 * with none of them held.
 */
#ifndef SOFTCUDA_DRIVER_DRIVER_H
#define SOFTCUDA_DRIVER_DRIVER_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/options.h"

#define SC_API __attribute__((visibility("default"))) CUresult

#define SC_PAGE      (2ull << 20) /* granularity of device memory */
#define SC_SMALLEST  512u         /* alignment of small allocations */
#define SC_SM        90           /* compute capability, 90 = 9.0 */
#define SC_NAME_SIZE 64

extern struct sc_options sc_options;

/** Return the status from the calling function unless it is success. */
#define SC_TRY(call)                                                           \
    do {                                                                       \
        CUresult sc_try_ = (call);                                             \
        if (sc_try_ != CUDA_SUCCESS)                                           \
            return sc_try_;                                                    \
    } while (0)

/**
 * Check that the driver may be used: cuInit was called, in this process.
 *
 * Return: CUDA_SUCCESS, CUDA_ERROR_NOT_INITIALIZED
 * Thread: any
 */
CUresult sc_enter(void);

/**
 * As sc_enter, and fetch the calling thread's current context.
 *
 * @ctx receives the context, alive and without a sticky error
 * Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_CONTEXT, the sticky error,
 *         CUDA_ERROR_NOT_PERMITTED inside a host function
 * Thread: any
 */
CUresult sc_enter_context(CUcontext *ctx);

/**
 * Create a detached driver thread with the signals of the program blocked.
 *
 * @stack_bytes beside thread-local variables; 0 for the default size
 * Return: false when the system refused
 * Thread: any
 */
bool sc_thread_start(void *(*run)(void *), void *arg, size_t stack_bytes);

/** One line on stderr, prefixed "softcuda: ". Thread: any. */
void sc_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
