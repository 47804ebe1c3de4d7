/*
 * Owns: launches of kernels and host functions, and the configuration that
 * <<<...>>> leaves for the call that follows it.
 * Does not own: which function a host address is (symbol.c).
 */
#include "cudart/host_runtime.h"
#include "cudart/register.h"

enum { DEPTH = 16 };

struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};

/* Arguments of a launch may themselves launch, so there is a stack. */
static _Thread_local struct configuration pushed[DEPTH];
static _Thread_local int depth;

SC_RT_HOST(unsigned)
__cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                            struct CUstream_st *stream)
{
    if (depth == DEPTH)
        return (unsigned)sc_rt_done(cudaErrorInvalidConfiguration);
    pushed[depth++] =
        (struct configuration){gridDim, blockDim, sharedMem, stream};
    return 0;
}

SC_RT __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim,
                                 size_t *sharedMem, void *stream)
{
    if (depth == 0)
        return sc_rt_done(cudaErrorMissingConfiguration);
    struct configuration *top = &pushed[--depth];
    *gridDim = top->grid;
    *blockDim = top->block;
    *sharedMem = top->shared;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}

static bool within(unsigned value, CUdevice_attribute limit)
{
    int most = 0;
    cuDeviceGetAttribute(&most, limit, sc_rt_device());
    return value > 0 && value <= (unsigned)most;
}

static bool has_too_many_threads(const CUlaunchConfig *c)
{
    uint64_t threads;
    int most = 0;
    cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                         sc_rt_device());
    return __builtin_mul_overflow((uint64_t)c->blockDimX * c->blockDimY,
                                  (uint64_t)c->blockDimZ, &threads) ||
           threads > (uint64_t)most;
}

/* The driver calls every bad argument invalid; the runtime tells a bad
 * configuration from the rest, but for the number of threads since CUDA 13. */
static cudaError_t explain(const CUlaunchConfig *c)
{
    if (has_too_many_threads(c))
        return SC_CUDART >= 13 ? cudaErrorInvalidValue
                               : cudaErrorInvalidConfiguration;
    bool good = within(c->gridDimX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) &&
                within(c->gridDimY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) &&
                within(c->gridDimZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) &&
                within(c->blockDimX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
                within(c->blockDimY, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) &&
                within(c->blockDimZ, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    return good ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;
}

static CUresult start(CUfunction f, const CUlaunchConfig *c, void **args)
{
    if (c->numAttrs > 0)
        return cuLaunchKernelEx(c, f, args, NULL);
    return cuLaunchKernel(f, c->gridDimX, c->gridDimY, c->gridDimZ,
                          c->blockDimX, c->blockDimY, c->blockDimZ,
                          c->sharedMemBytes, c->hStream, args, NULL);
}

static cudaError_t launch(const void *func, const CUlaunchConfig *c,
                          void **args)
{
    CUfunction function;
    SC_RT_TRY(sc_rt_enter());
    SC_RT_TRY(sc_rt_function(func, &function));
    CUresult result = start(function, c, args);
    CUmodule module;
    if (result == CUDA_ERROR_INVALID_HANDLE &&
        cuFuncGetModule(&module, function) != CUDA_SUCCESS) {
        /* the context was destroyed and another has its address */
        sc_rt_function_forget(func);
        SC_RT_TRY(sc_rt_function(func, &function));
        result = start(function, c, args);
    }
    if (result == CUDA_ERROR_INVALID_VALUE)
        return explain(c);
    return SC_RT_DRIVER(result);
}

static CUlaunchConfig plain(dim3 grid, dim3 block, size_t shared,
                            cudaStream_t stream)
{
    return (CUlaunchConfig){
        .gridDimX = grid.x,
        .gridDimY = grid.y,
        .gridDimZ = grid.z,
        .blockDimX = block.x,
        .blockDimY = block.y,
        .blockDimZ = block.z,
        .sharedMemBytes = shared <= UINT32_MAX ? (unsigned)shared : UINT32_MAX,
        .hStream = stream};
}

SC_RT cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim,
                       void **args, size_t sharedMem, cudaStream_t stream)
{
    CUlaunchConfig c = plain(gridDim, blockDim, sharedMem, stream);
    return sc_rt_done(launch(func, &c, args));
}

SC_RT __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
                         void **args, size_t sharedMem, cudaStream_t stream)
{
    CUlaunchConfig c = plain(gridDim, blockDim, sharedMem, stream);
    return sc_rt_done(launch(kernel, &c, args));
}

/* The handle that compiled code keeps is the host address itself: it is
 * fetched before main in some programs, when nothing may be loaded yet. */
SC_RT __cudaGetKernel(cudaKernel_t *kernel, const void *func)
{
    *kernel = (cudaKernel_t)func;
    return cudaSuccess;
}

SC_RT cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim,
                                  void **args, size_t sharedMem,
                                  cudaStream_t stream)
{
    CUfunction f;
    CUlaunchConfig c = plain(gridDim, blockDim, sharedMem, stream);
    SC_RT_BEGIN(sc_rt_enter());
    SC_RT_BEGIN(sc_rt_function(func, &f));
    CUresult result = cuLaunchCooperativeKernel(
        f, c.gridDimX, c.gridDimY, c.gridDimZ, c.blockDimX, c.blockDimY,
        c.blockDimZ, c.sharedMemBytes, stream, args);
    return sc_rt_done(result == CUDA_ERROR_INVALID_VALUE
                          ? explain(&c)
                          : SC_RT_DRIVER(result));
}

_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute),
               "attributes of both interfaces have one layout");

SC_RT cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func,
                          void **args)
{
    if (!config)
        return sc_rt_done(cudaErrorInvalidValue);
    CUlaunchConfig c = plain(config->gridDim, config->blockDim,
                             config->dynamicSmemBytes, config->stream);
    c.attrs = (CUlaunchAttribute *)config->attrs;
    c.numAttrs = config->numAttrs;
    return sc_rt_done(launch(func, &c, args));
}

SC_RT cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config,
                               const void *func, void **args);
SC_RT cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config,
                               const void *func, void **args)
{
    if (!config)
        return sc_rt_done(cudaErrorInvalidValue);
    cudaLaunchConfig_t own = *config;
    own.stream = sc_rt_own(config->stream);
    return cudaLaunchKernelExC(&own, func, args);
}

SC_RT cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    if (!functionPtr)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    return sc_rt_done(sc_rt_function(symbolPtr, functionPtr));
}

SC_RT cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    struct sc_rt_symbol *symbol =
        sc_rt_find(entryFuncAddr, 1u << SC_RT_FUNCTION);
    CUlibrary library;
    if (!kernelPtr)
        return sc_rt_done(cudaErrorInvalidValue);
    SC_RT_BEGIN(sc_rt_enter());
    if (!symbol)
        return sc_rt_done(cudaErrorInvalidDeviceFunction);
    SC_RT_BEGIN(sc_rt_load(symbol->image, &library));
    CUresult result = cuLibraryGetKernel(kernelPtr, library, symbol->name);
    return sc_rt_done(result == CUDA_ERROR_NOT_FOUND
                          ? cudaErrorInvalidDeviceFunction
                          : SC_RT_DRIVER(result));
}
