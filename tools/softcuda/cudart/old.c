/*
 * Owns: calls that older versions have and 13 has not, and those whose name
 * is another function's there (older.h).
 */
#include "cudart/rt.h"

#if SC_CUDART < 13
#define OLD(name, exported, ...)                                               \
    SC_RT name(__VA_ARGS__) __asm__(exported);                                 \
    SC_RT name(__VA_ARGS__)

/* cudaThread*: what cudaDevice* were called before 4.0. */
OLD(sc_rt_thread_exit, "cudaThreadExit", void)
{
    return cudaDeviceReset();
}

OLD(sc_rt_thread_synchronize, "cudaThreadSynchronize", void)
{
    return cudaDeviceSynchronize();
}

OLD(sc_rt_thread_set_limit, "cudaThreadSetLimit", enum cudaLimit limit,
    size_t value)
{
    return cudaDeviceSetLimit(limit, value);
}

OLD(sc_rt_thread_get_limit, "cudaThreadGetLimit", size_t *value,
    enum cudaLimit limit)
{
    return cudaDeviceGetLimit(value, limit);
}

OLD(sc_rt_thread_get_cache, "cudaThreadGetCacheConfig",
    enum cudaFuncCache *config)
{
    return cudaDeviceGetCacheConfig(config);
}

OLD(sc_rt_thread_set_cache, "cudaThreadSetCacheConfig",
    enum cudaFuncCache config)
{
    return cudaDeviceSetCacheConfig(config);
}

static struct cudaMemLocation place(int device)
{
    return device == cudaCpuDeviceId
               ? (struct cudaMemLocation){cudaMemLocationTypeHost, 0}
               : (struct cudaMemLocation){cudaMemLocationTypeDevice, device};
}

OLD(sc_rt_prefetch_12, "cudaMemPrefetchAsync", const void *ptr, size_t count,
    int device, cudaStream_t stream)
{
    return cudaMemPrefetchAsync(ptr, count, place(device), 0, stream);
}

OLD(sc_rt_prefetch_12_own, "cudaMemPrefetchAsync_ptsz", const void *ptr,
    size_t count, int device, cudaStream_t stream)
{
    return cudaMemPrefetchAsync(ptr, count, place(device), 0,
                                sc_rt_own(stream));
}

OLD(sc_rt_advise_12, "cudaMemAdvise", const void *ptr, size_t count,
    enum cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise(ptr, count, advice, place(device));
}

OLD(sc_rt_capture_info_12, "cudaStreamGetCaptureInfo", cudaStream_t stream,
    enum cudaStreamCaptureStatus *status, unsigned long long *id)
{
    return cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL);
}

OLD(sc_rt_capture_info_12_own, "cudaStreamGetCaptureInfo_ptsz",
    cudaStream_t stream, enum cudaStreamCaptureStatus *status,
    unsigned long long *id)
{
    return cudaStreamGetCaptureInfo(sc_rt_own(stream), status, id, NULL, NULL,
                                    NULL, NULL);
}

OLD(sc_rt_capture_info_12_2, "cudaStreamGetCaptureInfo_v2", cudaStream_t stream,
    enum cudaStreamCaptureStatus *status, unsigned long long *id,
    cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *count)
{
    return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies,
                                    NULL, count);
}

OLD(sc_rt_capture_update_12, "cudaStreamUpdateCaptureDependencies",
    cudaStream_t stream, cudaGraphNode_t *dependencies, size_t count,
    unsigned int flags)
{
    return cudaStreamUpdateCaptureDependencies(stream, dependencies, NULL,
                                               count, flags);
}

OLD(sc_rt_add_dependencies_12, "cudaGraphAddDependencies", cudaGraph_t graph,
    const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
    return cudaGraphAddDependencies(graph, from, to, NULL, count);
}

OLD(sc_rt_remove_dependencies_12, "cudaGraphRemoveDependencies",
    cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
    size_t count)
{
    return cudaGraphRemoveDependencies(graph, from, to, NULL, count);
}

