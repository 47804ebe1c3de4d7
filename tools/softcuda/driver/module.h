/*
 * Code: modules, functions, libraries and kernels.
 */
#ifndef SOFTCUDA_DRIVER_MODULE_H
#define SOFTCUDA_DRIVER_MODULE_H

#include "base/protocol.h"
#include "driver/driver.h"
#include "driver/jit_log.h"

struct sc_kernel_stats;

struct CUfunc_st {
    CUmodule module;
    const char *name;
    const struct sc_load_kernel *info; /* both inside the module's answer */
    const struct sc_load_param *params;
    uint32_t index;
    int dynamic_shared_limit;
    int carveout;
    struct sc_kernel_stats *stats;
    struct sc_prepared *prepared; /* launch_old.c; NULL until it is used */
};

/** A module in one context; fixed after its load. */
struct CUmod_st {
    struct CUmod_st *next; /* module lock */
    CUcontext ctx;
    CUlibrary library;   /* that loaded it, or NULL */
    uint64_t number;     /* in commands */
    uint32_t target;     /* capability its PTX was made for */
    uint64_t heap_bytes; /* variable storage it was charged for */
    uint8_t *answer;     /* of the device: tables and names */
    struct CUfunc_st *functions;
    uint32_t function_count;
    const struct sc_load_variable *variables;
    uint32_t variable_count;
    const char *names;
};

struct CUkern_st {
    struct CUkern_st *next;
    CUlibrary library;
    char *name;
};

struct CUlib_st {
    char *image; /* PTX text */
    size_t image_bytes;
    struct CUkern_st *kernels; /* module lock */
};

/**
 * Load PTX text into a context.
 *
 * @library NULL or the library on whose behalf; @log may be NULL
 * Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_PTX, CUDA_ERROR_OUT_OF_MEMORY,
 *         CUDA_ERROR_DEVICE_UNAVAILABLE
 * Thread: any, no lock held
 */
CUresult sc_module_new(CUmodule *module, CUcontext ctx, const char *text,
                       size_t bytes, CUlibrary library, struct sc_jit_log *log);

/** Unload; waits for the device first. Thread: any, no lock held. */
void sc_module_destroy(CUmodule module);

/** Unload every module of a context that ends. */
void sc_module_free_context(CUcontext ctx);

/** Function by name, NULL if there is none. Thread: any. */
CUfunction sc_module_function(CUmodule module, const char *name);

/** Variable by name, NULL if there is none. Thread: any. */
const struct sc_load_variable *sc_module_variable_of(CUmodule module,
                                                     const char *name);

/** Blocks of so many threads and bytes of dynamic shared memory that one
 *  multiprocessor holds at a time; 0: it cannot run. Thread: any. */
unsigned sc_occupancy_blocks(const struct CUfunc_st *f, unsigned threads,
                             size_t dynamic);

/** The library's module in a context, loaded on first use. */
CUresult sc_library_module(CUlibrary library, CUcontext ctx, CUmodule *module);

/** Free a library with its kernels and modules. */
void sc_library_destroy(CUlibrary library);

/** Kernel handle of a library by name, made on first use.
 *  Return: NULL when memory ran out. */
CUkernel sc_library_kernel(CUlibrary library, const char *name);

/**
 * Function behind a launch handle, which may be a CUkernel.
 *
 * Return: CUDA_SUCCESS, CUDA_ERROR_INVALID_HANDLE, or what the load says
 */
CUresult sc_function_resolve(CUfunction handle, CUcontext ctx,
                             CUfunction *function);

#endif
