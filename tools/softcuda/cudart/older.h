/*
 * Names that calls of the newest interface have in older libraries, where the
 * plain name is another function's (old.c).
 */
#ifndef SOFTCUDA_CUDART_OLDER_H
#define SOFTCUDA_CUDART_OLDER_H

#if SC_CUDART < 13
#define cudaGetDeviceProperties  sc_rt_get_properties_13
#define cudaMemPrefetchAsync     cudaMemPrefetchAsync_v2
#define cudaMemAdvise            cudaMemAdvise_v2
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#define cudaStreamUpdateCaptureDependencies                                    \
    cudaStreamUpdateCaptureDependencies_v2
#define cudaGraphAddDependencies       cudaGraphAddDependencies_v2
#define cudaGraphRemoveDependencies    cudaGraphRemoveDependencies_v2
#define cudaGraphGetEdges              cudaGraphGetEdges_v2
#define cudaGraphNodeGetDependencies   cudaGraphNodeGetDependencies_v2
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2
#define cudaGraphAddNode               cudaGraphAddNode_v2
#endif
#if SC_CUDART < 12
#define cudaGraphInstantiate    cudaGraphInstantiate_v12
#define cudaGraphExecUpdate     cudaGraphExecUpdate_v12
#define cudaGetDriverEntryPoint cudaGetDriverEntryPoint_v12
#endif

#endif
