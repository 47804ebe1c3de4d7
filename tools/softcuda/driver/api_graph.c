/*
 * Owns: the entry points that add nodes and ask about the structure.
 * Does not own: parameters of nodes (api_node.c), the structure (graph.c).
 * Lock: sc_graph_lock.
 */
#include "driver/context.h"
#include "driver/event.h"
#include "driver/graph_memory.h"
#include "driver/handle.h"
#include "driver/node.h"

/* Add described work to a graph; gives the work up. */
static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                    size_t count, struct sc_work *work)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    if (node && sc_graph_is(graph))
        result = sc_graph_add(node, graph, before, count, work);
    sc_work_fini(work);
    pthread_mutex_unlock(&sc_graph_lock);
    return result;
}

SC_API cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                            const CUgraphNode *dependencies,
                            size_t numDependencies,
                            const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    struct sc_work work;
    SC_TRY(sc_node_kernel(&work, nodeParams));
    return add(phGraphNode, hGraph, dependencies, numDependencies, &work);
}

SC_API cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                            const CUgraphNode *dependencies,
                            size_t numDependencies,
                            const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    struct sc_work work;
    SC_TRY(sc_node_copy(&work, copyParams, ctx));
    return add(phGraphNode, hGraph, dependencies, numDependencies, &work);
}

SC_API cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                            const CUgraphNode *dependencies,
                            size_t numDependencies,
                            const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                            CUcontext ctx)
{
    struct sc_work work;
    SC_TRY(sc_node_fill(&work, memsetParams, ctx));
    return add(phGraphNode, hGraph, dependencies, numDependencies, &work);
}

SC_API cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                          const CUgraphNode *dependencies,
                          size_t numDependencies,
                          const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct sc_work work;
    SC_TRY(sc_node_host(&work, nodeParams));
    return add(phGraphNode, hGraph, dependencies, numDependencies, &work);
}

SC_API cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                const CUgraphNode *dependencies,
                                size_t numDependencies, CUgraph childGraph)
{
    struct sc_work work;
    SC_TRY(sc_node_child(&work, childGraph));
    return add(phGraphNode, hGraph, dependencies, numDependencies, &work);
}

SC_API cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                           const CUgraphNode *dependencies,
                           size_t numDependencies)
{
    struct sc_work work;
    SC_TRY(sc_node_plain(&work, CU_GRAPH_NODE_TYPE_EMPTY, NULL));
    return add(phGraphNode, hGraph, dependencies, numDependencies, &work);
}

SC_API cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                 const CUgraphNode *dependencies,
                                 size_t numDependencies, CUevent event)
{
    struct sc_work work;
    SC_TRY(sc_node_plain(&work, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
    return add(phGraphNode, hGraph, dependencies, numDependencies, &work);
}

SC_API cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                               const CUgraphNode *dependencies,
                               size_t numDependencies, CUevent event)
{
    struct sc_work work;
    SC_TRY(sc_node_plain(&work, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
    return add(phGraphNode, hGraph, dependencies, numDependencies, &work);
}

SC_API cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                              const CUgraphNode *dependencies,
                              size_t numDependencies,
                              CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    struct sc_work work;
    SC_TRY(sc_graph_memory_new(&work, nodeParams));
    return add(phGraphNode, hGraph, dependencies, numDependencies, &work);
}

SC_API cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                             const CUgraphNode *dependencies,
                             size_t numDependencies, CUdeviceptr dptr)
{
    struct sc_work work;
    SC_TRY(sc_graph_memory_free_node(&work, dptr));
    return add(phGraphNode, hGraph, dependencies, numDependencies, &work);
}

/* Nodes for memory are described here alone: they are never changed. */
static CUresult describe_new(struct sc_work *work, CUgraphNodeParams *params)
{
    CUresult result;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        alloc = (CUDA_MEM_ALLOC_NODE_PARAMS){
            .poolProps = params->alloc.poolProps,
            .accessDescs = params->alloc.accessDescs,
            .accessDescCount = params->alloc.accessDescCount,
            .bytesize = params->alloc.bytesize};
        result = sc_graph_memory_new(work, &alloc);
        params->alloc.dptr = alloc.dptr;
        return result;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return sc_graph_memory_free_node(work, params->free.dptr);
    default:
        return sc_node_describe(work, params);
    }
}

SC_API cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                      const CUgraphNode *dependencies,
                      const CUgraphEdgeData *dependencyData,
                      size_t numDependencies, CUgraphNodeParams *nodeParams)
{
    struct sc_work work;
    SC_TRY(sc_enter());
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(sc_node_edges(dependencyData, numDependencies));
    SC_TRY(describe_new(&work, nodeParams));
    return add(phGraphNode, hGraph, dependencies, numDependencies, &work);
}

/* Fill the program's array, or say how much room it takes. */
static void hand_out(const struct sc_node_list *from, CUgraphNode *nodes,
                     CUgraphEdgeData *edges, size_t *count)
{
    size_t room = nodes ? *count : 0;
    for (size_t i = 0; i < room; i++) {
        nodes[i] = i < from->count ? from->list[i] : NULL;
        if (edges)
            edges[i] = (CUgraphEdgeData){0};
    }
    if (!nodes || *count > from->count)
        *count = from->count;
}

