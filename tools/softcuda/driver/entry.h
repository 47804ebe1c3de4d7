/*
 * Declarations of entry points that cuda.h does not declare: earlier
 * versions of calls, kept for programs built against older headers.
 */
#ifndef SOFTCUDA_DRIVER_ENTRY_H
#define SOFTCUDA_DRIVER_ENTRY_H

#include "driver/driver.h"

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev);
CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray,
                        int numParams, unsigned int flags, CUdevice dev);
CUresult cuCtxDetach(CUcontext ctx);
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *pConfig);
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config);
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);
CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config);

/* Where cuda.h gives the plain name to a later version, the first one is
 * called _v1 here and exported under the plain name. */
CUresult cuMemAdvise_v1(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                        CUdevice device) __asm__("cuMemAdvise");
CUresult cuMemPrefetchAsync_v1(CUdeviceptr devPtr, size_t count,
                               CUdevice dstDevice,
                               CUstream hStream) __asm__("cuMemPrefetchAsync");

CUresult
cuStreamBeginCapture_v1(CUstream stream) __asm__("cuStreamBeginCapture");
CUresult
cuStreamGetCaptureInfo_v1(CUstream stream, CUstreamCaptureStatus *status,
                          cuuint64_t *id) __asm__("cuStreamGetCaptureInfo");
CUresult cuStreamGetCaptureInfo_v2(CUstream stream,
                                   CUstreamCaptureStatus *status,
                                   cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **dependencies,
                                   size_t *count);
CUresult cuStreamUpdateCaptureDependencies_v1(
    CUstream stream, CUgraphNode *nodes, size_t count,
    unsigned int flags) __asm__("cuStreamUpdateCaptureDependencies");

#endif
