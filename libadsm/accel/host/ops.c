/*
 * The CPU back end: one device that is the cores of the host, whose streams and
 * threads are in queue.c. It needs no driver.
 */
#include "accel/host/ops.h"

#include "accel/error.h"
#include "accel/host/queue.h"
#include "accel/launched.h"
#include "base/pool.h"

#include <stdio.h>
#include <string.h>

struct event {
    struct adsm_host_point point;
    _Atomic uint64_t time; /* of one that keeps it */
    bool timed;
};

static struct adsm_pool events = ADSM_POOL_INIT(sizeof(struct event), 8);

#define LEGACY     ((adsm_stream)1)
#define PER_THREAD ((adsm_stream)2)

struct adsm_host_stream *adsm_host_stream_of(adsm_stream handle)
{
    return !handle || handle == LEGACY || handle == PER_THREAD
               ? adsm_host_default()
               : handle;
}

static int start(int *devices)
{
    *devices = 1;
    return ADSM_OK;
}

static void driver(struct adsm_driver *driver)
{
    strncpy(driver->path, "none: kernels run on the CPU",
            sizeof driver->path - 1);
}

static int describe(int ordinal, char *name, size_t name_bytes,
                    size_t *total_bytes)
{
    size_t free_bytes;
    (void)ordinal;
    if (name && name_bytes > 0)
        snprintf(name, name_bytes, "CPU, %d threads", adsm_host_threads());
    return total_bytes ? adsm_host_memory_info(NULL, &free_bytes, total_bytes)
                       : ADSM_OK;
}

static int context_primary(int ordinal, void **context)
{
    static char only;
    (void)ordinal;
    *context = &only;
    return adsm_host_start();
}

static int context_current(void **context, int *ordinal)
{
    (void)context;
    (void)ordinal;
    return adsm_accel_fail(ADSM_E_NO_DEVICE,
                           "ADSM_DEVICES=cpu is for programs that call adsm.h: "
                           "CUDA calls have no device",
                           NULL);
}

static void context_release(int ordinal)
{
    (void)ordinal;
}

static int context_wait(struct adsm_accel *accel)
{
    int rc = adsm_accel_usable(accel);
    if (rc == ADSM_OK)
        adsm_host_await_all();
    return rc;
}

/* ---- streams and events --------------------------------------------------- */

static int stream_create(struct adsm_accel *accel, adsm_stream *stream)
{
    int rc = adsm_accel_usable(accel);
    if (rc != ADSM_OK)
        return rc;
    *stream = adsm_host_stream_make();
    return *stream
               ? ADSM_OK
               : adsm_accel_fail(ADSM_E_NOMEM, "no memory for a stream", NULL);
}

static int stream_destroy(struct adsm_accel *accel, adsm_stream stream)
{
    int rc = adsm_accel_usable(accel);
    if (rc == ADSM_OK)
        adsm_host_stream_end(adsm_host_stream_of(stream));
    return rc;
}

static int stream_order(struct adsm_accel *accel, adsm_stream stream,
                        adsm_device_event event)
{
    const struct event *it = event;
    int rc = adsm_accel_usable(accel);
    struct adsm_host_job job = {.what = ADSM_HOST_AWAIT, .await = it->point};
    if (rc == ADSM_OK && !adsm_host_reached(it->point))
        adsm_host_submit(adsm_host_stream_of(stream), &job);
    return rc;
}

static int make_event(struct adsm_accel *accel, bool timed,
                      adsm_device_event *event)
{
    int rc = adsm_accel_usable(accel);
    if (rc != ADSM_OK)
        return rc;
    struct event *it = adsm_pool_get(&events);
    *event = it;
    if (!it)
        return adsm_accel_fail(ADSM_E_NOMEM, "no memory for an event", NULL);
    it->point = (struct adsm_host_point){NULL, 0};
    it->timed = timed;
    return ADSM_OK;
}

static int event_create(struct adsm_accel *accel, adsm_device_event *event)
{
    return make_event(accel, false, event);
}

static int event_create_timed(struct adsm_accel *accel,
                              adsm_device_event *event)
{
    return make_event(accel, true, event);
}

/* One that keeps the time gets it yet: it is not another's before. */
static int event_destroy(struct adsm_accel *accel, adsm_device_event event)
{
    struct event *it = event;
    int rc = adsm_accel_usable(accel);
    if (rc != ADSM_OK)
        return rc;
    if (it->timed)
        adsm_host_await(it->point, 0);
    adsm_pool_put(&events, it);
    return ADSM_OK;
}

