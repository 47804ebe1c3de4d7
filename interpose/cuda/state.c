/*
 * The hooks' view of the runtime.
 *
 * Every failure of ours becomes a result of CUDA; a runtime that cannot be
 * brought up is said once and then leaves the program alone.
 */
#include "interpose/cuda/state.h"
#include "accel/address/address.h"
#include "accel/dma.h"
#include "base/log.h"
#include "base/option.h"
#include "base/stats.h"
#include "base/status.h"
#include "interpose/cuda/driver.h"
#include "interpose/cuda/module.h"
#include "interpose/cuda/params.h"
#include "interpose/signals/mask.h"
#include "libadsm/init.h"
#include "mm/direct.h"
#include "mm/heap.h"
#include "mm/residence.h"

static _Atomic bool capture_seen;
static _Atomic bool fault_seen;

bool cuda_is_serving(void)
{
    return !hook_passes() && adsm_heap_count() > 0;
}

static bool is_up(void)
{
    mask_start();
    int status = adsm_init();
    if (status)
        adsm_log_once(
            ADSM_LOG_ERROR, "not started, the program runs without it: %s",
            *adsm_accel_why() ? adsm_accel_why() : adsm_status_text(status));
    return status == ADSM_OK;
}

/* The accel of the current context, made if it has none. What may be there the
 * next time is a result; without the rest the program goes on by itself. */
static CUresult open_current(struct adsm_accel **accel)
{
    const char *why = "";
    int status = adsm_accel_of_current(accel);
    if (status == ADSM_OK)
        status = adsm_address_choose(*accel);
    if (status == ADSM_OK) {
        if (adsm_address_strategy(*accel, &why) != ADSM_TRANSLATE)
            return CUDA_SUCCESS;
        adsm_log_once(ADSM_LOG_WARN,
                      "device pointers cannot be host pointers here, "
                      "allocations are not shared: %s",
                      why);
    }
    *accel = NULL;
    bool short_of = status == ADSM_E_NOMEM || status == ADSM_E_LIMIT ||
                    status == ADSM_E_DEVICE_NOMEM;
    if (status)
        adsm_log_once(ADSM_LOG_ERROR, "%s: %s",
                      short_of ? "this context gets no shared memory for now"
                               : "this context runs without shared memory",
                      adsm_accel_error_text());
    return short_of ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuda_accel_serving(struct adsm_accel **accel)
{
    CUresult result = CUDA_SUCCESS;
    *accel = NULL;
    if (hook_passes() || !cuda_driver_context())
        return CUDA_SUCCESS;
    hook_enter();
    if (is_up())
        result = open_current(accel);
    hook_leave();
    return result;
}

struct adsm_accel *cuda_accel_current(void)
{
    CUcontext context = cuda_driver_context();
    return context ? adsm_accel_of_context(context) : NULL;
}

bool cuda_is_ours(CUdeviceptr address)
{
    return adsm_index_find((const void *)address) ||
           adsm_address_is_reserved(address);
}

CUdeviceptr cuda_device_address(CUdeviceptr address)
{
    struct adsm_daddr device;
    return adsm_heap_device((const void *)address, &device) == ADSM_OK
               ? device.at
               : address;
}

static CUresult result_of(int status)
{
    CUresult result;
    switch (status) {
    case ADSM_OK:
        return CUDA_SUCCESS;
    case ADSM_E_INVALID:
    case ADSM_E_NOT_SHARED:
        return CUDA_ERROR_INVALID_VALUE;
    case ADSM_E_NOMEM:
    case ADSM_E_DEVICE_NOMEM:
    case ADSM_E_LIMIT:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case ADSM_E_NO_DEVICE:
        return CUDA_ERROR_NO_DEVICE;
    case ADSM_E_UNSUPPORTED:
        return CUDA_ERROR_NOT_SUPPORTED;
    case ADSM_E_SYSTEM:
        return CUDA_ERROR_OPERATING_SYSTEM;
    case ADSM_E_FORKED:
        return CUDA_ERROR_NOT_INITIALIZED;
    default:
        /* The driver knows better what happened to the device. */
        result = cuda_driver_synchronize();
        return result ? result : CUDA_ERROR_UNKNOWN;
    }
}

CUresult cuda_result(const char *what, int status)
{
    CUresult result = result_of(status);
    if (status && status != ADSM_E_DEVICE_NOMEM && status != ADSM_E_NOT_SHARED)
        adsm_log_once(ADSM_LOG_ERROR, "%s: %s", what, adsm_status_text(status));
    return result;
}

CUresult cuda_seen(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
        atomic_store_explicit(&fault_seen, true, memory_order_relaxed);
    }
    return result;
}

CUresult cuda_context_health(void)
{
    return hook_likely(!atomic_load_explicit(&fault_seen, memory_order_relaxed))
               ? CUDA_SUCCESS
               : cuda_driver_synchronize();
}

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

bool cuda_captures(void)
{
    return atomic_load_explicit(&capture_seen, memory_order_relaxed);
}

bool cuda_is_capturing(CUstream stream)
{
    return cuda_captures() && cuda_driver_is_capturing(stream);
}

void cuda_capture_seen(void)
{
    atomic_store_explicit(&capture_seen, true, memory_order_relaxed);
}

struct cuda_parting cuda_context_part(CUcontext context)
{
    struct cuda_parting parting = {NULL, context};
    cuda_params_forget();
    if (context && !hook_passes())
        parting.accel = adsm_accel_of_context(context);
    if (!parting.accel)
        return parting;
    hook_enter();
    adsm_heap_withdraw(parting.accel);
    (void)adsm_accel_detach(parting.accel);
    hook_leave();
    return parting;
}

/* Does the context live on? Other failures are those of its work. */
static bool is_refusal(CUresult result)
{
    return result == CUDA_ERROR_INVALID_VALUE ||
           result == CUDA_ERROR_INVALID_CONTEXT ||
           result == CUDA_ERROR_INVALID_DEVICE ||
           result == CUDA_ERROR_NOT_PERMITTED;
}

CUresult cuda_context_parted(struct cuda_parting parting, CUresult result)
{
    if (result == CUDA_SUCCESS)
        cuda_module_forget();
    if (!parting.accel)
        return result;
    if (is_refusal(result)) {
        adsm_accel_attach(parting.accel, parting.context);
        return result;
    }
    hook_enter();
    adsm_accel_end(parting.accel);
    adsm_heap_forget(parting.accel);
    adsm_accel_forget(parting.accel);
    hook_leave();
    return result;
}
