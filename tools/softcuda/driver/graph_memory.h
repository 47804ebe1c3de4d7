/*
 * Memory that nodes of graphs allocate and free.
 */
#ifndef SOFTCUDA_DRIVER_GRAPH_MEMORY_H
#define SOFTCUDA_DRIVER_GRAPH_MEMORY_H

#include "driver/graph.h"

/**
 * Describe a node that allocates.
 *
 * @params receives the address
 * Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_SUPPORTED,
 *         CUDA_ERROR_OUT_OF_MEMORY, what sc_enter_context says
 * Thread: any, sc_graph_lock not held
 */
CUresult sc_graph_memory_new(struct sc_work *work,
                             CUDA_MEM_ALLOC_NODE_PARAMS *params);

/** Describe a node that frees what a node allocates.
 *  Return: as above; CUDA_ERROR_INVALID_VALUE for any other memory */
CUresult sc_graph_memory_free_node(struct sc_work *work, CUdeviceptr address);

/** Memory that a node allocates or frees, NULL: it is of another kind. */
struct sc_graph_memory *sc_graph_memory_of(CUgraphNode node);

/** What the allocating node was given. Thread: holds sc_graph_lock. */
const CUDA_MEM_ALLOC_NODE_PARAMS *
sc_graph_memory_params(const struct sc_graph_memory *memory);

/** One more node names it, or one less. Thread: holds sc_graph_lock. */
void sc_graph_memory_keep(struct sc_graph_memory *memory);
void sc_graph_memory_drop(struct sc_graph_memory *memory);

/** May a sorted graph be launched: is nothing allocated twice or freed that
 *  is not allocated?  @auto_free what an earlier launch left is freed by this
 *  one.  Thread: holds sc_graph_lock. */
bool sc_graph_memory_can_launch(CUgraph graph, bool auto_free);

/** It was launched, after sc_graph_memory_can_launch; `end` is its last
 *  operation.  Thread: holds sc_graph_lock. */
void sc_graph_memory_launched(CUgraph graph, struct sc_op *end);

/**
 * Free what a launch left allocated, in a stream's turn or at once.
 *
 * @stream NULL: at once, after all work of the device
 * @result receives what the freeing call returns
 * Return: false: the address is no graph's
 * Thread: any, no lock held
 */
bool sc_graph_memory_free(CUcontext ctx, CUstream stream, uint64_t address,
                          CUresult *result);

#endif
