/*
 * Owns: the entry points of modules, libraries, functions and kernels.
 * Does not own: what they are (module.c), images (fatbin.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/entry.h"
#include "driver/handle.h"
#include "driver/image.h"
#include "driver/module.h"

static CUresult find_text(const void *image, struct sc_text *text,
                          struct sc_jit_log *log)
{
    char why[256];
    CUresult result = sc_image_find(image, text, why, sizeof why);
    if (result != CUDA_SUCCESS && *why)
        sc_jit_log_error(log, "module refused", why);
    return result;
}

static CUresult load(CUmodule *module, const void *image,
                     struct sc_jit_log *log)
{
    CUcontext ctx;
    struct sc_text text;
    SC_TRY(sc_enter_context(&ctx));
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(find_text(image, &text, log));
    CUresult result =
        sc_module_new(module, ctx, text.text, text.bytes, NULL, log);
    free(text.text);
    return result;
}

SC_API cuModuleLoadData(CUmodule *module, const void *image)
{
    return load(module, image, NULL);
}

SC_API cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return load(module, fatCubin, NULL);
}

SC_API cuModuleLoadDataEx(CUmodule *module, const void *image,
                          unsigned int numOptions, CUjit_option *options,
                          void **optionValues)
{
    struct sc_jit_log log;
    sc_jit_log_read(&log, numOptions, options, optionValues);
    return load(module, image, &log);
}

/* The file with a NUL behind it, as text needs; NULL with a status. */
static CUresult read_file(const char *name, char **content)
{
    FILE *file = name ? fopen(name, "rbe") : NULL;
    if (!file)
        return name ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_ERROR_INVALID_IMAGE;
    char *data = NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        data = size >= 0 ? calloc(1, (size_t)size + 8) : NULL;
        if (data && fread(data, 1, (size_t)size, file) == (size_t)size)
            result = CUDA_SUCCESS;
    }
    fclose(file);
    if (result != CUDA_SUCCESS) {
        free(data);
        data = NULL;
    }
    *content = data;
    return result;
}

SC_API cuModuleLoad(CUmodule *module, const char *fname)
{
    CUcontext ctx;
    char *content;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(read_file(fname, &content));
    CUresult result = load(module, content, NULL);
    free(content);
    return result;
}

static CUresult check(const void *handle, enum sc_handle_kind kind)
{
    SC_TRY(sc_enter());
    return sc_handle_is(handle, kind) ? CUDA_SUCCESS
                                      : CUDA_ERROR_INVALID_HANDLE;
}

SC_API cuModuleUnload(CUmodule hmod)
{
    SC_TRY(check(hmod, SC_HANDLE_MODULE));
    if (hmod->library) /* which unloads it */
        return CUDA_ERROR_NOT_PERMITTED;
    sc_module_destroy(hmod);
    return CUDA_SUCCESS;
}

SC_API cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    SC_TRY(sc_enter());
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

SC_API cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(check(hmod, SC_HANDLE_MODULE));
    if (!hfunc || !name)
        return CUDA_ERROR_INVALID_VALUE;
    *hfunc = sc_module_function(hmod, name);
    return *hfunc ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

SC_API cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    SC_TRY(check(mod, SC_HANDLE_MODULE));
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = mod->function_count;
    return CUDA_SUCCESS;
}

SC_API cuModuleEnumerateFunctions(CUfunction *functions,
                                  unsigned int numFunctions, CUmodule mod)
{
    SC_TRY(check(mod, SC_HANDLE_MODULE));
    if (!functions)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < numFunctions && i < mod->function_count; i++)
        functions[i] = &mod->functions[i];
    return CUDA_SUCCESS;
}

static CUresult get_global(CUdeviceptr *dptr, size_t *bytes, CUmodule module,
                           const char *name)
{
    if (!name || (!dptr && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    const struct sc_load_variable *v = sc_module_variable_of(module, name);
    if (!v)
        return CUDA_ERROR_NOT_FOUND;
    if (dptr)
        *dptr = v->address;
    if (bytes)
        *bytes = v->bytes;
    return CUDA_SUCCESS;
}

SC_API cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod,
                         const char *name)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(check(hmod, SC_HANDLE_MODULE));
    return get_global(dptr, bytes, hmod, name);
}

