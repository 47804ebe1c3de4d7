/*
 * Which exported name each call of the driver API 13.0 stands for.  A program
 * built with CUDA_API_PER_THREAD_DEFAULT_STREAM gets the _ptds/_ptsz names.
 */
#ifndef SOFTCUDA_NAMES_H
#define SOFTCUDA_NAMES_H

#define cuGetProcAddress           cuGetProcAddress_v2
#define cuDeviceGetUuid            cuDeviceGetUuid_v2
#define cuDeviceTotalMem           cuDeviceTotalMem_v2
#define cuDevicePrimaryCtxRelease  cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2
#define cuDevicePrimaryCtxReset    cuDevicePrimaryCtxReset_v2
#define cuCtxCreate                cuCtxCreate_v4
#define cuCtxDestroy               cuCtxDestroy_v2
#define cuCtxPushCurrent           cuCtxPushCurrent_v2
#define cuCtxPopCurrent            cuCtxPopCurrent_v2
#define cuModuleGetGlobal          cuModuleGetGlobal_v2
#define cuMemGetInfo               cuMemGetInfo_v2
#define cuMemAlloc                 cuMemAlloc_v2
#define cuMemAllocPitch            cuMemAllocPitch_v2
#define cuMemFree                  cuMemFree_v2
#define cuMemGetAddressRange       cuMemGetAddressRange_v2
#define cuMemAllocHost             cuMemAllocHost_v2
#define cuMemHostGetDevicePointer  cuMemHostGetDevicePointer_v2
#define cuMemHostRegister          cuMemHostRegister_v2
#define cuMemcpyHtoD               __CUDA_API_PTDS(cuMemcpyHtoD_v2)
#define cuMemcpyDtoH               __CUDA_API_PTDS(cuMemcpyDtoH_v2)
#define cuMemcpyDtoD               __CUDA_API_PTDS(cuMemcpyDtoD_v2)
#define cuMemcpy2D                 __CUDA_API_PTDS(cuMemcpy2D_v2)
#define cuMemcpy2DUnaligned        __CUDA_API_PTDS(cuMemcpy2DUnaligned_v2)
#define cuMemcpy3D                 __CUDA_API_PTDS(cuMemcpy3D_v2)
#define cuMemcpyHtoDAsync          __CUDA_API_PTSZ(cuMemcpyHtoDAsync_v2)
#define cuMemcpyDtoHAsync          __CUDA_API_PTSZ(cuMemcpyDtoHAsync_v2)
#define cuMemcpyDtoDAsync          __CUDA_API_PTSZ(cuMemcpyDtoDAsync_v2)
#define cuMemcpy2DAsync            __CUDA_API_PTSZ(cuMemcpy2DAsync_v2)
#define cuMemcpy3DAsync            __CUDA_API_PTSZ(cuMemcpy3DAsync_v2)
#define cuMemsetD8                 __CUDA_API_PTDS(cuMemsetD8_v2)
#define cuMemsetD16                __CUDA_API_PTDS(cuMemsetD16_v2)
#define cuMemsetD32                __CUDA_API_PTDS(cuMemsetD32_v2)
#define cuMemsetD2D8               __CUDA_API_PTDS(cuMemsetD2D8_v2)
#define cuMemsetD2D16              __CUDA_API_PTDS(cuMemsetD2D16_v2)
#define cuMemsetD2D32              __CUDA_API_PTDS(cuMemsetD2D32_v2)
#define cuStreamGetCaptureInfo     __CUDA_API_PTSZ(cuStreamGetCaptureInfo_v3)
#define cuStreamDestroy            cuStreamDestroy_v2
#define cuEventDestroy             cuEventDestroy_v2
#define cuEventElapsedTime         cuEventElapsedTime_v2
#define cuMemPrefetchAsync         __CUDA_API_PTSZ(cuMemPrefetchAsync_v2)
#define cuMemAdvise                cuMemAdvise_v2
#define cuStreamWaitValue32        __CUDA_API_PTSZ(cuStreamWaitValue32_v2)
#define cuStreamWaitValue64        __CUDA_API_PTSZ(cuStreamWaitValue64_v2)
#define cuStreamWriteValue32       __CUDA_API_PTSZ(cuStreamWriteValue32_v2)
#define cuStreamWriteValue64       __CUDA_API_PTSZ(cuStreamWriteValue64_v2)
#define cuStreamBatchMemOp         __CUDA_API_PTSZ(cuStreamBatchMemOp_v2)
#define cuLinkCreate               cuLinkCreate_v2
#define cuLinkAddData              cuLinkAddData_v2
#define cuLinkAddFile              cuLinkAddFile_v2
#define cuIpcOpenMemHandle         cuIpcOpenMemHandle_v2
#define cuArrayCreate              cuArrayCreate_v2
#define cuArrayGetDescriptor       cuArrayGetDescriptor_v2
#define cuArray3DCreate            cuArray3DCreate_v2
#define cuArray3DGetDescriptor     cuArray3DGetDescriptor_v2
#define cuMemcpyDtoA               __CUDA_API_PTDS(cuMemcpyDtoA_v2)
#define cuMemcpyAtoD               __CUDA_API_PTDS(cuMemcpyAtoD_v2)
#define cuMemcpyHtoA               __CUDA_API_PTDS(cuMemcpyHtoA_v2)
#define cuMemcpyAtoH               __CUDA_API_PTDS(cuMemcpyAtoH_v2)
#define cuMemcpyAtoA               __CUDA_API_PTDS(cuMemcpyAtoA_v2)
#define cuMemcpyHtoAAsync          __CUDA_API_PTSZ(cuMemcpyHtoAAsync_v2)
#define cuMemcpyAtoHAsync          __CUDA_API_PTSZ(cuMemcpyAtoHAsync_v2)
#define cuTexRefSetAddress         cuTexRefSetAddress_v2
#define cuTexRefSetAddress2D       cuTexRefSetAddress2D_v3
#define cuTexRefGetAddress         cuTexRefGetAddress_v2
#define cuStreamBeginCapture       __CUDA_API_PTSZ(cuStreamBeginCapture_v2)
#define cuStreamUpdateCaptureDependencies                                      \
    __CUDA_API_PTSZ(cuStreamUpdateCaptureDependencies_v2)
