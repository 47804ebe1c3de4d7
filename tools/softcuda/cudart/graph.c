/*
 * Owns: kernel and copy nodes of graphs, whose parameters the two interfaces
 * describe differently.
 * Does not own: the other nodes (forward.def).
 */
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
