/*
 * Owns: executable graphs: instantiation, launches, updates.
 * Does not own: structure (graph.c), operations (sched.c).
 * Lock: sc_graph_lock, then sc_sched_lock while a launch is wired.
 */
#include <stdlib.h>

#include "driver/capture.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/event.h"
#include "driver/graph_memory.h"
#include "driver/handle.h"
#include "driver/node.h"
#include "driver/output.h"
#include "driver/stream.h"

static CUgraphExec exec_new(CUgraph graph, cuuint64_t flags)
{
    CUgraphExec exec = calloc(1, sizeof *exec);
    if (!exec)
        return NULL;
    exec->flags = flags;
    exec->graph = sc_graph_clone(graph);
    if (!exec->graph || !sc_handle_add(exec, SC_HANDLE_GRAPH_EXEC)) {
        if (exec->graph)
            sc_graph_free(exec->graph);
        free(exec);
        return NULL;
    }
    exec->graph->exec = exec;
    return exec;
}

static void exec_free(CUgraphExec exec)
{
    sc_handle_remove(exec);
    sc_graph_free(exec->graph);
    if (exec->last)
        sc_op_drop(exec->last);
    free(exec);
}

static CUresult instantiate(CUgraphExec *out, CUgraph graph, cuuint64_t flags)
{
    const cuuint64_t known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                             CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                             CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    SC_TRY(sc_enter());
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
        sc_say("graphs launched by kernels are not supported");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!out || (flags & ~known))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    if (sc_graph_is(graph) && !graph->capturing) {
        CUgraphExec exec = exec_new(graph, flags);
        result = exec ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
        if (exec && !sc_graph_sort(exec->graph)) {
            exec_free(exec);
            result = CUDA_ERROR_INVALID_VALUE; /* a circle */
        } else if (exec) {
            *out = exec;
        }
    }
    pthread_mutex_unlock(&sc_graph_lock);
    return result;
}

SC_API cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph,
                          unsigned long long flags)
{
    return instantiate(phGraphExec, hGraph, flags);
}

SC_API cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                    CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = instantiate(phGraphExec, hGraph, params->flags);
    params->hErrNode_out = NULL;
    params->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                         : result == CUDA_ERROR_INVALID_VALUE
                             ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
                             : CUDA_GRAPH_INSTANTIATE_ERROR;
    if (result == CUDA_SUCCESS &&
        (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD))
        result = cuGraphUpload(*phGraphExec, params->hUploadStream);
    return result;
}

static bool is_exec(CUgraphExec exec)
{
    return sc_handle_is(exec, SC_HANDLE_GRAPH_EXEC);
}