static CUresult new_library(CUlibrary *out, const void *image,
                            struct sc_jit_log *log)
{
    struct sc_text text;
    if (!out || !image)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(find_text(image, &text, log));
    CUlibrary library = calloc(1, sizeof *library);
    if (!library || !sc_handle_add(library, SC_HANDLE_LIBRARY)) {
        free(library);
        free(text.text);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    library->image = text.text;
    library->image_bytes = text.bytes;
    /* A library belongs to no context, but errors in it should show here. */
    CUcontext ctx;
    CUmodule module;
    if (sc_enter_context(&ctx) == CUDA_SUCCESS) {
        CUresult result =
            sc_module_new(&module, ctx, text.text, text.bytes, library, log);
        if (result != CUDA_SUCCESS) {
            sc_library_destroy(library);
            return result;
        }
    }
    *out = library;
    return CUDA_SUCCESS;
}

SC_API cuLibraryLoadData(CUlibrary *library, const void *code,
                         CUjit_option *jitOptions, void **jitOptionsValues,
                         unsigned int numJitOptions,
                         CUlibraryOption *libraryOptions,
                         void **libraryOptionValues,
                         unsigned int numLibraryOptions)
{
    (void)libraryOptions;
    (void)libraryOptionValues;
    (void)numLibraryOptions;
    SC_TRY(sc_enter());
    struct sc_jit_log log;
    sc_jit_log_read(&log, numJitOptions, jitOptions, jitOptionsValues);
    return new_library(library, code, &log);
}

SC_API cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                             CUjit_option *jitOptions, void **jitOptionsValues,
                             unsigned int numJitOptions,
                             CUlibraryOption *libraryOptions,
                             void **libraryOptionValues,
                             unsigned int numLibraryOptions)
{
    char *content;
    SC_TRY(sc_enter());
    SC_TRY(read_file(fileName, &content));
    CUresult result = cuLibraryLoadData(
        library, content, jitOptions, jitOptionsValues, numJitOptions,
        libraryOptions, libraryOptionValues, numLibraryOptions);
    free(content);
    return result;
}

SC_API cuLibraryUnload(CUlibrary library)
{
    SC_TRY(check(library, SC_HANDLE_LIBRARY));
    sc_library_destroy(library);
    return CUDA_SUCCESS;
}

static CUresult module_here(CUlibrary library, CUmodule *module)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    SC_TRY(check(library, SC_HANDLE_LIBRARY));
    return sc_library_module(library, ctx, module);
}

SC_API cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    return pMod ? module_here(library, pMod) : CUDA_ERROR_INVALID_VALUE;
}

SC_API cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library,
                          const char *name)
{
    CUmodule module;
    if (!pKernel || !name)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(module_here(library, &module));
    if (!sc_module_function(module, name))
        return CUDA_ERROR_NOT_FOUND;
    *pKernel = sc_library_kernel(library, name);
    return *pKernel ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SC_API cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    CUmodule module;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(module_here(lib, &module));
    *count = module->function_count;
    return CUDA_SUCCESS;
}

SC_API cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels,
                                 CUlibrary lib)
{
    CUmodule module;
    if (!kernels)
        return CUDA_ERROR_INVALID_VALUE;
    SC_TRY(module_here(lib, &module));
    for (unsigned i = 0; i < numKernels && i < module->function_count; i++)
        kernels[i] = sc_library_kernel(lib, module->functions[i].name);
    return CUDA_SUCCESS;
}

SC_API cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                          const char *name)
{
    CUmodule module;
    SC_TRY(module_here(library, &module));
    return get_global(dptr, bytes, module, name);
}

SC_API cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                           const char *name)
{
    CUmodule module;
    SC_TRY(module_here(library, &module));
    const struct sc_load_variable *v =
        name ? sc_module_variable_of(module, name) : NULL;
    if (name && (!v || !v->managed))
        return CUDA_ERROR_NOT_FOUND;
    return get_global(dptr, bytes, module, name);
}

/* Devices have no functions that host code could call. */
SC_API cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library,
                                   const char *symbol)
{
    SC_TRY(check(library, SC_HANDLE_LIBRARY));
    return fptr && symbol ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
}
