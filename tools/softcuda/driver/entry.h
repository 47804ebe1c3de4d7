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
CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config);

#endif