SC_API cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    SC_TRY(sc_enter());
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = is_exec(hGraphExec) && flags;
    if (ok)
        *flags = hGraphExec->flags;
    pthread_mutex_unlock(&sc_graph_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* What was launched goes on without it. */
SC_API cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    SC_TRY(sc_enter());
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = is_exec(hGraphExec);
    if (ok)
        exec_free(hGraphExec);
    pthread_mutex_unlock(&sc_graph_lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Drop the operations of a launch that did not come about. */
static void unmake(CUgraph graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.list[i];
        if (node->begin)
            sc_op_drop(node->begin);
        if (node->end)
            sc_op_drop(node->end);
        node->begin = node->end = NULL;
        if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
            unmake(node->work.child);
    }
}

static struct sc_op *mark(CUstream stream)
{
    return sc_op_new(SC_OP_MARK, stream->ctx->device, stream->ctx);
}

/* Make the operations of all nodes, two for a child graph. */
static CUresult make(CUgraph graph, CUstream stream)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.list[i];
        bool child = node->work.type == CU_GRAPH_NODE_TYPE_GRAPH;
        if (node->disabled || child)
            node->end = mark(stream);
        else
            SC_TRY(sc_work_make(&node->work, &node->end));
        if (child) {
            node->begin = mark(stream);
            SC_TRY(make(node->work.child, stream));
        }
        if (!node->end || (child && !node->begin))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

/* Start an operation that is ordered by its edges alone; errors are the
 * stream's. */
static void submit(struct sc_op *op, CUstream stream)
{
    op->stream = stream;
    stream->refs++;
    op->refs++; /* until the whole launch is wired */
    sc_op_submit_locked(op, NULL);
}

static void wire(CUgraph graph, struct sc_op *begin, struct sc_op *end,
                 CUstream stream);

static void wire_node(CUgraphNode node, struct sc_op *begin, CUstream stream)
{
    struct sc_op *first = node->begin ? node->begin : node->end;
    sc_op_after(first, begin);
    for (size_t i = 0; i < node->before.count; i++)
        sc_op_after(first, node->before.list[i]->end);
    if (!node->disabled && node->work.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        sc_op_after(first, node->work.event->op);
    if (node->begin) {
        submit(node->begin, stream);
        wire(node->work.child, node->begin, node->end, stream);
    }
    if (!node->disabled && node->work.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        sc_event_set(node->work.event, node->end);
    submit(node->end, stream);
}

/* Nodes are sorted: what one waits for has been submitted before it. */
static void wire(CUgraph graph, struct sc_op *begin, struct sc_op *end,
                 CUstream stream)
{
    sc_op_after(end, begin);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.list[i];
        wire_node(node, begin, stream);
        if (node->behind.count == 0)
            sc_op_after(end, node->end);
    }
}

static void let_go(CUgraph graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.list[i];
        if (node->begin)
            sc_op_drop_locked(node->begin);
        sc_op_drop_locked(node->end);
        node->begin = node->end = NULL;
        if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
            let_go(node->work.child);
    }
}

CUresult sc_graph_launch(CUgraphExec exec, CUstream stream)
{
    bool auto_free =
        exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    if (!sc_graph_memory_can_launch(exec->graph, auto_free))
        return CUDA_ERROR_INVALID_VALUE;
    struct sc_op *begin = mark(stream), *end = mark(stream);
    CUresult result =
        begin && end ? make(exec->graph, stream) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        unmake(exec->graph);
        if (begin)
            sc_op_drop(begin);
        if (end)
            sc_op_drop(end);
        return result;
    }
    pthread_mutex_lock(&sc_sched_lock);
    begin->refs++;
    end->refs++;
    sc_op_after(begin, exec->last); /* one launch of it at a time */
    sc_op_submit_locked(begin, stream);
    wire(exec->graph, begin, end, stream);
    sc_op_submit_locked(end, stream);
    let_go(exec->graph);
    if (exec->last)
        sc_op_drop_locked(exec->last);
    exec->last = end;
    sc_op_drop_locked(begin);
    pthread_mutex_unlock(&sc_sched_lock);
    sc_graph_memory_launched(exec->graph, end);
    return CUDA_SUCCESS;
}

SC_API cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_stream_resolve(hStream, &ctx, &stream));
    sc_output_drain(ctx->device);
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    struct sc_work work = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .ctx = ctx};
    pthread_mutex_lock(&sc_graph_lock);
    bool captured = sc_captures(stream);
    if (is_exec(hGraphExec) && captured) {
        work.child = sc_graph_clone(hGraphExec->graph);
        result = work.child ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    } else if (is_exec(hGraphExec)) {
        result = sc_graph_launch(hGraphExec, stream);
    }
    pthread_mutex_unlock(&sc_graph_lock);
    return captured && result == CUDA_SUCCESS ? sc_capture_add(stream, &work)
                                              : result;
}

/* There is nothing to be prepared; it takes its turn in the stream. */
SC_API cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
{
    CUcontext ctx;
    CUstream stream;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(sc_stream_resolve(hStream, &ctx, &stream));
    if (sc_captures(stream))
        return sc_capture_refuse(stream);
    if (!is_exec(hGraphExec))
        return CUDA_ERROR_INVALID_VALUE;
    struct sc_op *op = mark(stream);
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sc_op_submit(op, stream);
    return CUDA_SUCCESS;
}

