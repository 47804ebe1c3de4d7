/*
 * The CPU back end: copies. As with a driver, host memory that is not page-locked
 * is read, or written, before the call returns.
 */
#include "accel/error.h"
#include "accel/host/ops.h"
#include "accel/host/queue.h"
#include "accel/launched.h"
#include "accel/pinned.h"

#include <stdlib.h>
#include <string.h>

static size_t span_of(const struct adsm_rect *rect, const size_t pitch[2])
{
    return (rect->planes - 1) * pitch[1] + (rect->rows - 1) * pitch[0] +
           rect->bytes;
}

static struct adsm_rect row_of(size_t bytes)
{
    return (struct adsm_rect){.bytes = bytes, .rows = 1, .planes = 1};
}

static void *at_of(struct adsm_daddr at)
{
    return (void *)(uintptr_t)at.at;
}

static int copy(struct adsm_accel *accel, adsm_stream stream, void *to,
                const void *from, const struct adsm_rect *rect, void *buffer)
{
    int rc = adsm_accel_usable(accel);
    struct adsm_host_job job = {
        .what = ADSM_HOST_COPY,
        .copy = {.to = to,
                 .from = from,
                 .bytes = rect->bytes,
                 .rows = rect->rows,
                 .planes = rect->planes,
                 .to_pitch = {rect->to_pitch[0], rect->to_pitch[1]},
                 .from_pitch = {rect->from_pitch[0], rect->from_pitch[1]},
                 .buffer = buffer}};
    if (rc == ADSM_OK)
        adsm_host_submit(adsm_host_stream_of(stream), &job);
    else
        free(buffer);
    return rc;
}

int adsm_host_copy_up_rect(struct adsm_accel *accel, adsm_stream stream,
                           struct adsm_daddr to, const void *from,
                           const struct adsm_rect *rect)
{
    size_t bytes = span_of(rect, rect->from_pitch);
    void *buffer = NULL;
    if (!adsm_pinned_has(accel, from, bytes)) {
        buffer = malloc(bytes);
        if (!buffer)
            return adsm_accel_fail(ADSM_E_NOMEM, "no memory for a copy", NULL);
        from = memcpy(buffer, from, bytes);
    }
    return copy(accel, stream, at_of(to), from, rect, buffer);
}

int adsm_host_copy_up(struct adsm_accel *accel, adsm_stream stream,
                      struct adsm_daddr to, const void *from, size_t bytes)
{
    struct adsm_rect row = row_of(bytes);
    return adsm_host_copy_up_rect(accel, stream, to, from, &row);
}

int adsm_host_copy_down_rect(struct adsm_accel *accel, adsm_stream stream,
                             void *to, struct adsm_daddr from,
                             const struct adsm_rect *rect)
{
    int rc = copy(accel, stream, to, at_of(from), rect, NULL);
    if (rc == ADSM_OK &&
        !adsm_pinned_has(accel, to, span_of(rect, rect->to_pitch)))
        adsm_host_await(adsm_host_given(adsm_host_stream_of(stream)), 0);
    return rc;
}

int adsm_host_copy_down(struct adsm_accel *accel, adsm_stream stream, void *to,
                        struct adsm_daddr from, size_t bytes)
{
    struct adsm_rect row = row_of(bytes);
    return adsm_host_copy_down_rect(accel, stream, to, from, &row);
}

int adsm_host_copy_down_now(struct adsm_accel *accel, void *to,
                            struct adsm_daddr from, size_t bytes)
{
    int rc = adsm_accel_usable(accel);
    if (rc == ADSM_OK)
        memcpy(to, at_of(from), bytes);
    return rc;
}

int adsm_host_copy_device_rect(struct adsm_accel *accel, adsm_stream stream,
                               struct adsm_daddr to, struct adsm_daddr from,
                               const struct adsm_rect *rect)
{
    return copy(accel, stream, at_of(to), at_of(from), rect, NULL);
}

int adsm_host_copy_device(struct adsm_accel *accel, adsm_stream stream,
                          struct adsm_daddr to, struct adsm_daddr from,
                          size_t bytes)
{
    struct adsm_rect row = row_of(bytes);
    return adsm_host_copy_device_rect(accel, stream, to, from, &row);
}

int adsm_host_set_device(struct adsm_accel *accel, adsm_stream stream,
                         struct adsm_daddr to, uint8_t value, size_t bytes)
{
    int rc = adsm_accel_usable(accel);
    struct adsm_host_job job = {.what = ADSM_HOST_SET,
                                .set = {at_of(to), value, 1, bytes}};
    if (rc == ADSM_OK)
        adsm_host_submit(adsm_host_stream_of(stream), &job);
    return rc;
}

int adsm_host_fill_device(struct adsm_accel *accel, adsm_stream stream,
                          struct adsm_daddr to, uint32_t value, unsigned width,
                          size_t count)
{
    int rc = adsm_accel_usable(accel);
    struct adsm_host_job job = {.what = ADSM_HOST_SET,
                                .set = {at_of(to), value, width, count}};
    if (rc == ADSM_OK)
        adsm_host_submit(adsm_host_stream_of(stream), &job);
    return rc;
}
