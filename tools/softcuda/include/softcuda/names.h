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
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cuLaunchKernel            __CUDA_API_PTSZ(cuLaunchKernel)
#define cuLaunchKernelEx          __CUDA_API_PTSZ(cuLaunchKernelEx)
#define cuLaunchCooperativeKernel __CUDA_API_PTSZ(cuLaunchCooperativeKernel)
#define cuLaunchHostFunc          __CUDA_API_PTSZ(cuLaunchHostFunc)
#define cuMemcpy                  __CUDA_API_PTDS(cuMemcpy)
#define cuMemcpyPeer              __CUDA_API_PTDS(cuMemcpyPeer)
#define cuMemcpy3DPeer            __CUDA_API_PTDS(cuMemcpy3DPeer)
#define cuMemcpyAsync             __CUDA_API_PTSZ(cuMemcpyAsync)
#define cuMemcpyPeerAsync         __CUDA_API_PTSZ(cuMemcpyPeerAsync)
#define cuMemcpy3DPeerAsync       __CUDA_API_PTSZ(cuMemcpy3DPeerAsync)
#define cuMemsetD8Async           __CUDA_API_PTSZ(cuMemsetD8Async)
#define cuMemsetD16Async          __CUDA_API_PTSZ(cuMemsetD16Async)
#define cuMemsetD32Async          __CUDA_API_PTSZ(cuMemsetD32Async)
#define cuMemsetD2D8Async         __CUDA_API_PTSZ(cuMemsetD2D8Async)
#define cuMemsetD2D16Async        __CUDA_API_PTSZ(cuMemsetD2D16Async)
#define cuMemsetD2D32Async        __CUDA_API_PTSZ(cuMemsetD2D32Async)
#define cuStreamGetPriority       __CUDA_API_PTSZ(cuStreamGetPriority)
#define cuStreamGetDevice         __CUDA_API_PTSZ(cuStreamGetDevice)
#define cuStreamGetFlags          __CUDA_API_PTSZ(cuStreamGetFlags)
#define cuStreamGetId             __CUDA_API_PTSZ(cuStreamGetId)
#define cuStreamGetCtx            __CUDA_API_PTSZ(cuStreamGetCtx)
#define cuStreamWaitEvent         __CUDA_API_PTSZ(cuStreamWaitEvent)
#define cuStreamAddCallback       __CUDA_API_PTSZ(cuStreamAddCallback)
#define cuStreamIsCapturing       __CUDA_API_PTSZ(cuStreamIsCapturing)
#define cuStreamQuery             __CUDA_API_PTSZ(cuStreamQuery)
#define cuStreamSynchronize       __CUDA_API_PTSZ(cuStreamSynchronize)
#define cuEventRecord             __CUDA_API_PTSZ(cuEventRecord)
#define cuEventRecordWithFlags    __CUDA_API_PTSZ(cuEventRecordWithFlags)
#endif

#endif
