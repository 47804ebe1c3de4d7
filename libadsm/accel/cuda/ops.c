/*
 * The CUDA back end: devices, contexts, streams, events and copies.
 *
 * Each entry of the table is one driver call inside ADSM_CUDA's frame. Copies
 * of boxes and between devices are in copy.c, memory and address ranges in
 * memory.c, code in code.c. No lock.
 */
#include "accel/cuda/call.h"
#include "accel/error.h"
#include "base/clock.h"
#include "os/fault.h"
#include "os/real.h"

#include <dlfcn.h>
#include <string.h>

/* Handles cross this layer as void pointers and numbers. */
static adsm_cu_stream of_stream(adsm_stream stream)
{
    return (adsm_cu_stream)stream;
}

static int start(int *devices)
{
    int status = adsm_cuda_api_load();
    if (status == ADSM_OK)
        status = ADSM_CUDA(NULL, Init, 0);
    if (status == ADSM_OK)
        status = ADSM_CUDA(NULL, DeviceGetCount, devices);
    if (status == ADSM_OK && *devices < 1)
        return adsm_accel_fail(ADSM_E_NO_DEVICE,
                               "the CUDA driver finds no device", NULL);
    return status == ADSM_OK ? ADSM_OK : ADSM_E_NO_DEVICE;
}

static void driver(struct adsm_driver *driver)
{
    const struct adsm_cuda_api *cu = adsm_cuda_api();
    Dl_info about;
    if (cu->DriverGetVersion)
        (void)ADSM_CUDA(NULL, DriverGetVersion, &driver->version);
    driver->looks_up = adsm_cuda_api_symbol("cuGetProcAddress") ||
                       adsm_cuda_api_symbol("cuGetProcAddress_v2");
    if (adsm_real()->dladdr((void *)cu->Init, &about) && about.dli_fname)
        strncpy(driver->path, about.dli_fname, sizeof driver->path - 1);
}

static int describe(int ordinal, char *name, size_t name_bytes,
                    size_t *total_bytes)
{
    adsm_cu_device device;
    int status = ADSM_CUDA(NULL, DeviceGet, &device, ordinal);
    if (status == ADSM_OK && name && name_bytes > 0)
        status = ADSM_CUDA(NULL, DeviceGetName, name, (int)name_bytes, device);
    if (status == ADSM_OK && total_bytes)
        status = ADSM_CUDA(NULL, DeviceTotalMem, total_bytes, device);
    return status;
}

static int context_primary(int ordinal, void **context)
{
    adsm_cu_device device;
    int status = ADSM_CUDA(NULL, DeviceGet, &device, ordinal);
    if (status == ADSM_OK)
        status = ADSM_CUDA(NULL, DevicePrimaryCtxRetain,
                           (adsm_cu_context *)context, device);
    return status;
}

static void context_release(int ordinal)
{
    adsm_cu_device device;
    /* Failing means that the driver is gone already, at exit. */
    if (ADSM_CUDA(NULL, DeviceGet, &device, ordinal) == ADSM_OK)
        (void)ADSM_CUDA(NULL, DevicePrimaryCtxRelease, device);
}

static int context_current(void **context, int *ordinal)
{
    int status = ADSM_CUDA(NULL, CtxGetCurrent, (adsm_cu_context *)context);
    if (status != ADSM_OK)
        return status;
    if (!*context)
        return adsm_accel_fail(
            ADSM_E_INVALID, "no CUDA context is current in this thread", NULL);
    return ADSM_CUDA(NULL, CtxGetDevice, ordinal);
}

static int context_wait(struct adsm_accel *accel)
{
    struct adsm_cuda_visit visit;
    int status = adsm_cuda_enter(&visit, accel);
    if (status != ADSM_OK)
        return status;
    uint64_t opened = adsm_cuda_wait_begin();
    adsm_cu_result result = adsm_cuda_api()->CtxSynchronize();
    adsm_cuda_wait_end(opened);
    return adsm_cuda_leave(&visit, "CtxSynchronize", result);
}

static int stream_create(struct adsm_accel *accel, adsm_stream *stream)
{
    return ADSM_CUDA(accel, StreamCreate, (adsm_cu_stream *)stream,
                     ADSM_CU_STREAM_NON_BLOCKING);
}

static int stream_destroy(struct adsm_accel *accel, adsm_stream stream)
{
    return ADSM_CUDA(accel, StreamDestroy, of_stream(stream));
}

