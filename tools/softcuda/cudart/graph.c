/*
 * Owns: kernel and copy nodes of graphs, whose parameters the two interfaces
 * describe differently.
 * Does not own: the other nodes (forward.def).
 */
#include <string.h>

#include "cudart/array.h"
#include "cudart/register.h"
#include "cudart/shaped.h"

static cudaError_t kernel(const struct cudaKernelNodeParams *p,
                          CUDA_KERNEL_NODE_PARAMS *k)
{
    if (!p)
        return cudaErrorInvalidValue;
    SC_RT_TRY(sc_rt_enter());
    *k = (CUDA_KERNEL_NODE_PARAMS){.gridDimX = p->gridDim.x,
                                   .gridDimY = p->gridDim.y,
                                   .gridDimZ = p->gridDim.z,
                                   .blockDimX = p->blockDim.x,
                                   .blockDimY = p->blockDim.y,
                                   .blockDimZ = p->blockDim.z,
                                   .sharedMemBytes = p->sharedMemBytes,
                                   .kernelParams = p->kernelParams,
                                   .extra = p->extra};
    return sc_rt_function(p->func, &k->func);
}

SC_RT cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                             const cudaGraphNode_t *pDependencies,
                             size_t numDependencies,
                             const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS k;
    SC_RT_BEGIN(kernel(pNodeParams, &k));
    return sc_rt_done(SC_RT_DRIVER(cuGraphAddKernelNode(
        pGraphNode, graph, pDependencies, numDependencies, &k)));
}

SC_RT cudaGraphKernelNodeSetParams(
    cudaGraphNode_t node, const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS k;
    SC_RT_BEGIN(kernel(pNodeParams, &k));
    return sc_rt_done(SC_RT_DRIVER(cuGraphKernelNodeSetParams(node, &k)));
}

SC_RT cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
    const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS k;
    SC_RT_BEGIN(kernel(pNodeParams, &k));
    return sc_rt_done(
        SC_RT_DRIVER(cuGraphExecKernelNodeSetParams(hGraphExec, node, &k)));
}

/* `func` is the driver's function, which every call here takes as well. */
SC_RT cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                   struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS k = {0};
    if (!pNodeParams)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(SC_RT_DRIVER(cuGraphKernelNodeGetParams(node, &k)));
    *pNodeParams = (struct cudaKernelNodeParams){
        .func = k.func ? (void *)k.func : (void *)k.kern,
        .gridDim = {k.gridDimX, k.gridDimY, k.gridDimZ},
        .blockDim = {k.blockDimX, k.blockDimY, k.blockDimZ},
        .sharedMemBytes = k.sharedMemBytes,
        .kernelParams = k.kernelParams,
        .extra = k.extra};
    return cudaSuccess;
}

static cudaError_t shape(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *c)
{
    SC_RT_TRY(sc_rt_enter());
    return p ? sc_rt_shape(p, c) : cudaErrorInvalidValue;
}

static struct cudaMemcpy3DParms line(void *dst, const void *src, size_t count,
                                     enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){
        .srcPtr = {(void *)(uintptr_t)src, count, count, 1},
        .dstPtr = {dst, count, count, 1},
        .extent = {count, 1, 1},
        .kind = kind};
}

static cudaError_t symbol_place(const void *symbol, size_t count, size_t offset,
                                void **where)
{
    CUdeviceptr address;
    size_t bytes;
    SC_RT_TRY(sc_rt_enter());
    SC_RT_TRY(sc_rt_variable(symbol, &address, &bytes));
    if (offset > bytes || count > bytes - offset)
        return cudaErrorInvalidValue;
    *where = (void *)(uintptr_t)(address + offset);
    return cudaSuccess;
}

SC_RT cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                             const cudaGraphNode_t *pDependencies,
                             size_t numDependencies,
                             const struct cudaMemcpy3DParms *pCopyParams)
{
    CUDA_MEMCPY3D c;
    SC_RT_BEGIN(shape(pCopyParams, &c));
    return sc_rt_done(SC_RT_DRIVER(
        cuGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies,
                             &c, sc_rt_context())));
}

