/*
 * Memory that nodes of graphs allocate.
 *
 * Its address is known from the making of the node on, and there is memory at it
 * from a launch on to the launch that frees it, or to the program's own free.
 * Graphs may have one memory for several of their addresses. So it is adopted as
 * any other, when the CPU touches it, and given up before each launch of a graph,
 * to be adopted anew when it is touched then.
 *
 * Owns the list of such addresses. Lock: its own, rank POOL.
 */
#ifndef INTERPOSE_CUDA_GRAPH_H
#define INTERPOSE_CUDA_GRAPH_H

#include "interpose/cuda/resolve.h"

/** A node has been given this address. Thread: any. Signal: never */
void cuda_graph_memory(CUdeviceptr at, size_t bytes);

/** The same of an allocation on a stream, if it was recorded. */
void cuda_graph_memory_if(CUdeviceptr at, size_t bytes, CUstream stream);

/** Something is about to change which of it is there. Thread: any; holds no
 *  lock. Signal: never */
void cuda_graph_memory_goes(void);

#endif
