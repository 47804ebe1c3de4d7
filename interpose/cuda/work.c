/* Ranges of the program's work made current and held; see work.h. */
#include "interpose/cuda/work.h"

#include "accel/dma.h"
#include "base/option.h"
#include "base/stats.h"
#include "interpose/cuda/capture.h"
#include "interpose/cuda/context.h"
#include "interpose/cuda/driver.h"
#include "interpose/cuda/result.h"
#include "mm/direct.h"
#include "mm/heap.h"
#include "mm/residence.h"

/* Every lock by itself would change the mask of signals, and change it back. */
static void begin_quiet(struct cuda_work *work)
{
    if (work->quiet || work->abroad)
        return;
    adsm_quiet_enter();
    work->quiet = true;
}

/* Nothing is held any more. */
static void leave(struct cuda_work *work)
{
    for (int i = 0; i < 2; i++)
        adsm_residence_unpin(&work->pinned[i]);
    if (!work->quiet)
        return;
    work->quiet = false;
    adsm_quiet_leave();
}

CUresult cuda_bring(struct cuda_work *work, CUdeviceptr one, CUdeviceptr other)
{
    if (work->brought || hook_likely(!adsm_options_get()->oversubscribe))
        return CUDA_SUCCESS;
    work->brought = true;
    if (adsm_turn_is_mine() || cuda_is_capturing(work->order.stream))
        return CUDA_SUCCESS;
    hook_enter();
    int status = adsm_residence_pin((const void *)one, (const void *)other,
                                    work->pinned);
    hook_leave();
    return cuda_result("a device copy of shared memory", status);
}

/* What goes out of an allocation the driver refuses; of ours it may know more
 * memory there than the allocation has. The work has ended if it does. */
static bool goes_out(struct cuda_work *work, CUdeviceptr address, size_t bytes)
{
    void *base;
    size_t has;
    bool out = adsm_heap_range((const void *)address, &base, &has) != ADSM_OK ||
               bytes > has - (size_t)(address - (CUdeviceptr)base);
    if (out)
        leave(work);
    return out;
}

/* Remember whose object it is. Return: false when it is none, or when nothing
 * runs now: a captured copy is seen to when its graph is launched. */
static bool enter(struct cuda_work *work, CUdeviceptr address)
{
    struct adsm_object *object = adsm_index_find((const void *)address);
    if (!object || adsm_turn_is_mine() || cuda_is_capturing(work->order.stream))
        return false;
    work->accel = object->home;
    work->abroad = object->home != cuda_accel_current();
    work->foreign |= work->abroad;
    begin_quiet(work);
    return true;
}

/* The work's stream cannot be made to wait for another context's lanes by its
 * handle alone: wait for them here. */
static int settle(const struct cuda_work *work)
{
    return work->abroad ? adsm_dma_drain(work->accel) : ADSM_OK;
}