static int stream_order(struct adsm_accel *accel, adsm_stream stream,
                        adsm_device_event event)
{
    return ADSM_CUDA(accel, StreamWaitEvent, of_stream(stream),
                     (adsm_cu_event)event, 0);
}

static int event_create(struct adsm_accel *accel, adsm_device_event *event)
{
    return ADSM_CUDA(accel, EventCreate, (adsm_cu_event *)event,
                     ADSM_CU_EVENT_DISABLE_TIMING |
                         ADSM_CU_EVENT_BLOCKING_SYNC);
}

static int event_destroy(struct adsm_accel *accel, adsm_device_event event)
{
    return ADSM_CUDA(accel, EventDestroy, (adsm_cu_event)event);
}

static int event_create_timed(struct adsm_accel *accel,
                              adsm_device_event *event)
{
    return ADSM_CUDA(accel, EventCreate, (adsm_cu_event *)event,
                     ADSM_CU_EVENT_BLOCKING_SYNC);
}

static int event_elapsed(struct adsm_accel *accel, adsm_device_event begin,
                         adsm_device_event end, uint64_t *ns)
{
    float ms = 0;
    if (!adsm_cuda_api()->EventElapsedTime)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the driver has no cuEventElapsedTime", NULL);
    int status = ADSM_CUDA(accel, EventElapsedTime, &ms, (adsm_cu_event)begin,
                           (adsm_cu_event)end);
    *ns = status == ADSM_OK && ms > 0 ? (uint64_t)((double)ms * 1e6) : 0;
    return status;
}

static int event_record(struct adsm_accel *accel, adsm_device_event event,
                        adsm_stream stream)
{
    return ADSM_CUDA(accel, EventRecord, (adsm_cu_event)event,
                     of_stream(stream));
}

static int event_query(struct adsm_accel *accel, adsm_device_event event,
                       bool *reached)
{
    struct adsm_cuda_visit visit;
    *reached = false;
    int status = adsm_cuda_enter(&visit, accel);
    if (status != ADSM_OK)
        return status;
    adsm_cu_result result = adsm_cuda_api()->EventQuery((adsm_cu_event)event);
    *reached = result == ADSM_CU_SUCCESS;
    if (result == ADSM_CU_NOT_READY)
        result = ADSM_CU_SUCCESS;
    return adsm_cuda_leave(&visit, "EventQuery", result);
}

static int event_wait(struct adsm_accel *accel, adsm_device_event event,
                      uint64_t spin_ns)
{
    struct adsm_cuda_visit visit;
    int status = adsm_cuda_enter(&visit, accel);
    if (status != ADSM_OK)
        return status;
    const struct adsm_cuda_api *cu = adsm_cuda_api();
    adsm_cu_result result = ADSM_CU_NOT_READY;
    uint64_t end = spin_ns ? adsm_now_ns() + spin_ns : 0;
    while (spin_ns && result == ADSM_CU_NOT_READY && adsm_now_ns() < end)
        result = cu->EventQuery((adsm_cu_event)event);
    if (result == ADSM_CU_NOT_READY) {
        uint64_t opened = adsm_cuda_wait_begin();
        result = cu->EventSynchronize((adsm_cu_event)event);
        adsm_cuda_wait_end(opened);
    }
    return adsm_cuda_leave(&visit, "EventSynchronize", result);
}

static int host_call(struct adsm_accel *accel, adsm_stream stream,
                     void (*call)(void *arg), void *arg)
{
    if (!adsm_cuda_api()->LaunchHostFunc)
        return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                               "the driver has no cuLaunchHostFunc", NULL);
    return ADSM_CUDA(accel, LaunchHostFunc, of_stream(stream), call, arg);
}

static int copy_up(struct adsm_accel *accel, adsm_stream stream,
                   struct adsm_daddr to, const void *from, size_t bytes)
{
    return ADSM_CUDA(accel, MemcpyHtoDAsync, to.at, from, bytes,
                     of_stream(stream));
}

static int copy_down(struct adsm_accel *accel, adsm_stream stream, void *to,
                     struct adsm_daddr from, size_t bytes)
{
    return ADSM_CUDA(accel, MemcpyDtoHAsync, to, from.at, bytes,
                     of_stream(stream));
}

