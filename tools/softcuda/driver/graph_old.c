/*
 * Owns: earlier versions of the calls of graphs and captures, for programs
 * built against older headers, in terms of the present ones.
 */
#include "driver/entry.h"

/* Where cuda.h gives the plain name to a later version, the first one is
 * called _v1 here and exported under the plain name. */
#define OLDER(name, parameters)                                                \
    CUresult name##_v1 parameters __asm__(#name);                              \
    SC_API name##_v1 parameters

OLDER(cuGraphAddKernelNode,
      (CUgraphNode * node, CUgraph graph, const CUgraphNode *before,
       size_t count, const CUDA_KERNEL_NODE_PARAMS_v1 *p))
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS now = {
        p->func,         p->gridDimX,  p->gridDimY,  p->gridDimZ,
        p->blockDimX,    p->blockDimY, p->blockDimZ, p->sharedMemBytes,
        p->kernelParams, p->extra,     NULL,         NULL};
    return cuGraphAddKernelNode(node, graph, before, count, &now);
}

OLDER(cuGraphKernelNodeSetParams,
      (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *p))
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS now = {
        p->func,         p->gridDimX,  p->gridDimY,  p->gridDimZ,
        p->blockDimX,    p->blockDimY, p->blockDimZ, p->sharedMemBytes,
        p->kernelParams, p->extra,     NULL,         NULL};
    return cuGraphKernelNodeSetParams(node, &now);
}

OLDER(cuGraphKernelNodeGetParams,
      (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *p))
{
    CUDA_KERNEL_NODE_PARAMS now;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(cuGraphKernelNodeGetParams(node, &now));
    *p = (CUDA_KERNEL_NODE_PARAMS_v1){now.func ? now.func
                                               : (CUfunction)(void *)now.kern,
                                      now.gridDimX,
                                      now.gridDimY,
                                      now.gridDimZ,
                                      now.blockDimX,
                                      now.blockDimY,
                                      now.blockDimZ,
                                      now.sharedMemBytes,
                                      now.kernelParams,
                                      now.extra};
    return CUDA_SUCCESS;
}

OLDER(cuGraphExecKernelNodeSetParams,
      (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *p))
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS now = {
        p->func,         p->gridDimX,  p->gridDimY,  p->gridDimZ,
        p->blockDimX,    p->blockDimY, p->blockDimZ, p->sharedMemBytes,
        p->kernelParams, p->extra,     NULL,         NULL};
    return cuGraphExecKernelNodeSetParams(exec, node, &now);
}

OLDER(cuGraphAddNode,
      (CUgraphNode * node, CUgraph graph, const CUgraphNode *before,
       size_t count, CUgraphNodeParams *params))
{
    return cuGraphAddNode(node, graph, before, NULL, count, params);
}

OLDER(cuGraphAddDependencies, (CUgraph graph, const CUgraphNode *from,
                               const CUgraphNode *to, size_t count))
{
    return cuGraphAddDependencies(graph, from, to, NULL, count);
}

OLDER(cuGraphRemoveDependencies, (CUgraph graph, const CUgraphNode *from,
                                  const CUgraphNode *to, size_t count))
{
    return cuGraphRemoveDependencies(graph, from, to, NULL, count);
}

OLDER(cuGraphGetEdges,
      (CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count))
{
    return cuGraphGetEdges(graph, from, to, NULL, count);
}

OLDER(cuGraphNodeGetDependencies,
      (CUgraphNode node, CUgraphNode *nodes, size_t *count))
{
    return cuGraphNodeGetDependencies(node, nodes, NULL, count);
}

OLDER(cuGraphNodeGetDependentNodes,
      (CUgraphNode node, CUgraphNode *nodes, size_t *count))
{
    return cuGraphNodeGetDependentNodes(node, nodes, NULL, count);
}

OLDER(cuGraphExecUpdate,
      (CUgraphExec exec, CUgraph graph, CUgraphNode *error_node,
       CUgraphExecUpdateResult *result))
{
    CUgraphExecUpdateResultInfo info;
    CUresult status = cuGraphExecUpdate(exec, graph, &info);
    if (error_node)
        *error_node = info.errorNode;
    if (result)
        *result = info.result;
    return status;
}

static CUresult instantiate(CUgraphExec *exec, CUgraph graph,
                            CUgraphNode *error_node, char *log,
                            size_t log_bytes)
{
    if (error_node)
        *error_node = NULL;
    if (log && log_bytes)
        log[0] = '\0';
    return cuGraphInstantiate(exec, graph, 0);
}

OLDER(cuGraphInstantiate,
      (CUgraphExec * exec, CUgraph graph, CUgraphNode *error_node, char *log,
       size_t log_bytes))
{
    return instantiate(exec, graph, error_node, log, log_bytes);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph,
                               CUgraphNode *error_node, char *log,
                               size_t log_bytes);
SC_API cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph,
                             CUgraphNode *error_node, char *log,
                             size_t log_bytes)
{
    return instantiate(exec, graph, error_node, log, log_bytes);
}

SC_API cuStreamBeginCapture_v1(CUstream stream)
{
    return cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

SC_API cuStreamGetCaptureInfo_v1(CUstream stream, CUstreamCaptureStatus *status,
                                 cuuint64_t *id)
{
    return cuStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL);
}

SC_API cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
                                 cuuint64_t *id, CUgraph *graph,
                                 const CUgraphNode **dependencies,
                                 size_t *count)
{
    return cuStreamGetCaptureInfo(stream, status, id, graph, dependencies, NULL,
                                  count);
}

SC_API cuStreamUpdateCaptureDependencies_v1(CUstream stream, CUgraphNode *nodes,
                                            size_t count, unsigned int flags)
{
    return cuStreamUpdateCaptureDependencies(stream, nodes, NULL, count, flags);
}
