/*
 * The CUDA back end: modules, kernels, launches.
 */
#include "accel/cuda/call.h"
#include "accel/error.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 4096 };

/* What a module needs may not be allocated while a stream of the program records
 * its work, unless the calling thread says that it knows. Return: as it was */
static int exchange_capture_mode(int mode)
{
    const struct adsm_cuda_api *cu = adsm_cuda_api();
    if (cu->ThreadExchangeStreamCaptureMode)
        (void)cu->ThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

/* Load with the driver's log; the log's text becomes the error text. */
static int load_logged(struct adsm_accel *accel, const void *image, char *log,
                       adsm_cu_module *module)
{
    int names[] = {ADSM_CU_JIT_ERROR_LOG_BUFFER,
                   ADSM_CU_JIT_ERROR_LOG_BUFFER_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG_BYTES};
    struct adsm_cuda_visit visit;
    int status = adsm_cuda_enter(&visit, accel);
    if (status != ADSM_OK)
        return status;
    int mode = exchange_capture_mode(ADSM_CU_CAPTURE_RELAXED);
    adsm_cu_result result = adsm_cuda_api()->ModuleLoadDataEx(
        module, image, sizeof names / sizeof *names, names, values);
    (void)exchange_capture_mode(mode);
    /* Here this means the image, not an argument of ours. */
    if (result == ADSM_CU_INVALID_VALUE)
        result = ADSM_CU_INVALID_IMAGE;
    status = adsm_cuda_leave(&visit, "ModuleLoadDataEx", result);
    log[LOG_BYTES - 1] = '\0';
    if (status != ADSM_OK && log[0]) {
        char kept[160];
        strncpy(kept, adsm_accel_error_text(), sizeof kept - 1);
        kept[sizeof kept - 1] = '\0';
        adsm_accel_fail(status, kept, ": ", log, NULL);
    }
    return status;
}

/* PTX is text that the driver reads up to a zero; the rest knows its size. */
static bool is_text(const void *image, size_t bytes)
{
    static const uint32_t binary[] = {0x464c457f, 0xba55ed50, 0x466243b1};
    uint32_t magic;
    if (bytes < sizeof magic)
        return bytes > 0;
    memcpy(&magic, image, sizeof magic);
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (magic == binary[i])
            return false;
    return true;
}

int adsm_cuda_module_load(struct adsm_accel *accel, const void *image,
                          size_t bytes, void **module)
{
    char *text = NULL;
    char *log = calloc(1, LOG_BYTES);
    if (log && is_text(image, bytes)) {
        text = malloc(bytes + 1);
        if (text) {
            memcpy(text, image, bytes);
            text[bytes] = '\0';
        }
    }
    int status;
    if (!log || (is_text(image, bytes) && !text))
        status =
            adsm_accel_fail(ADSM_E_NOMEM, "no memory to load a module", NULL);
    else
        status = load_logged(accel, text ? text : image, log,
                             (adsm_cu_module *)module);
    free(text);
    free(log);
    return status;
}

int adsm_cuda_module_unload(struct adsm_accel *accel, void *module)
{
    return ADSM_CUDA(accel, ModuleUnload, (adsm_cu_module)module);
}

int adsm_cuda_kernel_get(struct adsm_accel *accel, void *module,
                         const char *name, void **kernel)
{
    int status = ADSM_CUDA(accel, ModuleGetFunction, (adsm_cu_function *)kernel,
                           (adsm_cu_module)module, name);
    if (status == ADSM_E_NOT_FOUND)
        return adsm_accel_fail(status,
                               "the module has none of that name (names of "
                               "C++ are mangled unless extern \"C\")",
                               NULL);
    return status;
}

int adsm_cuda_kernel_parameter(struct adsm_accel *accel, void *kernel,
                               unsigned index, size_t *offset, size_t *bytes)
{
    const struct adsm_cuda_api *cu = adsm_cuda_api();
    if (!cu->FuncGetParamInfo)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the driver cannot tell a kernel's parameters",
                               NULL);
    struct adsm_cuda_visit visit;
    int status = adsm_cuda_enter(&visit, accel);
    if (status != ADSM_OK)
        return status;
    adsm_cu_result result =
        cu->FuncGetParamInfo((adsm_cu_function)kernel, index, offset, bytes);
    /* Past the last parameter drivers answer "invalid value". */
    if (result == ADSM_CU_INVALID_VALUE)
        result = ADSM_CU_NOT_FOUND;
    return adsm_cuda_leave(&visit, "FuncGetParamInfo", result);
}

int adsm_cuda_launch(struct adsm_accel *accel, const struct adsm_launch *launch)
{
    const unsigned *grid = launch->grid, *block = launch->block;
    struct adsm_cuda_visit visit;
    int status = adsm_cuda_enter(&visit, accel);
    if (status != ADSM_OK)
        return status;
    adsm_cu_result result = adsm_cuda_api()->LaunchKernel(
        (adsm_cu_function)launch->kernel, grid[0], grid[1], grid[2], block[0],
        block[1], block[2], launch->shared_bytes,
        (adsm_cu_stream)launch->stream, launch->values, launch->packed);
    status = adsm_cuda_leave(&visit, "LaunchKernel", result);
    return result == ADSM_CU_INVALID_VALUE ? ADSM_E_INVALID : status;
}
