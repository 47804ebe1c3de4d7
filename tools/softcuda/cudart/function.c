/*
 * Owns: attributes and occupancy of kernels, libraries of them, and where a
 * variable is.
 * Does not own: which function a host address is (symbol.c).
 */
#include <string.h>

#include "cudart/register.h"

/* What 11 knows of cudaFuncAttributes. */
#define ATTRIBUTES_11 offsetof(struct cudaFuncAttributes, clusterDimMustBeSet)

static int attribute(CUfunction_attribute which, CUfunction function)
{
    int value = 0;
    return cuFuncGetAttribute(&value, which, function) == CUDA_SUCCESS ? value
                                                                       : 0;
}

static void read_attributes(struct cudaFuncAttributes *a, CUfunction f)
{
#define READ(field, which)                                                     \
    a->field = (__typeof__(a->field))attribute(CU_FUNC_ATTRIBUTE_##which, f)
    memset(a, 0, sizeof *a);
    READ(sharedSizeBytes, SHARED_SIZE_BYTES);
    READ(constSizeBytes, CONST_SIZE_BYTES);
    READ(localSizeBytes, LOCAL_SIZE_BYTES);
    READ(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
    READ(numRegs, NUM_REGS);
    READ(ptxVersion, PTX_VERSION);
    READ(binaryVersion, BINARY_VERSION);
    READ(cacheModeCA, CACHE_MODE_CA);
    READ(maxDynamicSharedSizeBytes, MAX_DYNAMIC_SHARED_SIZE_BYTES);
    READ(preferredShmemCarveout, PREFERRED_SHARED_MEMORY_CARVEOUT);
    READ(clusterDimMustBeSet, CLUSTER_SIZE_MUST_BE_SET);
    READ(requiredClusterWidth, REQUIRED_CLUSTER_WIDTH);
    READ(requiredClusterHeight, REQUIRED_CLUSTER_HEIGHT);
    READ(requiredClusterDepth, REQUIRED_CLUSTER_DEPTH);
    READ(clusterSchedulingPolicyPreference,
         CLUSTER_SCHEDULING_POLICY_PREFERENCE);
    READ(nonPortableClusterSizeAllowed, NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
#undef READ
}

static cudaError_t find(const void *func, CUfunction *function)
{
    SC_RT_TRY(sc_rt_enter());
    return sc_rt_function(func, function);
}

SC_RT cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    CUfunction f;
    struct cudaFuncAttributes all;
    if (!attr)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(find(func, &f));
    read_attributes(&all, f);
    memcpy(attr, &all, SC_CUDART >= 12 ? sizeof all : ATTRIBUTES_11);
    return cudaSuccess;
}

SC_RT cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr,
                           int value)
{
    CUfunction f;
    SC_RT_BEGIN(find(func, &f));
    return sc_rt_done(
        SC_RT_DRIVER(cuFuncSetAttribute(f, (CUfunction_attribute)attr, value)));
}

SC_RT cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
    CUfunction f;
    SC_RT_BEGIN(find(func, &f));
    return sc_rt_done(
        SC_RT_DRIVER(cuFuncSetCacheConfig(f, (CUfunc_cache)cacheConfig)));
}

SC_RT cudaFuncSetSharedMemConfig(const void *func,
                                 enum cudaSharedMemConfig config)
{
    CUfunction f;
    SC_RT_BEGIN(find(func, &f));
    return sc_rt_done((unsigned)config <= cudaSharedMemBankSizeEightByte
                          ? cudaSuccess
                          : cudaErrorInvalidValue);
}

SC_RT cudaFuncGetName(const char **name, const void *func)
{
    CUfunction f;
    SC_RT_BEGIN(find(func, &f));
    return sc_rt_done(SC_RT_DRIVER(cuFuncGetName(name, f)));
}

SC_RT cudaFuncGetParamInfo(const void *func, size_t paramIndex,
                           size_t *paramOffset, size_t *paramSize)
{
    CUfunction f;
    SC_RT_BEGIN(find(func, &f));
    return sc_rt_done(SC_RT_DRIVER(
        cuFuncGetParamInfo(f, paramIndex, paramOffset, paramSize)));
}

