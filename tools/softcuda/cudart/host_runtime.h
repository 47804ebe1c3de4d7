/*
 * The entry points that host code compiled by nvcc calls by itself: the
 * public binary interface of crt/host_runtime.h, of 11 to 13.
 */
#ifndef SOFTCUDA_CUDART_HOST_RUNTIME_H
#define SOFTCUDA_CUDART_HOST_RUNTIME_H

#include "cudart/older.h"
#include "cudart/include/cuda_runtime_api.h"

#define SC_RT_HOST(type) __attribute__((visibility("default"))) type

struct CUstream_st;

void **__cudaRegisterFatBinary(void *fatCubin);
void __cudaRegisterFatBinaryEnd(void **fatCubinHandle);
void __cudaUnregisterFatBinary(void **fatCubinHandle);
char __cudaInitModule(void **fatCubinHandle);
void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun,
                            char *deviceFun, const char *deviceName,
                            int thread_limit, uint3 *tid, uint3 *bid,
                            dim3 *bDim, dim3 *gDim, int *wSize);
void __cudaRegisterVar(void **fatCubinHandle, char *hostVar,
                       char *deviceAddress, const char *deviceName, int ext,
                       size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress,
                              char *deviceAddress, const char *deviceName,
                              int ext, size_t size, int constant, int global);
void __cudaRegisterHostVar(void **fatCubinHandle, const char *deviceName,
                           char *hostVarAddr, size_t size);
void __cudaRegisterUnifiedTable(void **fatCubinHandle,
                                const void *unifiedTable);
void __cudaRegisterTexture(void **fatCubinHandle,
                           const struct textureReference *hostVar,
                           const void **deviceAddress, const char *deviceName,
                           int dim, int norm, int ext);
void __cudaRegisterSurface(void **fatCubinHandle,
                           const struct surfaceReference *hostVar,
                           const void **deviceAddress, const char *deviceName,
                           int dim, int ext);
void __cudaRegisterShared(void **fatCubinHandle, void **devicePtr);
void __cudaRegisterSharedVar(void **fatCubinHandle, void **devicePtr,
                             size_t size, size_t alignment, int storage);
unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim,
                                     size_t sharedMem,
                                     struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim,
                                       size_t *sharedMem, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *func);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
                               void **args, size_t sharedMem,
                               cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim,
                                    dim3 blockDim, void **args,
                                    size_t sharedMem, cudaStream_t stream);

#endif
