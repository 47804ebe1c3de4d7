/*
 * Allocations of device memory: they become shared objects.
 *
 * What the runtime did not allocate (before it was up, through pools, managed)
 * belongs to the driver and is passed on. An allocation made in stream order
 * stays the driver's: its lifetime is known to the stream only. Under
 * ADSM_ADDRESS=adopt all do, until the CPU touches them (device/adopt.h).
 */
#include "base/log.h"
#include "base/option.h"
#include "base/status.h"
#include "interpose/cuda/capture.h"
#include "interpose/cuda/driver.h"
#include "interpose/cuda/graph.h"
#include "interpose/cuda/pointer.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/result.h"
#include "interpose/cuda/work.h"
#include "interpose/device/adopt.h"
#include "interpose/device/outside.h"
#include "mm/heap/heap.h"
#include "mm/heap/life.h"
#include "mm/heap/shortage.h"
#include "mm/object/holders.h"

static CUresult alloc(struct adsm_accel *accel, CUdeviceptr *device,
                      size_t bytes)
{
    void *host;
    /* Too many to be rounded up; to the driver it is merely too many. */
    if (bytes > PTRDIFF_MAX)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = cuda_context_health();
    if (result)
        return result;
    hook_enter();
    int status = adsm_heap_alloc(accel, bytes, &adsm_kind_driver, &host);
    if (status == ADSM_E_DEVICE_NOMEM)
        adsm_shortage_tell(accel, bytes);
    hook_leave();
    if (!status) {
        *device = (CUdeviceptr)host;
        cuda_pointer_made(*device);
    }
    return cuda_result("an allocation of device memory", status);
}

/* The driver's own allocation. Return: `result`, its answer */
static CUresult came(CUresult result, const CUdeviceptr *device, size_t bytes)
{
    if (result == CUDA_SUCCESS)
        device_came(*device, bytes);
    return result;
}

CUresult cuMemAlloc_v2(CUdeviceptr *device, size_t bytes)
{
    struct adsm_accel *accel = NULL;
    /* What the driver refuses, it refuses with its own words. */
    if (device && bytes) {
        CUresult result = cuda_accel_serving(&accel);
        if (result)
            return result;
    }
    return accel
               ? alloc(accel, device, bytes)
               : came(CUDA_CALL(cuMemAlloc_v2, (device, bytes)), device, bytes);
}

