/*
 * The machine of the opcode suites on a CUDA driver: the same cases and
 * references on whatever device is there, hardware for one.
 *
 * The window is page-locked memory of the host, which kernels reach at its own
 * address, so nothing has to be copied. Owns it and the context, one per
 * process: a context does not survive fork, and tests run in children.
 */
#include "machine.h"

#include <check.h>
#include <cuda.h>
#include <stdio.h>
#include <string.h>

static uint8_t *window;
static size_t used;
static CUcontext context;
static char kernel_name[64]; /* of the module loaded last */

static void need(CUresult result, const char *call)
{
    const char *name = "an unknown error";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    ck_abort_msg("%s gave %s", call, name);
}

#define NEED(call) need(call, #call)

void machine_open(void)
{
    CUdevice device;
    NEED(cuInit(0));
    NEED(cuDeviceGet(&device, 0));
    NEED(cuDevicePrimaryCtxRetain(&context, device));
    NEED(cuCtxSetCurrent(context));
    NEED(cuMemHostAlloc((void **)&window, MACHINE_MAPPED,
                        CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    used = 0;
}

void machine_close(void)
{
    NEED(cuMemFreeHost(window));
}

void *machine_alloc(size_t bytes)
{
    size_t start = (used + 255) / 256 * 256;
    ck_assert_msg(bytes <= MACHINE_MAPPED && start <= MACHINE_MAPPED - bytes,
                  "test window is full");
    used = start + bytes;
    return memset(window + start, 0, bytes);
}

void machine_forget(void)
{
    used = 0;
}

enum sc_exec_status machine_load(struct sc_module **module, const char *ptx,
                                 char *log, size_t log_bytes)
{
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)log_bytes};
    const char *entry = strstr(ptx, ".entry ");
    if (!entry || sscanf(entry, ".entry %63[a-z_0-9]", kernel_name) != 1)
        ck_abort_msg("a module without a kernel: %s", ptx);
    if (cuModuleLoadDataEx((CUmodule *)module, ptx, 2, options, values) ==
        CUDA_SUCCESS)
        return SC_EXEC_OK;
    return strstr(log, "unsupported") ? SC_EXEC_UNSUPPORTED
                                      : SC_EXEC_INVALID_PTX;
}

enum sc_exec_status machine_launch(const struct sc_module *module,
                                   uint32_t ctas, uint32_t threads,
                                   const uint64_t *arguments, size_t count,
                                   struct sc_exec_fault *fault)
{
    CUfunction kernel;
    size_t bytes = count * sizeof *arguments;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)arguments,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    const char *name = "an unknown error";
    NEED(cuModuleGetFunction(&kernel, (CUmodule)module, kernel_name));
    CUresult result =
        cuLaunchKernel(kernel, ctas, 1, 1, threads, 1, 1, 0, NULL, NULL, extra);
    if (result == CUDA_SUCCESS)
        result = cuCtxSynchronize();
    if (result == CUDA_SUCCESS)
        return SC_EXEC_OK;
    cuGetErrorName(result, &name);
    snprintf(fault->text, sizeof fault->text, "%s", name);
    return SC_EXEC_ILLEGAL_ADDRESS;
}

/* The device of this project does. */
bool machine_keeps_guards(void)
{
    char name[256];
    machine_describe(name, sizeof name);
    return strstr(name, "softcuda") != NULL;
}

void machine_describe(char *text, size_t bytes)
{
    CUdevice device;
    int version;
    char name[128];
    NEED(cuDeviceGet(&device, 0));
    NEED(cuDeviceGetName(name, sizeof name, device));
    NEED(cuDriverGetVersion(&version));
    snprintf(text, bytes, "%s, a driver for CUDA %d.%d", name, version / 1000,
             version % 1000 / 10);
}

void machine_unload(struct sc_module *module)
{
    NEED(cuModuleUnload((CUmodule)module));
}
