/*
 * Owns: the linker's entry points: PTX joined to one text, which is what its
 * "cubin" is here.
 * Does not own: the joining (joint.c), what the text means (the device).
 * Lock: none; a link state belongs to one thread at a time, as on hardware.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/handle.h"
#include "driver/image.h"
#include "ptx/joint.h"
#include "ptx/provided.h"
#include "driver/module.h"

struct CUlinkState_st {
    struct sc_joint joint;
    struct sc_text text; /* the result */
    struct sc_jit_log log;
};

static CUresult check(CUlinkState state)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    return sc_handle_is(state, SC_HANDLE_LINK) ? CUDA_SUCCESS
                                               : CUDA_ERROR_INVALID_HANDLE;
}

SC_API cuLinkCreate(unsigned int numOptions, CUjit_option *options,
                    void **optionValues, CUlinkState *stateOut)
{
    CUcontext ctx;
    SC_TRY(sc_enter_context(&ctx));
    if (!stateOut || (numOptions && (!options || !optionValues)))
        return CUDA_ERROR_INVALID_VALUE;
    CUlinkState state = calloc(1, sizeof *state);
    if (!state || !sc_handle_add(state, SC_HANDLE_LINK)) {
        free(state);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sc_jit_log_read(&state->log, numOptions, options, optionValues);
    *stateOut = state;
    return CUDA_SUCCESS;
}

static CUresult fail(CUlinkState state, CUresult result, const char *why)
{
    sc_jit_log_error(&state->log, "link refused", why);
    return result;
}

static CUresult add_text(CUlinkState state, const char *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(text, data, size);
    text[size] = '\0';
    bool ok = sc_joint_add(&state->joint, text);
    free(text);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult add_image(CUlinkState state, const void *data)
{
    char why[256];
    struct sc_text text;
    CUresult result = sc_image_find(data, &text, why, sizeof why);
    if (result != CUDA_SUCCESS)
        return fail(state, result, why);
    bool ok = sc_joint_add(&state->joint, text.text);
    free(text.text);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Options of single inputs only tune code generation. */
SC_API cuLinkAddData(CUlinkState state, CUjitInputType type, void *data,
                     size_t size, const char *name, unsigned int numOptions,
                     CUjit_option *options, void **optionValues)
{
    (void)name;
    (void)numOptions;
    (void)options;
    (void)optionValues;
    SC_TRY(check(state));
    if (!data || size == 0 || state->text.text)
        return CUDA_ERROR_INVALID_VALUE;
    switch ((int)type) {
    case CU_JIT_INPUT_PTX:
        return add_text(state, data, size);
    case CU_JIT_INPUT_FATBINARY:
        return size < 16 ? CUDA_ERROR_INVALID_IMAGE : add_image(state, data);
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_NVVM:
        return fail(state, CUDA_ERROR_NO_BINARY_FOR_GPU,
                    "only PTX can be linked, not machine code, objects, "
                    "libraries or NVVM; compile with nvcc -ptx");
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

SC_API cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                     unsigned int numOptions, CUjit_option *options,
                     void **optionValues)
{
    SC_TRY(check(state));
    FILE *file = path ? fopen(path, "rbe") : NULL;
    if (!file)
        return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_ERROR_INVALID_IMAGE;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *data = size > 0 ? malloc((size_t)size) : NULL;
    rewind(file);
    if (data && fread(data, 1, (size_t)size, file) == (size_t)size)
        result = cuLinkAddData(state, type, data, (size_t)size, path,
                               numOptions, options, optionValues);
    free(data);
    fclose(file);
    return result;
}

SC_API cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    char name[100], why[256];
    SC_TRY(check(state));
    if (!cubinOut || state->joint.count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    bool first = !state->text.text;
    if (first && !sc_joint_finish(&state->joint, &state->text))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (sc_joint_missing(&state->joint, name, sizeof name)) {
        snprintf(why, sizeof why,
                 sc_is_device_runtime(name) ? SC_DEVICE_RUNTIME_REFUSED
                                            : "'%s' is defined nowhere",
                 name);
        return fail(state, CUDA_ERROR_INVALID_IMAGE, why);
    }
    if (first) {
        snprintf(why, sizeof why,
                 "%zu texts of PTX joined, to be compiled when they run",
                 (size_t)state->joint.count);
        sc_jit_log_info(&state->log, why);
    }
    *cubinOut = state->text.text;
    if (sizeOut)
        *sizeOut = state->text.bytes + 1;
    return CUDA_SUCCESS;
}

/* What was linked lives as long as the state. */
SC_API cuLinkDestroy(CUlinkState state)
{
    SC_TRY(check(state));
    sc_handle_remove(state);
    sc_joint_fini(&state->joint);
    free(state->text.text);
    free(state);
    return CUDA_SUCCESS;
}
