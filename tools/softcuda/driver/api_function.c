/*
 * Owns: the entry points that ask about functions and kernels.
 * Does not own: launches (launch.c).
 */
#include "driver/context.h"
#include "driver/device.h"
#include "driver/entry.h"
#include "driver/handle.h"
#include "driver/module.h"
#include "base/kernel.h"

static CUfunction as_function(CUkernel kernel)
{
    return (CUfunction)(void *)kernel;
}

static CUresult resolve(CUfunction handle, CUfunction *function)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    return sc_function_resolve(handle, ctx, function);
}

static CUresult get_attribute(int *value, int attribute,
                              const struct CUfunc_st *f)
{
    const struct sc_load_kernel *info = f->info;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)info->max_threads;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)info->static_shared_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)info->const_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)info->local_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)info->registers;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = (int)f->module->target;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = SC_SM;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = f->dynamic_shared_limit;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = f->carveout;
        return CUDA_SUCCESS;
    default:
        *value = 0;
        return attribute > 0 && attribute < CU_FUNC_ATTRIBUTE_MAX
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    }
}

SC_API cuFuncGetAttribute(int *pi, CUfunction_attribute attrib,
                          CUfunction hfunc)
{
    CUfunction f;
    SC_TRY(resolve(hfunc, &f));
    return pi ? get_attribute(pi, (int)attrib, f) : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib,
                          int value)
{
    CUfunction f;
    SC_TRY(resolve(hfunc, &f));
    switch ((int)attrib) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || (unsigned)value + f->info->static_shared_bytes >
                             SC_MAX_SHARED_BYTES)
            return CUDA_ERROR_INVALID_VALUE;
        f->dynamic_shared_limit = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        f->carveout = value;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

SC_API cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    CUfunction f;
    SC_TRY(resolve(hfunc, &f));
    return (unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config)
{
    CUfunction f;
    SC_TRY(resolve(hfunc, &f));
    return (unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    CUfunction f;
    SC_TRY(resolve(hfunc, &f));
    if (!hmod)
        return CUDA_ERROR_INVALID_VALUE;
    *hmod = f->module;
    return CUDA_SUCCESS;
}

SC_API cuFuncGetName(const char **name, CUfunction hfunc)
{
    CUfunction f;
    SC_TRY(sc_enter());
    if (!name || !hfunc)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(resolve(hfunc, &f));
    *name = f->name;
    return CUDA_SUCCESS;
}

SC_API cuFuncGetParamInfo(CUfunction func, size_t paramIndex,
                          size_t *paramOffset, size_t *paramSize)
{
    CUfunction f;
    SC_TRY(resolve(func, &f));
    if (!paramOffset || paramIndex >= f->info->param_count)
        return CUDA_ERROR_INVALID_VALUE;
    *paramOffset = f->params[paramIndex].offset;
    if (paramSize)
        *paramSize = f->params[paramIndex].bytes;
    return CUDA_SUCCESS;
}

static CUresult check_kernel(CUkernel kernel)
{
    SC_TRY(sc_enter());
    return sc_handle_is(kernel, SC_HANDLE_KERNEL) ? CUDA_SUCCESS
                                                  : CUDA_ERROR_INVALID_HANDLE;
}

SC_API cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    SC_TRY(check_kernel(kernel));
    return pFunc ? resolve(as_function(kernel), pFunc)
                 : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    SC_TRY(check_kernel(kernel));
    if (!pLib)
        return CUDA_ERROR_INVALID_VALUE;
    *pLib = kernel->library;
    return CUDA_SUCCESS;
}

SC_API cuKernelGetName(const char **name, CUkernel hfunc)
{
    SC_TRY(sc_enter());
    if (!name || !hfunc)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(check_kernel(hfunc));
    *name = hfunc->name;
    return CUDA_SUCCESS;
}

/* The device argument says nothing new: a kernel is the same on each. */
SC_API cuKernelGetAttribute(int *pi, CUfunction_attribute attrib,
                            CUkernel kernel, CUdevice dev)
{
    SC_TRY(check_kernel(kernel));
    if (!sc_device_get(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    return cuFuncGetAttribute(pi, attrib, as_function(kernel));
}

SC_API cuKernelSetAttribute(CUfunction_attribute attrib, int val,
                            CUkernel kernel, CUdevice dev)
{
    SC_TRY(check_kernel(kernel));
    if (!sc_device_get(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    return cuFuncSetAttribute(as_function(kernel), attrib, val);
}

SC_API cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config,
                              CUdevice dev)
{
    SC_TRY(check_kernel(kernel));
    if (!sc_device_get(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    return cuFuncSetCacheConfig(as_function(kernel), config);
}

SC_API cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex,
                            size_t *paramOffset, size_t *paramSize)
{
    SC_TRY(check_kernel(kernel));
    return cuFuncGetParamInfo(as_function(kernel), paramIndex, paramOffset,
                              paramSize);
}

/* Modules are loaded as a whole. */
SC_API cuFuncLoad(CUfunction function)
{
    CUfunction f;
    return resolve(function, &f);
}

SC_API cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    CUfunction f;
    SC_TRY(resolve(function, &f));
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

/* No profiler watches, so there is none to start or stop. */
SC_API cuProfilerStart(void)
{
    return sc_enter();
}

SC_API cuProfilerStop(void)
{
    return sc_enter();
}
