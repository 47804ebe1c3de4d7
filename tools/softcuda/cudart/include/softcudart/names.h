/*
 * Programs built with CUDA_API_PER_THREAD_DEFAULT_STREAM call the _ptds and
 * _ptsz variants under the plain names.  Included by cuda_runtime_api.h.
 */
#ifndef SOFTCUDART_NAMES_H
#define SOFTCUDART_NAMES_H

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cudaMemcpy                     cudaMemcpy_ptds
#define cudaMemcpyToSymbol             cudaMemcpyToSymbol_ptds
#define cudaMemcpyFromSymbol           cudaMemcpyFromSymbol_ptds
#define cudaMemcpy2D                   cudaMemcpy2D_ptds
#define cudaMemcpyToArray              cudaMemcpyToArray_ptds
#define cudaMemcpy2DToArray            cudaMemcpy2DToArray_ptds
#define cudaMemcpyFromArray            cudaMemcpyFromArray_ptds
#define cudaMemcpy2DFromArray          cudaMemcpy2DFromArray_ptds
#define cudaMemcpyArrayToArray         cudaMemcpyArrayToArray_ptds
#define cudaMemcpy2DArrayToArray       cudaMemcpy2DArrayToArray_ptds
#define cudaMemcpy3D                   cudaMemcpy3D_ptds
#define cudaMemcpy3DPeer               cudaMemcpy3DPeer_ptds
#define cudaMemset                     cudaMemset_ptds
#define cudaMemset2D                   cudaMemset2D_ptds
#define cudaMemset3D                   cudaMemset3D_ptds
#define cudaGraphInstantiateWithParams cudaGraphInstantiateWithParams_ptsz
#define cudaGraphUpload                cudaGraphUpload_ptsz
#define cudaGraphLaunch                cudaGraphLaunch_ptsz
#define cudaStreamBeginCapture         cudaStreamBeginCapture_ptsz
#define cudaStreamBeginCaptureToGraph  cudaStreamBeginCaptureToGraph_ptsz
#define cudaStreamEndCapture           cudaStreamEndCapture_ptsz
#define cudaStreamGetCaptureInfo       cudaStreamGetCaptureInfo_ptsz
#define cudaStreamUpdateCaptureDependencies                                    \
    cudaStreamUpdateCaptureDependencies_ptsz
#define cudaStreamIsCapturing            cudaStreamIsCapturing_ptsz
#define cudaMemcpyAsync                  cudaMemcpyAsync_ptsz
#define cudaMemcpyToSymbolAsync          cudaMemcpyToSymbolAsync_ptsz
#define cudaMemcpyFromSymbolAsync        cudaMemcpyFromSymbolAsync_ptsz
#define cudaMemcpy2DAsync                cudaMemcpy2DAsync_ptsz
#define cudaMemcpyToArrayAsync           cudaMemcpyToArrayAsync_ptsz
#define cudaMemcpy2DToArrayAsync         cudaMemcpy2DToArrayAsync_ptsz
#define cudaMemcpyFromArrayAsync         cudaMemcpyFromArrayAsync_ptsz
#define cudaMemcpy2DFromArrayAsync       cudaMemcpy2DFromArrayAsync_ptsz
#define cudaMemcpy3DAsync                cudaMemcpy3DAsync_ptsz
#define cudaMemcpy3DPeerAsync            cudaMemcpy3DPeerAsync_ptsz
#define cudaMemsetAsync                  cudaMemsetAsync_ptsz
#define cudaMemset2DAsync                cudaMemset2DAsync_ptsz
#define cudaMemset3DAsync                cudaMemset3DAsync_ptsz
#define cudaStreamQuery                  cudaStreamQuery_ptsz
#define cudaStreamGetDevice              cudaStreamGetDevice_ptsz
#define cudaStreamGetFlags               cudaStreamGetFlags_ptsz
#define cudaStreamGetId                  cudaStreamGetId_ptsz
#define cudaStreamGetPriority            cudaStreamGetPriority_ptsz
#define cudaEventRecord                  cudaEventRecord_ptsz
#define cudaEventRecordWithFlags         cudaEventRecordWithFlags_ptsz
#define cudaStreamWaitEvent              cudaStreamWaitEvent_ptsz
#define cudaStreamAddCallback            cudaStreamAddCallback_ptsz
#define cudaStreamAttachMemAsync         cudaStreamAttachMemAsync_ptsz
#define cudaStreamSynchronize            cudaStreamSynchronize_ptsz
#define cudaLaunchKernel                 cudaLaunchKernel_ptsz
#define cudaLaunchKernelExC              cudaLaunchKernelExC_ptsz
#define cudaLaunchHostFunc               cudaLaunchHostFunc_ptsz
#define cudaMemPrefetchAsync             cudaMemPrefetchAsync_ptsz
#define cudaLaunchCooperativeKernel      cudaLaunchCooperativeKernel_ptsz
#define cudaStreamCopyAttributes         cudaStreamCopyAttributes_ptsz
#define cudaStreamGetAttribute           cudaStreamGetAttribute_ptsz
#define cudaStreamSetAttribute           cudaStreamSetAttribute_ptsz
#define cudaMallocAsync                  cudaMallocAsync_ptsz
#define cudaFreeAsync                    cudaFreeAsync_ptsz
#define cudaMallocFromPoolAsync          cudaMallocFromPoolAsync_ptsz
#define cudaGetDriverEntryPoint          cudaGetDriverEntryPoint_ptsz
#define cudaGetDriverEntryPointByVersion cudaGetDriverEntryPointByVersion_ptsz
#endif

#endif
