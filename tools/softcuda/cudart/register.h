/*
 * What compiled host code registers: images of device code, and the host
 * addresses that stand for their kernels and variables.
 *
 * Registered at program start and by dlopen; loaded into the driver when a
 * symbol is first used.  Records are never freed, so look-ups take no lock.
 */
#ifndef SOFTCUDA_CUDART_REGISTER_H
#define SOFTCUDA_CUDART_REGISTER_H

#include <pthread.h>
#include <stdatomic.h>

#include "cudart/rt.h"

enum sc_rt_kind {
    SC_RT_FUNCTION,
    SC_RT_VARIABLE,
    SC_RT_MANAGED,
    SC_RT_TEXTURE,
    SC_RT_SURFACE
};

/* One __cudaRegisterFatBinary. */
struct sc_rt_image {
    const void *wrapper;
    pthread_mutex_t lock;         /* around loading */
    _Atomic(CUlibrary) library;   /* NULL until loaded */
    _Atomic bool dead;            /* unregistered */
    struct sc_rt_symbol *managed; /* register lock */
};

/* What a symbol is in one context; immutable, the newest first. */
struct sc_rt_bound {
    CUcontext ctx;
    uint64_t epoch;
    CUfunction function;
    CUdeviceptr address;
    size_t bytes;
    struct sc_rt_bound *next;
};

struct sc_rt_symbol {
    enum sc_rt_kind kind;
    const void *host;
    const char *name;
    struct sc_rt_image *image;
    size_t bytes;
    void **pointer; /* managed: the host's pointer to it */
    _Atomic(struct sc_rt_bound *) bound;
    struct sc_rt_symbol *next_managed;
    _Atomic(struct sc_rt_symbol *) next; /* same hash */
};

/**
 * The newest live symbol registered for a host address.
 *
 * @host address; @kinds bit set of 1 << enum sc_rt_kind
 * Return: NULL when there is none
 * Thread: any
 */
struct sc_rt_symbol *sc_rt_find(const void *host, unsigned kinds);

/**
 * Let a host address stand for a symbol that has one already.
 *
 * Return: false when memory is short
 * Thread: any
 */
bool sc_rt_alias(const void *host, struct sc_rt_symbol *symbol);

/**
 * Load the image of a symbol, once.
 *
 * @library receives it
 * Return: cudaSuccess, what the driver said of the image
 * Thread: any, after sc_rt_enter
 */
cudaError_t sc_rt_load(struct sc_rt_image *image, CUlibrary *library);

/**
 * The kernel behind what programs pass as a function: a host address, a
 * cudaKernel_t or a cudaFunction_t.
 *
 * @function receives it, for the current context
 * Return: cudaSuccess, cudaErrorInvalidDeviceFunction, what loading said
 * Thread: any, after sc_rt_enter
 */
cudaError_t sc_rt_function(const void *func, CUfunction *function);

/**
 * Forget what sc_rt_function found for this address in any context.
 *
 * Thread: any
 */
void sc_rt_function_forget(const void *func);

/**
 * The device address of a registered variable in the current context.
 *
 * @symbol host address of the variable; @address, @bytes receive it
 * Return: cudaSuccess, cudaErrorInvalidSymbol, what loading said
 * Thread: any, after sc_rt_enter
 */
cudaError_t sc_rt_variable(const void *symbol, CUdeviceptr *address,
                           size_t *bytes);

#endif