OLD(sc_rt_edges_12, "cudaGraphGetEdges", cudaGraph_t graph,
    cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    return cudaGraphGetEdges(graph, from, to, NULL, count);
}

OLD(sc_rt_dependencies_12, "cudaGraphNodeGetDependencies", cudaGraphNode_t node,
    cudaGraphNode_t *dependencies, size_t *count)
{
    return cudaGraphNodeGetDependencies(node, dependencies, NULL, count);
}

OLD(sc_rt_add_node_12, "cudaGraphAddNode", cudaGraphNode_t *node,
    cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
    struct cudaGraphNodeParams *params)
{
    return cudaGraphAddNode(node, graph, dependencies, NULL, count, params);
}

OLD(sc_rt_prefetch_own, "cudaMemPrefetchAsync_v2_ptsz", const void *ptr,
    size_t count, struct cudaMemLocation location, unsigned int flags,
    cudaStream_t stream)
{
    return cudaMemPrefetchAsync(ptr, count, location, flags, sc_rt_own(stream));
}

OLD(sc_rt_capture_info_12_2_own, "cudaStreamGetCaptureInfo_v2_ptsz",
    cudaStream_t stream, enum cudaStreamCaptureStatus *status,
    unsigned long long *id, cudaGraph_t *graph,
    const cudaGraphNode_t **dependencies, size_t *count)
{
    return cudaStreamGetCaptureInfo(sc_rt_own(stream), status, id, graph,
                                    dependencies, NULL, count);
}

OLD(sc_rt_capture_info_12_3_own, "cudaStreamGetCaptureInfo_v3_ptsz",
    cudaStream_t stream, enum cudaStreamCaptureStatus *status,
    unsigned long long *id, cudaGraph_t *graph,
    const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges,
    size_t *count)
{
    return cudaStreamGetCaptureInfo(sc_rt_own(stream), status, id, graph,
                                    dependencies, edges, count);
}

OLD(sc_rt_capture_update_12_own, "cudaStreamUpdateCaptureDependencies_ptsz",
    cudaStream_t stream, cudaGraphNode_t *dependencies, size_t count,
    unsigned int flags)
{
    return cudaStreamUpdateCaptureDependencies(sc_rt_own(stream), dependencies,
                                               NULL, count, flags);
}

OLD(sc_rt_capture_update_own, "cudaStreamUpdateCaptureDependencies_v2_ptsz",
    cudaStream_t stream, cudaGraphNode_t *dependencies,
    const cudaGraphEdgeData *edges, size_t count, unsigned int flags)
{
    return cudaStreamUpdateCaptureDependencies(sc_rt_own(stream), dependencies,
                                               edges, count, flags);
}

OLD(sc_rt_dependents_12, "cudaGraphNodeGetDependentNodes", cudaGraphNode_t node,
    cudaGraphNode_t *dependents, size_t *count)
{
    return cudaGraphNodeGetDependentNodes(node, dependents, NULL, count);
}
#endif

#if SC_CUDART < 12
OLD(sc_rt_instantiate_11, "cudaGraphInstantiate", cudaGraphExec_t *exec,
    cudaGraph_t graph, cudaGraphNode_t *error, char *log, size_t log_bytes)
{
    if (error)
        *error = NULL;
    if (log && log_bytes > 0)
        *log = '\0';
    return cudaGraphInstantiateWithFlags(exec, graph, 0);
}

OLD(sc_rt_update_11, "cudaGraphExecUpdate", cudaGraphExec_t exec,
    cudaGraph_t graph, cudaGraphNode_t *error,
    enum cudaGraphExecUpdateResult *result)
{
    cudaGraphExecUpdateResultInfo info = {0};
    cudaError_t status = cudaGraphExecUpdate(exec, graph, &info);
    if (error)
        *error = info.errorNode;
    if (result)
        *result = info.result;
    return status;
}
#endif
