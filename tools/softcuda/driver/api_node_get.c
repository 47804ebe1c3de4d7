/*
 * Owns: the entry points that ask about single nodes, and their attributes.
 * Does not own: what nodes do (work.c).  Lock: sc_graph_lock.
 */
#include "driver/event.h"
#include "driver/graph_memory.h"
#include "driver/handle.h"
#include "driver/node.h"

/* Take the lock and check a node's type. */
static bool lock_node(CUgraphNode node, CUgraphNodeType type)
{
    pthread_mutex_lock(&sc_graph_lock);
    return sc_handle_is(node, SC_HANDLE_NODE) && node->work.type == type;
}

static CUresult unlock(bool ok)
{
    pthread_mutex_unlock(&sc_graph_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    SC_TRY(sc_enter());
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = sc_handle_is(hNode, SC_HANDLE_NODE) && type;
    if (ok)
        *type = hNode->work.type;
    return unlock(ok);
}

/* The parameters' pointers live as long as the node keeps them. */
SC_API cuGraphKernelNodeGetParams(CUgraphNode hNode,
                                  CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    SC_TRY(sc_enter());
    bool ok = lock_node(hNode, CU_GRAPH_NODE_TYPE_KERNEL) && nodeParams;
    if (ok) {
        const struct sc_work *w = &hNode->work;
        const struct sc_shape *s = &w->kernel.shape;
        *nodeParams = (CUDA_KERNEL_NODE_PARAMS){
            .func = w->kernel.kernel ? NULL : w->kernel.f,
            .kern = w->kernel.kernel,
            .ctx = w->ctx,
            .gridDimX = s->grid[0],
            .gridDimY = s->grid[1],
            .gridDimZ = s->grid[2],
            .blockDimX = s->block[0],
            .blockDimY = s->block[1],
            .blockDimZ = s->block[2],
            .sharedMemBytes = s->shared_bytes,
            .kernelParams = w->kernel.pointers};
    }
    return unlock(ok);
}

SC_API cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    SC_TRY(sc_enter());
    bool ok = lock_node(hNode, CU_GRAPH_NODE_TYPE_MEMCPY) && nodeParams;
    if (ok)
        *nodeParams = hNode->work.copy;
    return unlock(ok);
}

SC_API cuGraphMemsetNodeGetParams(CUgraphNode hNode,
                                  CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    SC_TRY(sc_enter());
    bool ok = lock_node(hNode, CU_GRAPH_NODE_TYPE_MEMSET) && nodeParams;
    if (ok)
        *nodeParams = hNode->work.fill;
    return unlock(ok);
}

SC_API cuGraphHostNodeGetParams(CUgraphNode hNode,
                                CUDA_HOST_NODE_PARAMS *nodeParams)
{
    SC_TRY(sc_enter());
    bool ok = lock_node(hNode, CU_GRAPH_NODE_TYPE_HOST) && nodeParams;
    if (ok)
        *nodeParams = hNode->work.host;
    return unlock(ok);
}

SC_API cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    SC_TRY(sc_enter());
    bool ok = lock_node(hNode, CU_GRAPH_NODE_TYPE_GRAPH) && phGraph;
    if (ok)
        *phGraph = hNode->work.child;
    return unlock(ok);
}

SC_API cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    SC_TRY(sc_enter());
    bool ok = lock_node(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD) && event_out;
    if (ok)
        *event_out = hNode->work.event;
    return unlock(ok);
}

SC_API cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
    SC_TRY(sc_enter());
    bool ok = lock_node(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT) && event_out;
    if (ok)
        *event_out = hNode->work.event;
    return unlock(ok);
}

SC_API cuGraphMemAllocNodeGetParams(CUgraphNode hNode,
                                    CUDA_MEM_ALLOC_NODE_PARAMS *params_out)
{
    SC_TRY(sc_enter());
    bool ok = lock_node(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC) && params_out;
    if (ok)
        *params_out = *sc_graph_memory_params(hNode->work.memory);
    return unlock(ok);
}

SC_API cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out)
{
    SC_TRY(sc_enter());
    bool ok = lock_node(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE) && dptr_out;
    if (ok)
        *dptr_out = sc_graph_memory_params(hNode->work.memory)->dptr;
    return unlock(ok);
}

static CUresult refuse_attribute(CUkernelNodeAttrID attr)
{
    sc_say("attribute %d of kernel nodes is not supported", (int)attr);
    return CUDA_ERROR_NOT_SUPPORTED;
}

SC_API cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                     CUkernelNodeAttrValue *value_out)
{
    SC_TRY(sc_enter());
    if (attr != CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
        attr != CU_LAUNCH_ATTRIBUTE_PRIORITY)
        return refuse_attribute(attr);
    bool ok = lock_node(hNode, CU_GRAPH_NODE_TYPE_KERNEL) && value_out;
    if (ok && attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        value_out->cooperative = hNode->work.kernel.shape.cooperative;
    else if (ok)
        value_out->priority = hNode->work.kernel.priority;
    return unlock(ok);
}

SC_API cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                     const CUkernelNodeAttrValue *value)
{
    SC_TRY(sc_enter());
    if (attr != CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
        attr != CU_LAUNCH_ATTRIBUTE_PRIORITY)
        return refuse_attribute(attr);
    bool ok = lock_node(hNode, CU_GRAPH_NODE_TYPE_KERNEL) && value;
    if (ok && attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        hNode->work.kernel.shape.cooperative = value->cooperative != 0;
    else if (ok)
        hNode->work.kernel.priority = value->priority;
    return unlock(ok);
}

SC_API cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
    SC_TRY(sc_enter());
    bool ok = lock_node(dst, CU_GRAPH_NODE_TYPE_KERNEL) &&
              sc_handle_is(src, SC_HANDLE_NODE) &&
              src->work.type == CU_GRAPH_NODE_TYPE_KERNEL;
    if (ok) {
        dst->work.kernel.shape.cooperative = src->work.kernel.shape.cooperative;
        dst->work.kernel.priority = src->work.kernel.priority;
    }
    return unlock(ok);
}

/* Node of an executable graph that stands for the program's node. */
static CUgraphNode lock_exec_node(CUgraphExec exec, CUgraphNode node)
{
    pthread_mutex_lock(&sc_graph_lock);
    return sc_handle_is(exec, SC_HANDLE_GRAPH_EXEC) &&
                   sc_handle_is(node, SC_HANDLE_NODE)
               ? sc_node_of_copy(exec->graph, node)
               : NULL;
}

static bool can_be_disabled(CUgraphNode node)
{
    return node->work.type <= CU_GRAPH_NODE_TYPE_MEMSET;
}

SC_API cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                             unsigned int isEnabled)
{
    SC_TRY(sc_enter());
    CUgraphNode node = lock_exec_node(hGraphExec, hNode);
    bool ok = node && can_be_disabled(node);
    if (ok)
        node->disabled = !isEnabled;
    return unlock(ok);
}

SC_API cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                             unsigned int *isEnabled)
{
    SC_TRY(sc_enter());
    CUgraphNode node = lock_exec_node(hGraphExec, hNode);
    bool ok = node && can_be_disabled(node) && isEnabled;
    if (ok)
        *isEnabled = !node->disabled;
    return unlock(ok);
}