#define cuGraphAddKernelNode           cuGraphAddKernelNode_v2
#define cuGraphAddNode                 cuGraphAddNode_v2
#define cuGraphKernelNodeGetParams     cuGraphKernelNodeGetParams_v2
#define cuGraphKernelNodeSetParams     cuGraphKernelNodeSetParams_v2
#define cuGraphGetEdges                cuGraphGetEdges_v2
#define cuGraphNodeGetDependencies     cuGraphNodeGetDependencies_v2
#define cuGraphNodeGetDependentNodes   cuGraphNodeGetDependentNodes_v2
#define cuGraphAddDependencies         cuGraphAddDependencies_v2
#define cuGraphRemoveDependencies      cuGraphRemoveDependencies_v2
#define cuGraphInstantiate             cuGraphInstantiateWithFlags
#define cuGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams_v2
#define cuGraphExecUpdate              cuGraphExecUpdate_v2
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cuLaunchKernel              __CUDA_API_PTSZ(cuLaunchKernel)
#define cuLaunchKernelEx            __CUDA_API_PTSZ(cuLaunchKernelEx)
#define cuLaunchCooperativeKernel   __CUDA_API_PTSZ(cuLaunchCooperativeKernel)
#define cuLaunchHostFunc            __CUDA_API_PTSZ(cuLaunchHostFunc)
#define cuMemcpy                    __CUDA_API_PTDS(cuMemcpy)
#define cuMemcpyPeer                __CUDA_API_PTDS(cuMemcpyPeer)
#define cuMemcpy3DPeer              __CUDA_API_PTDS(cuMemcpy3DPeer)
#define cuMemcpyAsync               __CUDA_API_PTSZ(cuMemcpyAsync)
#define cuMemcpyPeerAsync           __CUDA_API_PTSZ(cuMemcpyPeerAsync)
#define cuMemcpy3DPeerAsync         __CUDA_API_PTSZ(cuMemcpy3DPeerAsync)
#define cuMemsetD8Async             __CUDA_API_PTSZ(cuMemsetD8Async)
#define cuMemsetD16Async            __CUDA_API_PTSZ(cuMemsetD16Async)
#define cuMemsetD32Async            __CUDA_API_PTSZ(cuMemsetD32Async)
#define cuMemsetD2D8Async           __CUDA_API_PTSZ(cuMemsetD2D8Async)
#define cuMemsetD2D16Async          __CUDA_API_PTSZ(cuMemsetD2D16Async)
#define cuMemsetD2D32Async          __CUDA_API_PTSZ(cuMemsetD2D32Async)
#define cuStreamGetPriority         __CUDA_API_PTSZ(cuStreamGetPriority)
#define cuStreamGetDevice           __CUDA_API_PTSZ(cuStreamGetDevice)
#define cuStreamGetFlags            __CUDA_API_PTSZ(cuStreamGetFlags)
#define cuStreamGetId               __CUDA_API_PTSZ(cuStreamGetId)
#define cuStreamGetCtx              __CUDA_API_PTSZ(cuStreamGetCtx)
#define cuStreamWaitEvent           __CUDA_API_PTSZ(cuStreamWaitEvent)
#define cuStreamAddCallback         __CUDA_API_PTSZ(cuStreamAddCallback)
#define cuStreamIsCapturing         __CUDA_API_PTSZ(cuStreamIsCapturing)
#define cuStreamQuery               __CUDA_API_PTSZ(cuStreamQuery)
#define cuStreamSynchronize         __CUDA_API_PTSZ(cuStreamSynchronize)
#define cuEventRecord               __CUDA_API_PTSZ(cuEventRecord)
#define cuEventRecordWithFlags      __CUDA_API_PTSZ(cuEventRecordWithFlags)
#define cuMemAllocAsync             __CUDA_API_PTSZ(cuMemAllocAsync)
#define cuMemFreeAsync              __CUDA_API_PTSZ(cuMemFreeAsync)
#define cuMemAllocFromPoolAsync     __CUDA_API_PTSZ(cuMemAllocFromPoolAsync)
#define cuStreamAttachMemAsync      __CUDA_API_PTSZ(cuStreamAttachMemAsync)
#define cuStreamCopyAttributes      __CUDA_API_PTSZ(cuStreamCopyAttributes)
#define cuStreamGetAttribute        __CUDA_API_PTSZ(cuStreamGetAttribute)
#define cuStreamSetAttribute        __CUDA_API_PTSZ(cuStreamSetAttribute)
#define cuStreamBeginCaptureToGraph __CUDA_API_PTSZ(cuStreamBeginCaptureToGraph)
#define cuStreamEndCapture          __CUDA_API_PTSZ(cuStreamEndCapture)
#define cuGraphInstantiateWithParams                                           \
    __CUDA_API_PTSZ(cuGraphInstantiateWithParams)
#define cuGraphUpload __CUDA_API_PTSZ(cuGraphUpload)
#define cuGraphLaunch __CUDA_API_PTSZ(cuGraphLaunch)
#endif

#endif