static int event_record(struct adsm_accel *accel, adsm_device_event event,
                        adsm_stream handle)
{
    struct event *it = event;
    struct adsm_host_stream *stream = adsm_host_stream_of(handle);
    int rc = adsm_accel_usable(accel);
    if (rc != ADSM_OK)
        return rc;
    if (it->timed) {
        struct adsm_host_job job = {.what = ADSM_HOST_TIME, .time = &it->time};
        adsm_host_submit(stream, &job);
    }
    it->point = adsm_host_given(stream);
    return ADSM_OK;
}

static int event_elapsed(struct adsm_accel *accel, adsm_device_event begin,
                         adsm_device_event end, uint64_t *ns)
{
    const struct event *from = begin, *to = end;
    *ns = atomic_load(&to->time) - atomic_load(&from->time);
    return adsm_accel_usable(accel);
}

static int event_query(struct adsm_accel *accel, adsm_device_event event,
                       bool *reached)
{
    const struct event *it = event;
    *reached = adsm_host_reached(it->point);
    return adsm_accel_usable(accel);
}

static int event_wait(struct adsm_accel *accel, adsm_device_event event,
                      uint64_t spin_ns)
{
    const struct event *it = event;
    int rc = adsm_accel_usable(accel);
    if (rc == ADSM_OK)
        adsm_host_await(it->point, spin_ns);
    return rc;
}

static int host_call(struct adsm_accel *accel, adsm_stream stream,
                     void (*call)(void *arg), void *arg)
{
    int rc = adsm_accel_usable(accel);
    struct adsm_host_job job = {.what = ADSM_HOST_CALL, .call = {call, arg}};
    if (rc == ADSM_OK)
        adsm_host_submit(adsm_host_stream_of(stream), &job);
    return rc;
}

/* ---- what it has not ------------------------------------------------------ */

static int peer_can(int ordinal, int other, bool *can)
{
    (void)ordinal;
    (void)other;
    *can = false;
    return ADSM_OK;
}

/* All of the host's memory is as good as page-locked. */
static int host_pin(struct adsm_accel *accel, void *at, size_t bytes,
                    bool *owned)
{
    (void)at;
    (void)bytes;
    *owned = true;
    return adsm_accel_usable(accel);
}

static int host_unpin(struct adsm_accel *accel, void *at)
{
    (void)at;
    return adsm_accel_usable(accel);
}

static bool memory_is_managed(struct adsm_accel *accel, struct adsm_daddr at)
{
    (void)accel;
    (void)at;
    return false;
}

static int memory_find(struct adsm_daddr at, struct adsm_memory *memory)
{
    (void)at;
    (void)memory;
    return adsm_accel_fail(ADSM_E_NOT_FOUND, "the CPU alone has memory there",
                           NULL);
}

static int direct_probe(struct adsm_accel *accel, bool asked)
{
    (void)asked;
    return adsm_accel_usable(accel);
}

static int range_granule(struct adsm_accel *accel, size_t *bytes)
{
    (void)accel;
    (void)bytes;
    return adsm_accel_fail(ADSM_E_UNSUPPORTED,
                           "the CPU has no memory but the host's", NULL);
}

const struct adsm_accel_ops adsm_host_ops = {
    .stream_legacy = LEGACY,
    .stream_per_thread = PER_THREAD,
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
    .copy_up = adsm_host_copy_up,
    .copy_up_rect = adsm_host_copy_up_rect,
    .copy_down = adsm_host_copy_down,
    .copy_down_rect = adsm_host_copy_down_rect,
    .copy_down_now = adsm_host_copy_down_now,
    .copy_device = adsm_host_copy_device,
    .copy_device_rect = adsm_host_copy_device_rect,
    .set_device = adsm_host_set_device,
    .fill_device = adsm_host_fill_device,
    .peer_can = peer_can,
    .host_call = host_call,
    .host_pin = host_pin,
    .host_unpin = host_unpin,
    .memory_alloc = adsm_host_memory_alloc,
    .memory_free = adsm_host_memory_free,
    .memory_info = adsm_host_memory_info,
    .memory_is_managed = memory_is_managed,
    .memory_find = memory_find,
    .direct_probe = direct_probe,
    .direct_alloc = adsm_host_direct_alloc,
    .direct_free = adsm_host_direct_free,
    .range_granule = range_granule,
    .module_load = adsm_host_module_load,
    .module_unload = adsm_host_module_unload,
    .kernel_get = adsm_host_kernel_get,
    .kernel_parameter = adsm_host_kernel_parameter,
    .launch = adsm_host_launch,
};