SC_RT cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize,
    unsigned int flags)
{
    CUfunction f;
    SC_RT_BEGIN(find(func, &f));
    return sc_rt_done(
        SC_RT_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            numBlocks, f, blockSize, dynamicSMemSize, flags)));
}

SC_RT cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks,
                                                    const void *func,
                                                    int blockSize,
                                                    size_t dynamicSMemSize)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, func, blockSize, dynamicSMemSize, cudaOccupancyDefault);
}

SC_RT cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize,
                                                const void *func, int numBlocks,
                                                int blockSize)
{
    CUfunction f;
    SC_RT_BEGIN(find(func, &f));
    return sc_rt_done(SC_RT_DRIVER(cuOccupancyAvailableDynamicSMemPerBlock(
        dynamicSmemSize, f, numBlocks, blockSize)));
}

static cudaError_t clusters(const void *func, const cudaLaunchConfig_t *from,
                            CUfunction *f, CUlaunchConfig *c)
{
    if (!from)
        return cudaErrorInvalidValue;
    *c = (CUlaunchConfig){.gridDimX = from->gridDim.x,
                          .gridDimY = from->gridDim.y,
                          .gridDimZ = from->gridDim.z,
                          .blockDimX = from->blockDim.x,
                          .blockDimY = from->blockDim.y,
                          .blockDimZ = from->blockDim.z,
                          .sharedMemBytes = (unsigned)from->dynamicSmemBytes,
                          .hStream = from->stream,
                          .attrs = (CUlaunchAttribute *)from->attrs,
                          .numAttrs = from->numAttrs};
    return find(func, f);
}

SC_RT cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                     const cudaLaunchConfig_t *launchConfig)
{
    CUfunction f;
    CUlaunchConfig c;
    SC_RT_BEGIN(clusters(func, launchConfig, &f, &c));
    return sc_rt_done(
        SC_RT_DRIVER(cuOccupancyMaxActiveClusters(numClusters, f, &c)));
}

SC_RT
cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                     const cudaLaunchConfig_t *launchConfig)
{
    CUfunction f;
    CUlaunchConfig c;
    SC_RT_BEGIN(clusters(func, launchConfig, &f, &c));
    return sc_rt_done(
        SC_RT_DRIVER(cuOccupancyMaxPotentialClusterSize(clusterSize, f, &c)));
}

SC_RT cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                      enum cudaFuncAttribute attr, int value,
                                      int device)
{
    SC_RT_BEGIN(sc_rt_enter());
    return sc_rt_done(SC_RT_DRIVER(cuKernelSetAttribute(
        (CUfunction_attribute)attr, value, kernel, device)));
}

SC_RT cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                          enum cudaJitOption *jitOptions,
                          void **jitOptionsValues, unsigned int numJitOptions,
                          enum cudaLibraryOption *libraryOptions,
                          void **libraryOptionValues,
                          unsigned int numLibraryOptions)
{
    SC_RT_BEGIN(sc_rt_enter());
    return sc_rt_done(SC_RT_DRIVER(cuLibraryLoadData(
        library, code, (CUjit_option *)jitOptions, jitOptionsValues,
        numJitOptions, (CUlibraryOption *)libraryOptions, libraryOptionValues,
        numLibraryOptions)));
}

SC_RT cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName,
                              enum cudaJitOption *jitOptions,
                              void **jitOptionsValues,
                              unsigned int numJitOptions,
                              enum cudaLibraryOption *libraryOptions,
                              void **libraryOptionValues,
                              unsigned int numLibraryOptions)
{
    SC_RT_BEGIN(sc_rt_enter());
    return sc_rt_done(SC_RT_DRIVER(cuLibraryLoadFromFile(
        library, fileName, (CUjit_option *)jitOptions, jitOptionsValues,
        numJitOptions, (CUlibraryOption *)libraryOptions, libraryOptionValues,
        numLibraryOptions)));
}

SC_RT cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    CUdeviceptr address;
    size_t bytes;
    if (!devPtr)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(sc_rt_variable(symbol, &address, &bytes));
    *devPtr = (void *)(uintptr_t)address;
    return cudaSuccess;
}

SC_RT cudaGetSymbolSize(size_t *size, const void *symbol)
{
    CUdeviceptr address;
    if (!size)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    return sc_rt_done(sc_rt_variable(symbol, &address, size));
}