SC_RT cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                               const cudaGraphNode_t *pDependencies,
                               size_t numDependencies, void *dst,
                               const void *src, size_t count,
                               enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = line(dst, src, count, kind);
    return cudaGraphAddMemcpyNode(pGraphNode, graph, pDependencies,
                                  numDependencies, &p);
}

SC_RT cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode,
                                     cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies,
                                     size_t numDependencies, const void *symbol,
                                     const void *src, size_t count,
                                     size_t offset, enum cudaMemcpyKind kind)
{
    void *dst;
    SC_RT_BEGIN(symbol_place(symbol, count, offset, &dst));
    return cudaGraphAddMemcpyNode1D(pGraphNode, graph, pDependencies,
                                    numDependencies, dst, src, count, kind);
}

SC_RT cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode,
                                       cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies,
                                       size_t numDependencies, void *dst,
                                       const void *symbol, size_t count,
                                       size_t offset, enum cudaMemcpyKind kind)
{
    void *src;
    SC_RT_BEGIN(symbol_place(symbol, count, offset, &src));
    return cudaGraphAddMemcpyNode1D(pGraphNode, graph, pDependencies,
                                    numDependencies, dst, src, count, kind);
}

SC_RT cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                   const struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D c;
    SC_RT_BEGIN(shape(pNodeParams, &c));
    return sc_rt_done(SC_RT_DRIVER(cuGraphMemcpyNodeSetParams(node, &c)));
}

SC_RT cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst,
                                     const void *src, size_t count,
                                     enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = line(dst, src, count, kind);
    return cudaGraphMemcpyNodeSetParams(node, &p);
}

SC_RT cudaGraphExecMemcpyNodeSetParams(
    cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
    const struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D c;
    SC_RT_BEGIN(shape(pNodeParams, &c));
    return sc_rt_done(SC_RT_DRIVER(
        cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &c, sc_rt_context())));
}

SC_RT cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec,
                                         cudaGraphNode_t node, void *dst,
                                         const void *src, size_t count,
                                         enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = line(dst, src, count, kind);
    return cudaGraphExecMemcpyNodeSetParams(hGraphExec, node, &p);
}

/* The driver's description as the runtime has it; a copy between arrays and
 * memory counts in elements there. */
static cudaError_t unshape(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *p)
{
    size_t unit = 1;
    bool from = c->srcMemoryType == CU_MEMORYTYPE_ARRAY;
    bool to = c->dstMemoryType == CU_MEMORYTYPE_ARRAY;
    void *src = c->srcMemoryType == CU_MEMORYTYPE_HOST
                    ? (void *)(uintptr_t)c->srcHost
                    : (void *)(uintptr_t)c->srcDevice;
    void *dst = c->dstMemoryType == CU_MEMORYTYPE_HOST
                    ? c->dstHost
                    : (void *)(uintptr_t)c->dstDevice;
    if (from || to)
        SC_RT_TRY(sc_rt_array_element(
            (cudaArray_t)(from ? c->srcArray : c->dstArray), &unit));
    *p = (struct cudaMemcpy3DParms){
        .srcPos = {c->srcXInBytes / (from ? unit : 1), c->srcY, c->srcZ},
        .dstPos = {c->dstXInBytes / (to ? unit : 1), c->dstY, c->dstZ},
        .extent = {c->WidthInBytes / unit, c->Height, c->Depth},
        .kind = cudaMemcpyDefault};
    if (from)
        p->srcArray = (cudaArray_t)c->srcArray;
    else
        p->srcPtr = (struct cudaPitchedPtr){src, c->srcPitch, c->srcPitch,
                                            c->srcHeight};
    if (to)
        p->dstArray = (cudaArray_t)c->dstArray;
    else
        p->dstPtr = (struct cudaPitchedPtr){dst, c->dstPitch, c->dstPitch,
                                            c->dstHeight};
    if (c->srcMemoryType != CU_MEMORYTYPE_UNIFIED &&
        c->dstMemoryType != CU_MEMORYTYPE_UNIFIED)
        p->kind = c->srcMemoryType == CU_MEMORYTYPE_HOST
                      ? (c->dstMemoryType == CU_MEMORYTYPE_HOST
                             ? cudaMemcpyHostToHost
                             : cudaMemcpyHostToDevice)
                      : (c->dstMemoryType == CU_MEMORYTYPE_HOST
                             ? cudaMemcpyDeviceToHost
                             : cudaMemcpyDeviceToDevice);
    return cudaSuccess;
}

