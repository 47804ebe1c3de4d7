/*
 * From the structures that describe nodes to work, and which node is meant.
 */
#ifndef SOFTCUDA_DRIVER_NODE_H
#define SOFTCUDA_DRIVER_NODE_H

#include "driver/graph.h"

/** Each: check what the program describes, fill `work`, to be given up with
 *  sc_work_fini.  Return: as the calls that add such nodes.
 *  Thread: any, sc_graph_lock not held */
CUresult sc_node_kernel(struct sc_work *work, const CUDA_KERNEL_NODE_PARAMS *p);
CUresult sc_node_copy(struct sc_work *work, const CUDA_MEMCPY3D *copy,
                      CUcontext ctx);
CUresult sc_node_fill(struct sc_work *work, const CUDA_MEMSET_NODE_PARAMS *fill,
                      CUcontext ctx);
CUresult sc_node_host(struct sc_work *work, const CUDA_HOST_NODE_PARAMS *host);
CUresult sc_node_child(struct sc_work *work, CUgraph child);

/** @event NULL for an empty node */
CUresult sc_node_plain(struct sc_work *work, CUgraphNodeType type,
                       CUevent event);

/** Any of them, from the structure that holds one of all. */
CUresult sc_node_describe(struct sc_work *work, CUgraphNodeParams *params);

/** Are these edges of the only kind there is? */
CUresult sc_node_edges(const CUgraphEdgeData *edges, size_t count);

/** Node of a copy that stands for `original`, in its child graphs too.
 *  Return: NULL: none. Thread: holds sc_graph_lock. */
CUgraphNode sc_node_of_copy(CUgraph copy, CUgraphNode original);

#endif
