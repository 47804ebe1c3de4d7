/* Streams with work; see pending.h. */
#include "interpose/report/pending.h"

enum { STREAMS_MOST = 128, DOWNLOADS_MOST = 64 };

static struct {
    struct report_stream busy[STREAMS_MOST];
    unsigned count;
    bool too_many;
    struct report_download download[DOWNLOADS_MOST];
    unsigned downloads;
} pending;

static bool is_same(const struct report_stream *a,
                    const struct report_stream *b)
{
    return a->stream == b->stream && a->thread == b->thread &&
           (a->stream || a->context == b->context);
}

static unsigned find(struct report_stream stream)
{
    unsigned i = 0;
    while (i < pending.count && !is_same(&pending.busy[i], &stream))
        i++;
    return i;
}

void report_pending_add(struct report_stream stream)
{
    unsigned i = find(stream);
    if (i == STREAMS_MOST)
        pending.too_many = true;
    else if (i == pending.count)
        pending.busy[pending.count++] = stream;
}

bool report_pending_any(struct report_stream stream)
{
    return pending.too_many || find(stream) < pending.count;
}

bool report_pending_any_of(const void *context)
{
    for (unsigned i = 0; i < pending.count; i++)
        if (pending.busy[i].context == context)
            return true;
    return pending.too_many;
}

void report_pending_done(struct report_stream stream)
{
    unsigned i = find(stream);
    if (i < pending.count)
        pending.busy[i] = pending.busy[--pending.count];
}

void report_pending_done_of(const void *context)
{
    for (unsigned i = 0; i < pending.count;)
        if (pending.busy[i].context == context)
            pending.busy[i] = pending.busy[--pending.count];
        else
            i++;
}

void report_download_add(const struct report_download *download)
{
    if (pending.downloads < DOWNLOADS_MOST)
        pending.download[pending.downloads++] = *download;
}

void report_download_again(const void *host, uint64_t bytes, uint32_t site)
{
    for (unsigned i = 0; i < pending.downloads;) {
        const struct report_download *d = &pending.download[i];
        if (d->host != host || d->cost.bytes != bytes) {
            i++;
            continue;
        }
        report_find(REPORT_UNREAD_DOWNLOAD, &d->cost, site);
        pending.download[i] = pending.download[--pending.downloads];
    }
}

void report_downloads_seen(const struct report_stream *stream, bool all,
                           report_download_fn *each)
{
    for (unsigned i = 0; stream && i < pending.downloads; i++) {
        const struct report_download *d = &pending.download[i];
        if (all ? d->stream.context == stream->context
                : is_same(&d->stream, stream))
            each(d);
    }
    pending.downloads = 0;
}

void report_downloads_end(void)
{
    for (unsigned i = 0; i < pending.downloads; i++)
        report_find(REPORT_UNREAD_DOWNLOAD, &pending.download[i].cost, 0);
}
