/*
 * Device memory that several processes use: handed out, and got from others.
 *
 * It stays the driver's until the CPU touches it, as all does under
 * ADSM_ADDRESS=adopt; device/outside.h says what holds from then on. Otherwise
 * calls for memory of the runtime's are refused, and the rest is not shared.
 */
#include "base/log.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/result.h"
#include "interpose/device/adopt.h"
#include "interpose/device/outside.h"

/* The allocation around an address, as the driver has it. */
static bool find(CUdeviceptr at, CUdeviceptr *begin, size_t *bytes)
{
    return CUDA_CALL(cuMemGetAddressRange_v2, (begin, bytes, at)) ==
           CUDA_SUCCESS;
}

/* From here on others see what the CPU has written so far. */
static CUresult yield(void)
{
    if (!device_is_serving())
        return CUDA_SUCCESS;
    hook_enter();
    int status = device_outside_seen();
    hook_leave();
    return cuda_result("memory for another process", status);
}

/* The driver did it. Return: its answer, or what failed behind it */
static CUresult given(CUresult result, CUdeviceptr at)
{
    CUdeviceptr begin;
    size_t bytes;
    if (result != CUDA_SUCCESS || !device_adopts() || !find(at, &begin, &bytes))
        return result;
    device_outside(begin, bytes, false);
    return yield();
}

/* What the driver gave for it is at *at. */
static CUresult got(CUresult result, const CUdeviceptr *at)
{
    CUdeviceptr begin;
    size_t bytes;
    if (result != CUDA_SUCCESS || !device_adopts())
        return result;
    if (find(*at, &begin, &bytes)) {
        device_outside(*at, bytes - (*at - begin), true);
        device_came(*at, bytes - (*at - begin));
    } else {
        adsm_log_once(ADSM_LOG_WARN,
                      "the driver does not say how much memory of another "
                      "process it has opened: it is not shared with the CPU");
    }
    return result;
}

CUresult cuIpcGetMemHandle(void *handle, CUdeviceptr at)
{
    if (!hook_passes() && device_is_ours(at)) {
        adsm_log_once(ADSM_LOG_WARN, "cuIpcGetMemHandle is not supported for "
                                     "memory that the CPU shares");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return given(CUDA_CALL(cuIpcGetMemHandle, (handle, at)), at);
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *at, struct cuda_ipc_handle handle,
                            unsigned flags)
{
    return got(CUDA_CALL(cuIpcOpenMemHandle, (at, handle, flags)), at);
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *at, struct cuda_ipc_handle handle,
                               unsigned flags)
{
    return got(CUDA_CALL(cuIpcOpenMemHandle_v2, (at, handle, flags)), at);
}

/* The memory goes on: what the CPU has written belongs to it. */
CUresult cuIpcCloseMemHandle(CUdeviceptr at)
{
    CUresult result =
        CUDA_GIVES(device_range_goes(at, 1), cuIpcCloseMemHandle, (at));
    if (result == CUDA_SUCCESS)
        device_outside_closed(at);
    return result;
}

CUresult cuMemPoolExportPointer(void *data, CUdeviceptr at)
{
    return given(CUDA_CALL(cuMemPoolExportPointer, (data, at)), at);
}

CUresult cuMemPoolImportPointer(CUdeviceptr *at, CUmemoryPool pool, void *data)
{
    return got(CUDA_CALL(cuMemPoolImportPointer, (at, pool, data)), at);
}

/* A handle may be mapped, or has been, wherever. */

static CUresult mapped_by_others(CUresult result)
{
    if (result != CUDA_SUCCESS || !device_adopts())
        return result;
    device_outside_any();
    return yield();
}

CUresult cuMemExportToShareableHandle(void *shareable, uint64_t handle,
                                      int type, unsigned long long flags)
{
    return mapped_by_others(CUDA_CALL(cuMemExportToShareableHandle,
                                      (shareable, handle, type, flags)));
}

CUresult cuMemImportFromShareableHandle(uint64_t *handle, void *shareable,
                                        int type)
{
    return mapped_by_others(
        CUDA_CALL(cuMemImportFromShareableHandle, (handle, shareable, type)));
}
