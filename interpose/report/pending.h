/*
 * What streams have to do: work that was given to them and not waited for, as far
 * as the program's calls say; and downloads whose bytes the CPU may not look at
 * yet.
 *
 * A stream that is not known to be empty has work. Bounded: where there are too
 * many streams none is ever known to be empty again, and of downloads that are
 * too many nothing is found. Under the report's lock. Signal: never
 */
#ifndef INTERPOSE_REPORT_PENDING_H
#define INTERPOSE_REPORT_PENDING_H

#include "interpose/report/finding.h"

/** A stream of a context, as the program names it; the per-thread one with what
 *  tells threads apart. */
struct report_stream {
    const void *context, *stream, *thread;
};

void report_pending_add(struct report_stream stream);

/** Was there any? Of a stream; of the context of that stream. */
bool report_pending_any(struct report_stream stream);
bool report_pending_any_of(const void *context);

/** It was waited for. */
void report_pending_done(struct report_stream stream);
void report_pending_done_of(const void *context);

/** A copy down that nobody has waited for. */
struct report_download {
    struct report_stream stream;
    const void *host;
    uint64_t from, version;
    struct report_cost cost;
};

void report_download_add(const struct report_download *download);

/** One is about to be made to the same host memory. */
void report_download_again(const void *host, uint64_t bytes, uint32_t site);

/** The CPU may look at what was brought down: nothing can be said of it any more.
 *  Before it does so, `each` gets those of the stream that was waited for (NULL:
 *  of none), or of all streams of its context. */
typedef void report_download_fn(const struct report_download *download);
void report_downloads_seen(const struct report_stream *stream, bool all,
                           report_download_fn *each);

/** The program is over, and nobody has waited. */
void report_downloads_end(void);

#endif
