/*
 * Stream capture: what would go into a stream becomes a graph.
 */
#ifndef SOFTCUDA_DRIVER_CAPTURE_H
#define SOFTCUDA_DRIVER_CAPTURE_H

#include "driver/graph.h"
#include "driver/stream.h"

/** Is the stream part of a capture?  Cheap, for every call. */
static inline bool sc_captures(CUstream stream)
{
    return atomic_load_explicit(&stream->capture, memory_order_acquire) != NULL;
}

/** Put work into the capture instead of the stream; takes the work. */
CUresult sc_capture_add(CUstream stream, struct sc_work *work);

/** The call cannot be captured: the capture fails.
 *  Return: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED */
CUresult sc_capture_refuse(CUstream stream);

/** cuEventRecord in a capturing stream. */
CUresult sc_capture_record(CUstream stream, CUevent event, bool external);

/** cuStreamWaitEvent where the stream captures or the event was captured. */
CUresult sc_capture_wait(CUstream stream, CUevent event, bool external);

/** A stream ends: its part in a capture, too. */
void sc_capture_leave(CUstream stream);

#endif