static int copy_down_now(struct adsm_accel *accel, void *to,
                         struct adsm_daddr from, size_t bytes)
{
    if (!adsm_cuda_api()->MemcpyDtoH)
        return ADSM_E_UNSUPPORTED;
    return ADSM_CUDA(accel, MemcpyDtoH, to, from.at, bytes);
}

static int copy_device(struct adsm_accel *accel, adsm_stream stream,
                       struct adsm_daddr to, struct adsm_daddr from,
                       size_t bytes)
{
    return ADSM_CUDA(accel, MemcpyDtoDAsync, to.at, from.at, bytes,
                     of_stream(stream));
}

static int set_device(struct adsm_accel *accel, adsm_stream stream,
                      struct adsm_daddr to, uint8_t value, size_t bytes)
{
    return ADSM_CUDA(accel, MemsetD8Async, to.at, value, bytes,
                     of_stream(stream));
}

static int fill_device(struct adsm_accel *accel, adsm_stream stream,
                       struct adsm_daddr to, uint32_t value, unsigned width,
                       size_t count)
{
    const struct adsm_cuda_api *cu = adsm_cuda_api();
    if (width == 2 && cu->MemsetD16Async)
        return ADSM_CUDA(accel, MemsetD16Async, to.at, (unsigned short)value,
                         count, of_stream(stream));
    if (width == 4 && cu->MemsetD32Async)
        return ADSM_CUDA(accel, MemsetD32Async, to.at, value, count,
                         of_stream(stream));
    return ADSM_E_UNSUPPORTED;
}

static int visit(struct adsm_accel *accel, void (*call)(void *arg), void *arg)
{
    struct adsm_cuda_visit visit;
    int rc = adsm_cuda_enter(&visit, accel);
    if (rc != ADSM_OK)
        return rc;
    call(arg);
    return adsm_cuda_leave(&visit, "CtxPopCurrent", ADSM_CU_SUCCESS);
}

const struct adsm_accel_ops adsm_cuda_ops = {
    .stream_legacy = ADSM_CU_STREAM_LEGACY,
    .stream_per_thread = ADSM_CU_STREAM_PER_THREAD,
    .start = start,
    .driver = driver,
    .describe = describe,
    .context_primary = context_primary,
    .context_current = context_current,
    .context_release = context_release,
    .context_wait = context_wait,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_order = stream_order,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_create_timed = event_create_timed,
    .event_elapsed = event_elapsed,
    .event_record = event_record,
    .event_query = event_query,
    .event_wait = event_wait,
    .copy_up = copy_up,
    .copy_down = copy_down,
    .copy_down_now = copy_down_now,
    .copy_device = copy_device,
    .set_device = set_device,
    .visit = visit,
    .fill_device = fill_device,
    .copy_up_rect = adsm_cuda_copy_up_rect,
    .copy_down_rect = adsm_cuda_copy_down_rect,
    .copy_device_rect = adsm_cuda_copy_device_rect,
    .peer_can = adsm_cuda_peer_can,
    .copy_peer = adsm_cuda_copy_peer,
    .copy_peer_rect = adsm_cuda_copy_peer_rect,
    .host_call = host_call,
    .host_pin = adsm_cuda_host_pin,
    .host_unpin = adsm_cuda_host_unpin,
    .memory_alloc = adsm_cuda_memory_alloc,
    .memory_free = adsm_cuda_memory_free,
    .memory_info = adsm_cuda_memory_info,
    .memory_is_managed = adsm_cuda_memory_is_managed,
    .memory_find = adsm_cuda_memory_find,

    .direct_probe = adsm_cuda_direct_probe,
    .direct_alloc = adsm_cuda_direct_alloc,
    .direct_free = adsm_cuda_direct_free,
    .range_granule = adsm_cuda_range_granule,
    .range_reserve = adsm_cuda_range_reserve,
    .range_free = adsm_cuda_range_free,
    .range_map = adsm_cuda_range_map,
    .range_unmap = adsm_cuda_range_unmap,
    .range_open = adsm_cuda_range_open,
    .piece_create = adsm_cuda_piece_create,
    .piece_free = adsm_cuda_piece_free,
    .pieces_map = adsm_cuda_pieces_map,
    .pieces_unmap = adsm_cuda_pieces_unmap,
    .module_load = adsm_cuda_module_load,
    .module_unload = adsm_cuda_module_unload,
    .kernel_get = adsm_cuda_kernel_get,
    .kernel_parameter = adsm_cuda_kernel_parameter,
    .launch = adsm_cuda_launch,
};
