/*
 * Owns: descriptions of nodes, and the entry points that read and change them,
 * in graphs and in executable graphs.
 * Does not own: what comes of them (work.c).  Lock: sc_graph_lock.
 */
#include "driver/context.h"
#include "driver/event.h"
#include "driver/handle.h"
#include "driver/node.h"

CUresult sc_node_kernel(struct sc_work *work, const CUDA_KERNEL_NODE_PARAMS *p)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    if (!p || (!p->func && !p->kern))
        return CUDA_ERROR_INVALID_VALUE;
    if (p->ctx && !sc_handle_is(p->ctx, SC_HANDLE_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    struct sc_shape shape = {
        .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
        .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
        .shared_bytes = p->sharedMemBytes,
    };
    CUfunction f = p->func ? p->func : (CUfunction)(void *)p->kern;
    return sc_work_kernel(work, p->ctx ? p->ctx : ctx, f, &shape,
                          p->kernelParams, p->extra);
}

/* The context a node names, or the current one. */
static CUresult enter(CUcontext named, struct sc_work *work)
{
    SC_TRY(sc_enter_context(&work->ctx));
    if (named && !sc_handle_is(named, SC_HANDLE_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (named)
        work->ctx = named;
    return CUDA_SUCCESS;
}

CUresult sc_node_copy(struct sc_work *work, const CUDA_MEMCPY3D *copy,
                      CUcontext ctx)
{
    *work = (struct sc_work){.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    SC_TRY(enter(ctx, work));
    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    work->copy = *copy;
    return sc_work_check(work);
}

CUresult sc_node_fill(struct sc_work *work, const CUDA_MEMSET_NODE_PARAMS *fill,
                      CUcontext ctx)
{
    *work = (struct sc_work){.type = CU_GRAPH_NODE_TYPE_MEMSET};
    SC_TRY(enter(ctx, work));
    if (!fill)
        return CUDA_ERROR_INVALID_VALUE;
    work->fill = *fill;
    return sc_work_check(work);
}

CUresult sc_node_host(struct sc_work *work, const CUDA_HOST_NODE_PARAMS *host)
{
    *work = (struct sc_work){.type = CU_GRAPH_NODE_TYPE_HOST};
    SC_TRY(enter(NULL, work));
    if (!host)
        return CUDA_ERROR_INVALID_VALUE;
    work->host = *host;
    return sc_work_check(work);
}

CUresult sc_node_child(struct sc_work *work, CUgraph child)
{
    *work = (struct sc_work){.type = CU_GRAPH_NODE_TYPE_EMPTY};
    SC_TRY(enter(NULL, work));
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    if (sc_graph_is(child) && !child->capturing) {
        work->child = sc_graph_clone(child);
        result = work->child ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_unlock(&sc_graph_lock);
    if (result == CUDA_SUCCESS)
        work->type = CU_GRAPH_NODE_TYPE_GRAPH;
    return result;
}

CUresult sc_node_plain(struct sc_work *work, CUgraphNodeType type,
                       CUevent event)
{
    *work = (struct sc_work){.type = type};
    SC_TRY(enter(NULL, work));
    work->event = event;
    return sc_work_check(work);
}

static const char *name_of(CUgraphNodeType type)
{
    static const char *const names[] = {
        [CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL] = "signalling a semaphore",
        [CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT] = "waiting for a semaphore",
        [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "reading and writing values",
        [CU_GRAPH_NODE_TYPE_CONDITIONAL] = "conditions",
    };
    return (unsigned)type < sizeof names / sizeof *names ? names[type] : NULL;
}

CUresult sc_node_describe(struct sc_work *work, CUgraphNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_HOST_NODE_PARAMS host;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        kernel = (CUDA_KERNEL_NODE_PARAMS){
            params->kernel.func,         params->kernel.gridDimX,
            params->kernel.gridDimY,     params->kernel.gridDimZ,
            params->kernel.blockDimX,    params->kernel.blockDimY,
            params->kernel.blockDimZ,    params->kernel.sharedMemBytes,
            params->kernel.kernelParams, params->kernel.extra,
            params->kernel.kern,         params->kernel.ctx};
        return sc_node_kernel(work, &kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return sc_node_copy(work, &params->memcpy.copyParams,
                            params->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        fill = (CUDA_MEMSET_NODE_PARAMS){
            params->memset.dst,   params->memset.pitch,
            params->memset.value, params->memset.elementSize,
            params->memset.width, params->memset.height};
        return sc_node_fill(work, &fill, params->memset.ctx);
    case CU_GRAPH_NODE_TYPE_HOST:
        host = (CUDA_HOST_NODE_PARAMS){params->host.fn, params->host.userData};
        return sc_node_host(work, &host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return sc_node_child(work, params->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return sc_node_plain(work, params->type, NULL);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return sc_node_plain(work, params->type, params->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return sc_node_plain(work, params->type, params->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return CUDA_ERROR_NOT_SUPPORTED; /* once made, it stays as it is */
    default:
        break;
    }
    if (!name_of(params->type))
        return CUDA_ERROR_INVALID_VALUE;
    sc_say("nodes of graphs for %s are not supported", name_of(params->type));
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sc_node_edges(const CUgraphEdgeData *edges, size_t count)
{
    for (size_t i = 0; edges && i < count; i++)
        if (edges[i].type != CU_GRAPH_DEPENDENCY_TYPE_DEFAULT ||
            edges[i].from_port != 0 || edges[i].to_port != 0) {
            sc_say("programmatic edges of graphs are not supported");
            return CUDA_ERROR_NOT_SUPPORTED;
        }
    return CUDA_SUCCESS;
}

CUgraphNode sc_node_of_copy(CUgraph copy, CUgraphNode original)
{
    for (size_t i = 0; i < copy->nodes.count; i++) {
        CUgraphNode node = copy->nodes.list[i];
        if (node->origin == original->id)
            return node;
        if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH) {
            node = sc_node_of_copy(node->work.child, original);
            if (node)
                return node;
        }
    }
    return NULL;
}

/* Put work into a node of the same type.  With `exec`, into the node there
 * that was copied from `node`.  Gives the work up. */
static CUresult replace(CUgraphExec exec, CUgraphNode node,
                        struct sc_work *work)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = sc_handle_is(node, SC_HANDLE_NODE) &&
              (!exec || sc_handle_is(exec, SC_HANDLE_GRAPH_EXEC));
    CUgraphNode target = !ok    ? NULL
                         : exec ? sc_node_of_copy(exec->graph, node)
                                : node;
    if (target && target->work.type == work->type) {
        struct sc_work old = target->work;
        if (work->type == CU_GRAPH_NODE_TYPE_KERNEL) {
            work->kernel.shape.cooperative = old.kernel.shape.cooperative;
            work->kernel.priority = old.kernel.priority;
        }
        target->work = *work;
        *work = old;
        result = CUDA_SUCCESS;
    }
    sc_work_fini(work);
    pthread_mutex_unlock(&sc_graph_lock);
    return result;
}

SC_API cuGraphKernelNodeSetParams(CUgraphNode hNode,
                                  const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    struct sc_work work;
    SC_TRY(sc_node_kernel(&work, nodeParams));
    return replace(NULL, hNode, &work);
}

SC_API cuGraphMemcpyNodeSetParams(CUgraphNode hNode,
                                  const CUDA_MEMCPY3D *nodeParams)
{
    struct sc_work work;
    SC_TRY(sc_node_copy(&work, nodeParams, NULL));
    return replace(NULL, hNode, &work);
}

SC_API cuGraphMemsetNodeSetParams(CUgraphNode hNode,
                                  const CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    struct sc_work work;
    SC_TRY(sc_node_fill(&work, nodeParams, NULL));
    return replace(NULL, hNode, &work);
}

SC_API cuGraphHostNodeSetParams(CUgraphNode hNode,
                                const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct sc_work work;
    SC_TRY(sc_node_host(&work, nodeParams));
    return replace(NULL, hNode, &work);
}

SC_API cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    struct sc_work work;
    SC_TRY(sc_node_plain(&work, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
    return replace(NULL, hNode, &work);
}

SC_API cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event)
{
    struct sc_work work;
    SC_TRY(sc_node_plain(&work, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
    return replace(NULL, hNode, &work);
}

SC_API cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    struct sc_work work;
    SC_TRY(sc_enter());
    if (!nodeParams || nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(sc_node_describe(&work, nodeParams));
    return replace(NULL, hNode, &work);
}

/* In executable graphs a NULL one must not mean the plain node. */
static CUresult replace_in(CUgraphExec exec, CUgraphNode node,
                           struct sc_work *work)
{
    if (exec)
        return replace(exec, node, work);
    sc_work_fini(work);
    return CUDA_ERROR_INVALID_VALUE;
}

SC_API cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    struct sc_work work;
    SC_TRY(sc_node_kernel(&work, nodeParams));
    return replace_in(hGraphExec, hNode, &work);
}

SC_API cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_MEMCPY3D *copyParams,
                                      CUcontext ctx)
{
    struct sc_work work;
    SC_TRY(sc_node_copy(&work, copyParams, ctx));
    return replace_in(hGraphExec, hNode, &work);
}

SC_API
cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                               const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                               CUcontext ctx)
{
    struct sc_work work;
    SC_TRY(sc_node_fill(&work, memsetParams, ctx));
    return replace_in(hGraphExec, hNode, &work);
}

SC_API cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                    const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct sc_work work;
    SC_TRY(sc_node_host(&work, nodeParams));
    return replace_in(hGraphExec, hNode, &work);
}

SC_API cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec,
                                          CUgraphNode hNode, CUevent event)
{
    struct sc_work work;
    SC_TRY(sc_node_plain(&work, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
    return replace_in(hGraphExec, hNode, &work);
}

SC_API cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec,
                                        CUgraphNode hNode, CUevent event)
{
    struct sc_work work;
    SC_TRY(sc_node_plain(&work, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
    return replace_in(hGraphExec, hNode, &work);
}

SC_API cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                CUgraphNodeParams *nodeParams)
{
    struct sc_work work;
    SC_TRY(sc_enter());
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return cuGraphExecChildGraphNodeSetParams(hGraphExec, hNode,
                                                  nodeParams->graph.graph);
    SC_TRY(sc_node_describe(&work, nodeParams));
    return replace_in(hGraphExec, hNode, &work);
}