/* Copies, or arrays that move, give their memory to the driver. */
static bool make_room(struct adsm_accel *accel, size_t bytes)
{
    hook_enter();
    bool made = adsm_holders_make_room(accel, bytes);
    hook_leave();
    return made;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *device, size_t *pitch, size_t width,
                            size_t height, unsigned element_bytes)
{
    struct adsm_accel *accel = NULL;
    CUresult result = CUDA_SUCCESS;
    size_t bytes;
    if (device && pitch && width && height)
        result = cuda_accel_serving(&accel);
    if (result)
        return result;
    if (!accel) {
        result = CUDA_CALL(cuMemAllocPitch_v2,
                           (device, pitch, width, height, element_bytes));
        return came(result, device, result ? 0 : *pitch * height);
    }
    /* The pitch is the driver's choice: ask for one row. */
    CUdeviceptr row;
    do
        result = CUDA_CALL(cuMemAllocPitch_v2,
                           (&row, pitch, width, 1, element_bytes));
    while (result == CUDA_ERROR_OUT_OF_MEMORY && make_room(accel, width));
    if (result)
        return result;
    CUDA_CALL(cuMemFree_v2, (row));
    if (__builtin_mul_overflow(*pitch, height, &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    return alloc(accel, device, bytes);
}

static CUresult release(CUdeviceptr device)
{
    CUresult result = cuda_context_health();
    if (result)
        return result;
    hook_enter();
    int status = adsm_heap_free((void *)device);
    hook_leave();
    return cuda_result("freeing device memory", status);
}

/* Did it come from here? */
static bool is_allocated(CUdeviceptr device)
{
    return !hook_passes() && adsm_index_find((const void *)device) &&
           adsm_adopt_has_other(device);
}

/* The driver's own, which other processes may have used. */
static CUresult freed(CUresult result, CUdeviceptr device)
{
    if (result == CUDA_SUCCESS)
        device_outside_freed(device);
    return result;
}

CUresult cuMemFree_v2(CUdeviceptr device)
{
    return is_allocated(device)
               ? release(device)
               : freed(CUDA_GIVES(device_goes(device), cuMemFree_v2, (device)),
                       device);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes,
                                 CUdeviceptr device)
{
    void *host;
    size_t size;
    if (hook_passes() || !device_is_ours(device))
        return CUDA_CALL(cuMemGetAddressRange_v2, (base, bytes, device));
    /* The driver may know memory there; the program's allocation is gone. */
    if (adsm_heap_range((const void *)device, &host, &size) != ADSM_OK)
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = (CUdeviceptr)host;
    if (bytes)
        *bytes = size;
    return CUDA_SUCCESS;
}

static void say_unshared(void)
{
    if (device_adopts())
        return;
    /* It may be the first that the library hears of: what is to be printed is
     * an option. */
    hook_enter();
    adsm_options_load();
    hook_leave();
    adsm_log_once(ADSM_LOG_INFO, "memory of cuMemAllocAsync is not shared with "
                                 "the CPU; cuMemAlloc's is");
}

/* The same in the order of a stream, which may be recorded. */
static CUresult came_in(CUresult result, const CUdeviceptr *device,
                        size_t bytes, struct device_order order)
{
    if (result == CUDA_SUCCESS)
        cuda_graph_memory_if(*device, bytes, order.stream);
    return came(result, device, bytes);
}

CUresult cuMemAllocAsync(CUdeviceptr *device, size_t bytes, CUstream stream)
{
    say_unshared();
    return came_in(CUDA_CALL(cuMemAllocAsync, (device, bytes, stream)), device,
                   bytes, cuda_order(stream, false));
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *device, size_t bytes,
                              CUstream stream)
{
    say_unshared();
    return came_in(CUDA_CALL(cuMemAllocAsync_ptsz, (device, bytes, stream)),
                   device, bytes, cuda_order(stream, true));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *device, size_t bytes,
                                 CUmemoryPool pool, CUstream stream)
{
    say_unshared();
    return came_in(
        CUDA_CALL(cuMemAllocFromPoolAsync, (device, bytes, pool, stream)),
        device, bytes, cuda_order(stream, false));
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *device, size_t bytes,
                                      CUmemoryPool pool, CUstream stream)
{
    say_unshared();
    return came_in(
        CUDA_CALL(cuMemAllocFromPoolAsync_ptsz, (device, bytes, pool, stream)),
        device, bytes, cuda_order(stream, true));
}

/* Memory of cuMemAlloc may be freed in stream order too: after the stream. */
static CUresult release_after(CUdeviceptr device, struct device_order order)
{
    CUresult result = cuda_driver_wait(order.stream);
    return result ? result : release(device);
}

/* A free that is recorded takes nothing away yet. */
static struct device_going goes_in(CUdeviceptr device,
                                   struct device_order order)
{
    return hook_unlikely(cuda_captures_now()) && cuda_is_capturing(order.stream)
               ? device_range_goes(device, 1)
               : device_goes(device);
}

CUresult cuMemFreeAsync(CUdeviceptr device, CUstream stream)
{
    if (!is_allocated(device))
        return freed(CUDA_GIVES(goes_in(device, cuda_order(stream, false)),
                                cuMemFreeAsync, (device, stream)),
                     device);
    return release_after(device, cuda_order(stream, false));
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr device, CUstream stream)
{
    if (!is_allocated(device))
        return freed(CUDA_GIVES(goes_in(device, cuda_order(stream, true)),
                                cuMemFreeAsync_ptsz, (device, stream)),
                     device);
    return release_after(device, cuda_order(stream, true));
}