/* Place of a node among those of its graph. */
static size_t index_of(const struct sc_node_list *nodes, CUgraphNode node)
{
    size_t i = 0;
    while (i < nodes->count && nodes->list[i] != node)
        i++;
    return i;
}

/* Do two sorted graphs have nodes of the same kinds and the same edges? */
static CUgraphExecUpdateResult compare(CUgraph a, CUgraph b, size_t *where)
{
    *where = 0;
    if (a->nodes.count != b->nodes.count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < a->nodes.count; i++) {
        CUgraphNode x = a->nodes.list[i], y = b->nodes.list[i];
        *where = i;
        if (x->work.type != y->work.type)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (x->before.count != y->before.count)
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        for (size_t k = 0; k < x->before.count; k++)
            if (index_of(&a->nodes, x->before.list[k]) !=
                index_of(&b->nodes, y->before.list[k]))
                return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        if (sc_graph_memory_of(x) != sc_graph_memory_of(y))
            return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
        size_t inner;
        if (x->work.type == CU_GRAPH_NODE_TYPE_GRAPH) {
            CUgraphExecUpdateResult r =
                compare(x->work.child, y->work.child, &inner);
            if (r != CU_GRAPH_EXEC_UPDATE_SUCCESS)
                return r;
        }
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* Exchange what corresponding nodes do. */
static void exchange(CUgraph a, CUgraph b)
{
    for (size_t i = 0; i < a->nodes.count; i++) {
        CUgraphNode x = a->nodes.list[i], y = b->nodes.list[i];
        if (x->work.type == CU_GRAPH_NODE_TYPE_GRAPH) {
            exchange(x->work.child, y->work.child);
            continue;
        }
        struct sc_work work = x->work;
        x->work = y->work;
        y->work = work;
    }
}

/* The program's node behind a node of a copy. */
static CUgraphNode original(CUgraph graph, const struct CUgraphNode_st *copy)
{
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.list[i]->id == copy->origin)
            return graph->nodes.list[i];
    return NULL;
}

static CUresult update(CUgraphExec exec, CUgraph graph,
                       CUgraphExecUpdateResultInfo *info)
{
    size_t where;
    CUgraph copy = sc_graph_clone(graph);
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    info->result = CU_GRAPH_EXEC_UPDATE_ERROR;
    if (sc_graph_sort(copy)) {
        info->result = compare(exec->graph, copy, &where);
        if (info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS)
            exchange(exec->graph, copy);
        else if (where < copy->nodes.count)
            info->errorNode = original(graph, copy->nodes.list[where]);
    }
    sc_graph_free(copy);
    return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS
               ? CUDA_SUCCESS
               : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

SC_API cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
                         CUgraphExecUpdateResultInfo *resultInfo)
{
    CUgraphExecUpdateResultInfo info = {0};
    SC_TRY(sc_enter());
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    if (is_exec(hGraphExec) && sc_graph_is(hGraph) && resultInfo)
        result = update(hGraphExec, hGraph, &info);
    pthread_mutex_unlock(&sc_graph_lock);
    if (resultInfo)
        *resultInfo = info;
    return result;
}

SC_API cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec,
                                          CUgraphNode hNode, CUgraph childGraph)
{
    size_t where;
    SC_TRY(sc_enter());
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sc_graph_lock);
    bool ok = is_exec(hGraphExec) && sc_handle_is(hNode, SC_HANDLE_NODE) &&
              sc_graph_is(childGraph);
    CUgraphNode node = ok ? sc_node_of_copy(hGraphExec->graph, hNode) : NULL;
    if (node && node->work.type == CU_GRAPH_NODE_TYPE_GRAPH) {
        CUgraph copy = sc_graph_clone(childGraph);
        if (copy && sc_graph_sort(copy) &&
            compare(node->work.child, copy, &where) ==
                CU_GRAPH_EXEC_UPDATE_SUCCESS) {
            exchange(node->work.child, copy);
            result = CUDA_SUCCESS;
        }
        if (copy)
            sc_graph_free(copy);
    }
    pthread_mutex_unlock(&sc_graph_lock);
    return result;
}
