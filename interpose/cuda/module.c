/*
 * Modules and functions of the program; see cuda_module.h.
 *
 * Handles are the driver's: a handle that is met again belongs to something
 * new, and what was known under it goes.
 */
#include "interpose/cuda/module.h"

#include "base/lock.h"
#include "interpose/cuda/params.h"
#include "interpose/cuda/resolve.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct known_module {
    CUmodule handle;
    struct sc_program *program;
    UT_hash_handle hh;
};

struct known_function {
    CUfunction handle;
    CUmodule of;
    const struct sc_program_kernel *kernel; /* NULL: not looked at yet       */
    UT_hash_handle hh;
    char name[];
};

static struct adsm_lock lock = ADSM_LOCK_INIT(ADSM_RANK_MODULE);
static struct known_module *modules;
static struct known_function *functions;

static void drop_module(struct known_module *module)
{
    HASH_DEL(modules, module);
    sc_program_free(module->program);
    free(module);
}

static void drop_function(struct known_function *function)
{
    HASH_DEL(functions, function);
    free(function);
}

/* NULL `of`: all. */
static void drop(CUmodule of)
{
    struct known_module *module, *next_module;
    HASH_ITER(hh, modules, module, next_module)
    {
        if (!of || module->handle == of)
            drop_module(module);
    }
    struct known_function *function, *next_function;
    HASH_ITER(hh, functions, function, next_function)
    {
        if (!of || function->of == of)
            drop_function(function);
    }
}

/* Machine code and fat binaries begin with other bytes. */
static bool is_text(const void *image)
{
    return image && hook_is_plain(image, 1) &&
           strchr("./ \t\r\n", *(const char *)image) && *(const char *)image;
}

static void note_module(CUmodule handle, struct sc_program *program)
{
    struct known_module *module = calloc(1, sizeof *module);
    adsm_lock_acquire(&lock);
    drop(handle);
    if (module) {
        *module = (struct known_module){.handle = handle, .program = program};
        HASH_ADD_PTR(modules, handle, module);
    }
    bool kept = module && module->hh.tbl;
    adsm_lock_release(&lock);
    if (!kept) {
        sc_program_free(program);
        free(module);
    }
}

/* The driver loaded `image`, with `result`. */
static CUresult loaded(CUresult result, const CUmodule *handle,
                       const void *image)
{
    if (result != CUDA_SUCCESS || hook_depth)
        return result;
    hook_enter();
    struct sc_program *program =
        is_text(image) ? sc_program_new(image, strlen(image)) : NULL;
    if (program)
        note_module(*handle, program);
    hook_leave();
    return result;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return loaded(CUDA_CALL(cuModuleLoadData, (module, image)), module, image);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            int *options, void **values)
{
    return loaded(
        CUDA_CALL(cuModuleLoadDataEx, (module, image, count, options, values)),
        module, image);
}

static void note_function(CUfunction handle, CUmodule of, const char *name)
{
    struct known_function *function;
    struct known_module *module;
    adsm_lock_acquire(&lock);
    HASH_FIND_PTR(functions, &handle, function);
    if (function)
        drop_function(function);
    HASH_FIND_PTR(modules, &of, module);
    function = module ? calloc(1, sizeof *function + strlen(name) + 1) : NULL;
    if (function) {
        function->handle = handle;
        function->of = of;
        strcpy(function->name, name);
        HASH_ADD_PTR(functions, handle, function);
        if (!function->hh.tbl)
            free(function);
    }
    adsm_lock_release(&lock);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name)
{
    CUresult result = CUDA_CALL(cuModuleGetFunction, (function, module, name));
    if (result == CUDA_SUCCESS && !hook_depth) {
        hook_enter();
        note_function(*function, module, name);
        hook_leave();
    }
    return result;
}

CUresult cuModuleUnload(CUmodule module)
{
    cuda_params_forget();
    CUresult result = CUDA_CALL_LONG(cuModuleUnload, (module));
    if (result == CUDA_SUCCESS) {
        adsm_lock_acquire(&lock);
        drop(module);
        adsm_lock_release(&lock);
    }
    return result;
}

CUresult cuLibraryUnload(CUlibrary library)
{
    cuda_params_forget();
    return CUDA_CALL_LONG(cuLibraryUnload, (library));
}

/* Its lock is held. NULL: nothing is known. */
static const struct sc_program_kernel *kernel_of(CUfunction handle)
{
    struct known_function *function;
    struct known_module *module = NULL;
    HASH_FIND_PTR(functions, &handle, function);
    if (!function || function->kernel)
        return function ? function->kernel : NULL;
    HASH_FIND_PTR(modules, &function->of, module);
    if (module)
        function->kernel = sc_program_kernel(module->program, function->name);
    const struct sc_program_kernel *kernel = function->kernel;
    if (!kernel)
        drop_function(function); /* nor will there be another time */
    return kernel;
}

bool cuda_module_reach(CUfunction handle, struct sc_reach *reach)
{
    hook_enter();
    adsm_lock_acquire(&lock);
    const struct sc_program_kernel *kernel = kernel_of(handle);
    if (kernel)
        *reach = *sc_program_reach(kernel);
    adsm_lock_release(&lock);
    hook_leave();
    return kernel != NULL;
}

void cuda_module_forget(void)
{
    adsm_lock_acquire(&lock);
    drop(NULL);
    adsm_lock_release(&lock);
}