SC_API cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    SC_TRY(sc_enter());
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = sc_graph_is(hGraph) && numNodes;
    if (ok)
        hand_out(&hGraph->nodes, nodes, NULL, numNodes);
    pthread_mutex_unlock(&sc_graph_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes,
                           size_t *numRootNodes)
{
    SC_TRY(sc_enter());
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = sc_graph_is(hGraph) && numRootNodes;
    size_t room = ok && rootNodes ? *numRootNodes : 0, found = 0;
    for (size_t i = 0; ok && i < hGraph->nodes.count; i++) {
        CUgraphNode node = hGraph->nodes.list[i];
        if (node->before.count > 0)
            continue;
        if (found < room)
            rootNodes[found] = node;
        found++;
    }
    for (size_t i = found; i < room; i++)
        rootNodes[i] = NULL;
    if (ok)
        *numRootNodes = rootNodes && found > room ? room : found;
    pthread_mutex_unlock(&sc_graph_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                       CUgraphEdgeData *edgeData, size_t *numEdges)
{
    SC_TRY(sc_enter());
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = sc_graph_is(hGraph) && numEdges && !from == !to;
    size_t room = ok && from ? *numEdges : 0, found = 0;
    for (size_t i = 0; ok && i < hGraph->nodes.count; i++) {
        CUgraphNode node = hGraph->nodes.list[i];
        for (size_t k = 0; k < node->before.count; k++, found++) {
            if (found >= room)
                continue;
            from[found] = node->before.list[k];
            to[found] = node;
            if (edgeData)
                edgeData[found] = (CUgraphEdgeData){0};
        }
    }
    for (size_t i = found; i < room; i++)
        from[i] = to[i] = NULL;
    if (ok)
        *numEdges = from && found > room ? room : found;
    pthread_mutex_unlock(&sc_graph_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies,
                                  CUgraphEdgeData *edgeData,
                                  size_t *numDependencies)
{
    SC_TRY(sc_enter());
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = sc_handle_is(hNode, SC_HANDLE_NODE) && numDependencies;
    if (ok)
        hand_out(&hNode->before, dependencies, edgeData, numDependencies);
    pthread_mutex_unlock(&sc_graph_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuGraphNodeGetDependentNodes(CUgraphNode hNode,
                                    CUgraphNode *dependentNodes,
                                    CUgraphEdgeData *edgeData,
                                    size_t *numDependentNodes)
{
    SC_TRY(sc_enter());
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = sc_handle_is(hNode, SC_HANDLE_NODE) && numDependentNodes;
    if (ok)
        hand_out(&hNode->behind, dependentNodes, edgeData, numDependentNodes);
    pthread_mutex_unlock(&sc_graph_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Are all pairs nodes of this graph, and edges that exist where asked? */
static bool check_pairs(CUgraph graph, const CUgraphNode *from,
                        const CUgraphNode *to, size_t count, bool exist)
{
    if (!sc_graph_is(graph) || (count && (!from || !to)))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!sc_handle_is(from[i], SC_HANDLE_NODE) ||
            !sc_handle_is(to[i], SC_HANDLE_NODE) || from[i]->graph != graph ||
            to[i]->graph != graph || from[i] == to[i] ||
            sc_node_list_has(&to[i]->before, from[i]) != exist)
            return false;
    return true;
}

SC_API cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from,
                              const CUgraphNode *to,
                              const CUgraphEdgeData *edgeData,
                              size_t numDependencies)
{
    SC_TRY(sc_enter());
    SC_TRY(sc_node_edges(edgeData, numDependencies));
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    if (check_pairs(hGraph, from, to, numDependencies, false)) {
        result = CUDA_SUCCESS;
        for (size_t i = 0; result == CUDA_SUCCESS && i < numDependencies; i++)
            result = sc_graph_connect(from[i], to[i]);
    }
    pthread_mutex_unlock(&sc_graph_lock);
    return result;
}

SC_API cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from,
                                 const CUgraphNode *to,
                                 const CUgraphEdgeData *edgeData,
                                 size_t numDependencies)
{
    SC_TRY(sc_enter());
    SC_TRY(sc_node_edges(edgeData, numDependencies));
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = check_pairs(hGraph, from, to, numDependencies, true);
    for (size_t i = 0; ok && i < numDependencies; i++) {
        sc_node_list_remove(&to[i]->before, from[i]);
        sc_node_list_remove(&from[i]->behind, to[i]);
    }
    pthread_mutex_unlock(&sc_graph_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
                              CUgraph hClonedGraph)
{
    SC_TRY(sc_enter());
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    if (phNode && sc_handle_is(hOriginalNode, SC_HANDLE_NODE) &&
        sc_graph_is(hClonedGraph)) {
        CUgraphNode node = sc_node_of_copy(hClonedGraph, hOriginalNode);
        if (node) {
            *phNode = node;
            result = CUDA_SUCCESS;
        }
    }
    pthread_mutex_unlock(&sc_graph_lock);
    return result;
}