CUresult cuda_read(struct cuda_work *work, CUdeviceptr address, size_t bytes)
{
    const void *host = (const void *)address;
    adsm_stream stream = work->order.stream;
    CUresult brought = bytes ? cuda_bring(work, address, 0) : CUDA_SUCCESS;
    if (brought || !bytes || !enter(work, address))
        return brought;
    if (goes_out(work, address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    work->read_bytes = bytes;
    hook_enter();
    /* What was flushed for an earlier call may still be on its way. */
    int status = adsm_boundary_is_far(host, bytes)
                     ? adsm_dma_order_uploads(work->accel, stream)
                     : adsm_boundary_device_read(host, bytes, stream);
    if (!status)
        status = settle(work);
    hook_leave();
    if (status)
        leave(work);
    return cuda_result("a device copy from shared memory", status);
}

/* Hold [address, +extent), of which the work overwrites the first `bytes`;
 * where that is not all, the rest keeps its value on whichever side it is. */
static CUresult hold(struct cuda_work *work, CUdeviceptr address, size_t bytes,
                     size_t extent)
{
    CUresult brought = bytes ? cuda_bring(work, address, 0) : CUDA_SUCCESS;
    if (brought || !bytes || !enter(work, address))
        return brought;
    if (goes_out(work, address, extent))
        return CUDA_ERROR_INVALID_VALUE;
    work->written_bytes = bytes;
    hook_enter();
    const void *host = (const void *)address;
    adsm_stream stream = work->order.stream;
    int status = adsm_boundary_device_write(host, bytes, stream, &work->write);
    if (!status && extent > bytes)
        status = adsm_boundary_device_write_parts(host, extent, stream,
                                                  &work->write);
    if (!status)
        status = settle(work);
    if (status)
        adsm_boundary_device_written(&work->write);
    hook_leave();
    if (status)
        leave(work);
    return cuda_result("a device copy to shared memory", status);
}

CUresult cuda_write(struct cuda_work *work, CUdeviceptr address, size_t bytes)
{
    return hold(work, address, bytes, bytes);
}

static bool rows_are_none(const struct cuda_rows *rows)
{
    return !rows->bytes || !rows->count || !rows->layers;
}

static size_t rows_bytes(const struct cuda_rows *rows)
{
    return rows->bytes * rows->count * rows->layers;
}

/* More than any allocation has where it does not fit into a number. */
static size_t rows_extent(const struct cuda_rows *rows)
{
    size_t layers, count, bytes;
    if (__builtin_mul_overflow(rows->layers - 1, rows->layer_pitch, &layers) ||
        __builtin_mul_overflow(rows->count - 1, rows->pitch, &count) ||
        __builtin_add_overflow(layers, count, &bytes) ||
        __builtin_add_overflow(bytes, rows->bytes, &bytes))
        return SIZE_MAX;
    return bytes;
}

static bool rows_are_dense(const struct cuda_rows *rows)
{
    size_t layer = rows->count == 1 ? rows->bytes : rows->pitch * rows->count;
    return (rows->count == 1 || rows->pitch == rows->bytes) &&
           (rows->layers == 1 || rows->layer_pitch == layer);
}

CUresult cuda_read_rows(struct cuda_work *work, const struct cuda_rows *rows)
{
    if (rows_are_none(rows))
        return CUDA_SUCCESS;
    CUresult result = cuda_read(work, rows->first, rows_extent(rows));
    if (work->read_bytes)
        work->read_bytes = rows_bytes(rows);
    return result;
}

CUresult cuda_write_rows(struct cuda_work *work, const struct cuda_rows *rows)
{
    if (rows_are_none(rows))
        return CUDA_SUCCESS;
    size_t extent = rows_extent(rows);
    size_t covered = rows_are_dense(rows) ? extent : rows->bytes;
    CUresult result = hold(work, rows->first, covered, extent);
    if (work->written_bytes)
        work->written_bytes = rows_bytes(rows);
    return result;
}

/* What the program copies by itself counts like what the runtime copies. */
static void count(const struct cuda_work *work)
{
    if (work->is_set)
        return;
    if (work->read_bytes && work->written_bytes)
        ADSM_COUNT(bytes_device, work->written_bytes);
    else if (work->written_bytes)
        ADSM_COUNT(bytes_up, work->written_bytes);
    else
        ADSM_COUNT(bytes_down, work->read_bytes);
}

/* The driver knows the addresses of page-locked memory, and of its own. */
static bool is_known(const void *address)
{
    enum { MEMORY_TYPE = 2 };
    unsigned type;
    return CUDA_CALL(cuPointerGetAttribute,
                     (&type, MEMORY_TYPE, (CUdeviceptr)address)) ==
           CUDA_SUCCESS;
}

uint64_t cuda_host_begin(const struct cuda_work *work, const void *host)
{
    return work->quiet && host && !is_known(host) ? adsm_quiet_wait_begin() : 0;
}

CUresult cuda_wait_ahead(struct cuda_order order)
{
    if (hook_unlikely(cuda_captures()))
        return CUDA_SUCCESS;
    return cuda_seen(cuda_driver_wait(order.stream));
}

CUresult cuda_done(struct cuda_work *work, CUresult result)
{
    cuda_seen(result);
    if (!work->accel)
        return result;
    hook_enter();
    if (!result && !work->foreign)
        adsm_lane_note(work->accel, work->order.stream, work->order.per_thread);
    /* An object of one context in work of another: there is no lane of the
     * first to note it on, so wait here. */
    if (!result && work->foreign)
        result = cuda_driver_wait(work->order.stream);
    adsm_boundary_device_written(&work->write);
    if (!result && adsm_direct_any_is_open() && !work->foreign)
        result = cuda_driver_wait(work->order.stream);
    if (!result)
        count(work);
    hook_leave();
    leave(work);
    return result;
}
