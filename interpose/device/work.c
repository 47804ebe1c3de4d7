/* Ranges of the program's work made current and held; see work.h. */
#include "interpose/device/work.h"

#include "accel/dma.h"
#include "base/option.h"
#include "base/trace.h"
#include "interpose/hook.h"
#include "mm/doors/turn.h"
#include "mm/state/direct.h"
#include "mm/heap/heap.h"
#include "mm/object/holders.h"
#include "mm/object/movable.h"

static bool is_recorded(const struct device_work *work)
{
    return work->order.driver->records(work->order.stream);
}

static int await(const struct device_work *work)
{
    return work->order.driver->wait(work->order.stream);
}

/* Every lock by itself would change the mask of signals, and change it back. */
static void begin_quiet(struct device_work *work)
{
    if (work->quiet || work->abroad)
        return;
    adsm_quiet_enter();
    work->quiet = true;
}

/* Nothing is held any more. */
static void leave(struct device_work *work)
{
    for (int i = 0; i < 2; i++)
        adsm_object_unpin(&work->pinned[i]);
    if (!work->quiet)
        return;
    work->quiet = false;
    adsm_quiet_leave();
}

int device_bring(struct device_work *work, uint64_t one, uint64_t other)
{
    if (work->brought || hook_likely(!adsm_options_get()->oversubscribe))
        return ADSM_OK;
    work->brought = true;
    if (adsm_turn_is_mine() || is_recorded(work))
        return ADSM_OK;
    hook_enter();
    int status =
        adsm_holders_pin((const void *)one, (const void *)other, work->pinned);
    hook_leave();
    return status;
}

/* What goes out of an allocation the driver refuses; of ours it may know more
 * memory there than the allocation has. The work has ended if it does. */
static bool goes_out(struct device_work *work, uint64_t address, size_t bytes)
{
    void *base;
    size_t has;
    bool out = adsm_heap_range((const void *)address, &base, &has) != ADSM_OK ||
               bytes > has - (size_t)(address - (uint64_t)base);
    if (out)
        leave(work);
    return out;
}

/* Remember whose object it is. Return: false when it is none, or when nothing
 * runs now: a captured copy is seen to when its graph is launched. */
static bool enter(struct device_work *work, uint64_t address)
{
    struct adsm_object *object = adsm_index_find((const void *)address);
    if (!object || adsm_turn_is_mine() || is_recorded(work))
        return false;
    work->accel = object->home;
    work->abroad = object->home != work->order.driver->current();
    work->foreign |= work->abroad;
    begin_quiet(work);
    if (work->start == 0)
        work->start = adsm_trace_begin();
    return true;
}

/* The work's stream cannot be made to wait for another context's lanes by its
 * handle alone: wait for them here. */
static int settle(const struct device_work *work)
{
    return work->abroad ? adsm_dma_drain(work->accel) : ADSM_OK;
}

int device_enter_read(struct device_work *work, uint64_t address, size_t bytes)
{
    const void *host = (const void *)address;
    adsm_stream stream = work->order.stream;
    int brought = bytes ? device_bring(work, address, 0) : ADSM_OK;
    if (brought || !bytes || !enter(work, address))
        return brought;
    if (goes_out(work, address, bytes))
        return ADSM_E_NOT_SHARED;
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
    return status;
}

/* The driver may wait in the call for what is ahead in the stream. A host
 * function there may need the object that is held meanwhile. */
static int await_functions(const struct device_work *work, uint64_t address)
{
    if (hook_likely(!adsm_turn_is_expected()) || !work->host ||
        !adsm_index_find((const void *)address) || adsm_turn_is_mine() ||
        is_recorded(work) || work->order.driver->knows(work->host))
        return ADSM_OK;
    return await(work);
}

/* Hold [address, +extent), of which the work overwrites the first `bytes`;
 * where that is not all, the rest keeps its value on whichever side it is. */
static int hold(struct device_work *work, uint64_t address, size_t bytes,
                size_t extent)
{
    int brought = bytes ? device_bring(work, address, 0) : ADSM_OK;
    if (!brought && bytes)
        brought = await_functions(work, address);
    if (brought || !bytes || !enter(work, address))
        return brought;
    if (goes_out(work, address, extent))
        return ADSM_E_NOT_SHARED;
    work->written_bytes = bytes;
    hook_enter();
    const void *host = (const void *)address;
    adsm_stream stream = work->order.stream;
    int status = adsm_boundary_device_write(host, bytes, stream, &work->write,
                                            ADSM_CAUSE(own));
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
    return status;
}

int device_enter_write(struct device_work *work, uint64_t address, size_t bytes)
{
    return hold(work, address, bytes, bytes);
}

static bool rows_are_none(const struct device_rows *rows)
{
    return !rows->bytes || !rows->count || !rows->layers;
}

static size_t rows_bytes(const struct device_rows *rows)
{
    return rows->bytes * rows->count * rows->layers;
}

/* More than any allocation has where it does not fit into a number. */
static size_t rows_extent(const struct device_rows *rows)
{
    size_t layers, count, bytes;
    if (__builtin_mul_overflow(rows->layers - 1, rows->layer_pitch, &layers) ||
        __builtin_mul_overflow(rows->count - 1, rows->pitch, &count) ||
        __builtin_add_overflow(layers, count, &bytes) ||
        __builtin_add_overflow(bytes, rows->bytes, &bytes))
        return SIZE_MAX;
    return bytes;
}

static bool rows_are_dense(const struct device_rows *rows)
{
    size_t layer = rows->count == 1 ? rows->bytes : rows->pitch * rows->count;
    return (rows->count == 1 || rows->pitch == rows->bytes) &&
           (rows->layers == 1 || rows->layer_pitch == layer);
}

int device_enter_read_rows(struct device_work *work,
                           const struct device_rows *rows)
{
    if (rows_are_none(rows))
        return ADSM_OK;
    int status = device_enter_read(work, rows->first, rows_extent(rows));
    if (work->read_bytes)
        work->read_bytes = rows_bytes(rows);
    return status;
}

int device_enter_write_rows(struct device_work *work,
                            const struct device_rows *rows)
{
    if (rows_are_none(rows))
        return ADSM_OK;
    size_t extent = rows_extent(rows);
    size_t covered = rows_are_dense(rows) ? extent : rows->bytes;
    int status = hold(work, rows->first, covered, extent);
    if (work->written_bytes)
        work->written_bytes = rows_bytes(rows);
    return status;
}

/* What the program copies by itself counts like what the runtime copies. */
static void count(const struct device_work *work)
{
    if (work->is_set)
        return;
    enum adsm_way way = work->read_bytes && work->written_bytes
                            ? ADSM_WAY_DEVICE
                        : work->written_bytes ? ADSM_WAY_UP
                                              : ADSM_WAY_DOWN;
    adsm_trace_moved(way, "copy", work->start, adsm_accel_device(work->accel),
                     work->written_bytes ? work->written_bytes
                                         : work->read_bytes,
                     ADSM_CAUSE(own));
}

int device_done(struct device_work *work, bool taken)
{
    int status = ADSM_OK;
    if (!work->accel)
        return status;
    hook_enter();
    if (taken && !work->foreign)
        adsm_lane_note(work->accel, work->order.stream, work->order.per_thread);
    /* An object of one context in work of another: there is no lane of the
     * first to note it on, so wait here. */
    if (taken && work->foreign)
        status = await(work);
    adsm_boundary_device_written(&work->write);
    if (taken && !status && adsm_direct_any_is_open() && !work->foreign)
        status = await(work);
    if (taken && !status)
        count(work);
    hook_leave();
    leave(work);
    return status;
}
