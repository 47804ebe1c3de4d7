/*
 * Streams whose work is recorded instead of run. Nothing is asked of the driver
 * before the program has begun to record.
 */
#ifndef INTERPOSE_CUDA_CAPTURE_H
#define INTERPOSE_CUDA_CAPTURE_H

#include "interpose/cuda/resolve.h"

/** Was a capture ever begun? */
bool cuda_captures(void);

/** Is work on this stream recorded instead of run? */
bool cuda_is_capturing(CUstream stream);

/** A capture was begun: from now on cuda_is_capturing asks the driver. */
void cuda_capture_seen(void);

/** One has ended; is there one that has not? Of one that could not begin nobody
 *  hears the end. */
void cuda_capture_ended(void);
bool cuda_captures_now(void);

#endif
