/*
 * Owns: what registered symbols are on a device: images loaded into the
 * driver, functions and addresses per context.
 * Does not own: the table of symbols (register.c).
 * Lock: the image's while it is loaded; bound records are only ever added.
 */
#include <stdlib.h>

#include "cudart/register.h"

enum {
    FUNCTIONS = 1u << SC_RT_FUNCTION,
    VARIABLES = 1u << SC_RT_VARIABLE | 1u << SC_RT_MANAGED
};

/* Host code reads managed variables through these pointers, and names them
 * by their value in calls that take a symbol. */
static CUresult set_managed(struct sc_rt_image *image, CUlibrary library)
{
    for (struct sc_rt_symbol *s = image->managed; s; s = s->next_managed) {
        CUdeviceptr address;
        size_t bytes;
        CUresult result =
            cuLibraryGetManaged(&address, &bytes, library, s->name);
        if (result != CUDA_SUCCESS)
            return result;
        *s->pointer = (void *)(uintptr_t)address;
        if (!sc_rt_alias(*s->pointer, s))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

cudaError_t sc_rt_load(struct sc_rt_image *image, CUlibrary *library)
{
    *library = atomic_load_explicit(&image->library, memory_order_acquire);
    if (*library)
        return cudaSuccess;
    pthread_mutex_lock(&image->lock);
    CUresult result = CUDA_SUCCESS;
    *library = atomic_load(&image->library);
    if (!*library) {
        result = cuLibraryLoadData(library, image->wrapper, NULL, NULL, 0, NULL,
                                   NULL, 0);
        if (result == CUDA_SUCCESS)
            result = set_managed(image, *library);
        if (result == CUDA_SUCCESS)
            atomic_store_explicit(&image->library, *library,
                                  memory_order_release);
    }
    pthread_mutex_unlock(&image->lock);
    return SC_RT_DRIVER(result);
}

static const struct sc_rt_bound *bound_here(struct sc_rt_symbol *symbol)
{
    CUcontext ctx = sc_rt_context();
    uint64_t epoch = sc_rt_epoch();
    struct sc_rt_bound *b =
        atomic_load_explicit(&symbol->bound, memory_order_acquire);
    for (; b; b = b->next)
        if (b->ctx == ctx && b->epoch == epoch)
            return b;
    return NULL;
}

/* Two threads may both add one; either is right. */
static void remember(struct sc_rt_symbol *symbol, struct sc_rt_bound value)
{
    struct sc_rt_bound *b = malloc(sizeof *b);
    if (!b)
        return;
    *b = value;
    b->ctx = sc_rt_context();
    b->epoch = sc_rt_epoch();
    b->next = atomic_load(&symbol->bound);
    while (!atomic_compare_exchange_weak(&symbol->bound, &b->next, b))
        ;
}

static cudaError_t bind_function(struct sc_rt_symbol *symbol,
                                 CUfunction *function)
{
    CUlibrary library;
    CUkernel kernel;
    SC_RT_TRY(sc_rt_load(symbol->image, &library));
    CUresult result = cuLibraryGetKernel(&kernel, library, symbol->name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return cudaErrorInvalidDeviceFunction;
    if (result == CUDA_SUCCESS)
        result = cuKernelGetFunction(function, kernel);
    if (result == CUDA_SUCCESS)
        remember(symbol, (struct sc_rt_bound){.function = *function});
    return SC_RT_DRIVER(result);
}

/* Not a host address: a handle of the driver's. */
static cudaError_t find_handle(const void *func, CUfunction *function)
{
    CUmodule module;
    if (!func)
        return cudaErrorInvalidDeviceFunction;
    if (cuKernelGetFunction(function, (CUkernel)func) == CUDA_SUCCESS)
        return cudaSuccess;
    if (cuFuncGetModule(&module, (CUfunction)func) != CUDA_SUCCESS)
        return cudaErrorInvalidDeviceFunction;
    *function = (CUfunction)func;
    return cudaSuccess;
}

cudaError_t sc_rt_function(const void *func, CUfunction *function)
{
    struct sc_rt_symbol *symbol = sc_rt_find(func, FUNCTIONS);
    if (!symbol)
        return find_handle(func, function);
    const struct sc_rt_bound *bound = bound_here(symbol);
    if (!bound)
        return bind_function(symbol, function);
    *function = bound->function;
    return cudaSuccess;
}

void sc_rt_function_forget(const void *func)
{
    struct sc_rt_symbol *symbol = sc_rt_find(func, FUNCTIONS);
    if (symbol)
        atomic_store(&symbol->bound, NULL);
}

cudaError_t sc_rt_variable(const void *host, CUdeviceptr *address,
                           size_t *bytes)
{
    struct sc_rt_symbol *symbol = sc_rt_find(host, VARIABLES);
    if (!symbol)
        return cudaErrorInvalidSymbol;
    const struct sc_rt_bound *bound = bound_here(symbol);
    if (bound) {
        *address = bound->address;
        *bytes = bound->bytes;
        return cudaSuccess;
    }
    CUlibrary library;
    SC_RT_TRY(sc_rt_load(symbol->image, &library));
    CUresult result =
        symbol->kind == SC_RT_MANAGED
            ? cuLibraryGetManaged(address, bytes, library, symbol->name)
            : cuLibraryGetGlobal(address, bytes, library, symbol->name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return cudaErrorInvalidSymbol;
    if (result == CUDA_SUCCESS)
        remember(symbol,
                 (struct sc_rt_bound){.address = *address, .bytes = *bytes});
    return SC_RT_DRIVER(result);
}