SC_RT cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                   struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D c;
    if (!pNodeParams)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(SC_RT_DRIVER(cuGraphMemcpyNodeGetParams(node, &c)));
    return sc_rt_done(unshape(&c, pNodeParams));
}

SC_RT cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node,
                                           const void *symbol, const void *src,
                                           size_t count, size_t offset,
                                           enum cudaMemcpyKind kind)
{
    void *dst;
    SC_RT_BEGIN(symbol_place(symbol, count, offset, &dst));
    return cudaGraphMemcpyNodeSetParams1D(node, dst, src, count, kind);
}

SC_RT cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst,
                                             const void *symbol, size_t count,
                                             size_t offset,
                                             enum cudaMemcpyKind kind)
{
    void *src;
    SC_RT_BEGIN(symbol_place(symbol, count, offset, &src));
    return cudaGraphMemcpyNodeSetParams1D(node, dst, src, count, kind);
}

SC_RT cudaGraphExecMemcpyNodeSetParamsToSymbol(
    cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const void *symbol,
    const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    void *dst;
    SC_RT_BEGIN(symbol_place(symbol, count, offset, &dst));
    return cudaGraphExecMemcpyNodeSetParams1D(hGraphExec, node, dst, src, count,
                                              kind);
}

SC_RT cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec,
                                                 cudaGraphNode_t node,
                                                 void *dst, const void *symbol,
                                                 size_t count, size_t offset,
                                                 enum cudaMemcpyKind kind)
{
    void *src;
    SC_RT_BEGIN(symbol_place(symbol, count, offset, &src));
    return cudaGraphExecMemcpyNodeSetParams1D(hGraphExec, node, dst, src, count,
                                              kind);
}

/* Nodes described by one structure for all kinds. */
static cudaError_t describe(const struct cudaGraphNodeParams *p,
                            CUgraphNodeParams *d)
{
    CUDA_KERNEL_NODE_PARAMS k;
    *d = (CUgraphNodeParams){.type = (CUgraphNodeType)p->type};
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        SC_RT_TRY(kernel(&p->kernel, &k));
        memcpy(&d->kernel, &k, sizeof k);
        return cudaSuccess;
    case cudaGraphNodeTypeMemcpy:
        d->memcpy.flags = p->memcpy.flags;
        d->memcpy.copyCtx = sc_rt_context();
        return sc_rt_shape(&p->memcpy.copyParams, &d->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        memcpy(&d->memset, &p->memset, sizeof p->memset);
        d->memset.ctx = sc_rt_context();
        return cudaSuccess;
    case cudaGraphNodeTypeHost:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
        memcpy(d->reserved1, p->reserved1, sizeof d->reserved1);
        return cudaSuccess;
    default:
        return cudaErrorNotSupported;
    }
}

SC_RT cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                       const cudaGraphNode_t *pDependencies,
                       const cudaGraphEdgeData *dependencyData,
                       size_t numDependencies,
                       struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams d;
    if (!nodeParams)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(describe(nodeParams, &d));
    CUresult result = cuGraphAddNode(pGraphNode, graph, pDependencies,
                                     (const CUgraphEdgeData *)dependencyData,
                                     numDependencies, &d);
    if (result == CUDA_SUCCESS && nodeParams->type == cudaGraphNodeTypeMemAlloc)
        nodeParams->alloc.dptr = (void *)(uintptr_t)d.alloc.dptr;
    return sc_rt_done(SC_RT_DRIVER(result));
}

SC_RT cudaGraphNodeSetParams(cudaGraphNode_t node,
                             struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams d;
    if (!nodeParams)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(describe(nodeParams, &d));
    return sc_rt_done(SC_RT_DRIVER(cuGraphNodeSetParams(node, &d)));
}

SC_RT cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec,
                                 cudaGraphNode_t node,
                                 struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams d;
    if (!nodeParams)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(describe(nodeParams, &d));
    return sc_rt_done(
        SC_RT_DRIVER(cuGraphExecNodeSetParams(graphExec, node, &d)));
}
