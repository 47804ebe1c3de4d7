/*
 * The transfer report (ADSM_REPORT): which of the program's copies, allocations
 * and waits can go, and what that gains.
 *
 * What stands before a driver (cuda_parts.h) says here what the program has done
 * with device memory; the program's calls are made as they are. Nothing is shared
 * meanwhile, so what is measured is the program as it was written. At the end of
 * the process a table is printed (write.h).
 *
 * Owns whether there is a report, and its lock, which the other
 * files of this folder use through this one. A child of fork has none.
 * Thread: any, no lock held. Signal: never; a call in a handler that interrupts
 * one of the report's is not seen, and where such a handler ends the process there
 * is no report.
 */
#ifndef INTERPOSE_REPORT_REPORT_H
#define INTERPOSE_REPORT_REPORT_H

#include "interpose/report/memory.h"
#include "interpose/report/pending.h"

/** Is there one? Decided at the first call, which reads the options. */
bool report_is_wanted(void);

/** A call of the program. */
struct report_call {
    uint64_t begin_ns, ns;
    uint32_t site;
    uint32_t freed; /* report_goes: where it was allocated */
};

/** Begin a call, unless it is one within another, or there is no report: then
 *  false, and nothing else is called for it. */
bool report_enter(struct report_call *call);

/** Its part that counts begins, and ends. */
void report_begin(struct report_call *call);
void report_end(struct report_call *call);

/** The call is over. */
void report_leave(void);

/** Between report_enter and report_leave, behind report_end: what was done. */
void report_came(const struct report_call *call, uint64_t begin,
                 uint64_t bytes);

/** Memory is about to be freed, and was: behind the driver's call another thread
 *  may have got it already. */
void report_goes(struct report_call *call, uint64_t begin);
void report_freed(const struct report_call *call);

/** A copy. The sides that are device memory, or 0; the host's, or NULL. */
struct report_copy {
    uint64_t to, from, bytes;
    const void *host;
    struct report_stream stream;
    bool waits;    /* it is over when the call returns                     */
    bool pageable; /* asynchronous, with host memory the driver knows not  */
    bool dense;    /* all bytes of the ranges; else some of `span` bytes   */
    uint64_t span;
    uint64_t there; /* report_expect's                                     */
};

/** Before a copy down that waits. Return: what goes into `there` */
uint64_t report_expect(const struct report_copy *copy);
void report_copied(const struct report_call *call,
                   const struct report_copy *copy);

/** Memory was set. */
void report_set(const struct report_call *call, uint64_t to, uint64_t bytes,
                bool dense, struct report_stream stream);

/** A kernel was launched that touches this; count < 0: nobody knows. */
void report_launched(const struct report_call *call,
                     const struct report_use *uses, int count,
                     struct report_stream stream);

/** Does a stream have work? */
bool report_has_work(struct report_stream stream);

/** The program waits: for a stream, or for all of its context. Asked before. */
bool report_is_needless(struct report_stream stream, bool all);
void report_waited(const struct report_call *call, struct report_stream stream,
                   bool all, bool needless);

/** The program may have learnt that work is over; work was submitted of which
 *  nothing is known. */
void report_looked(void);
void report_unknown(struct report_stream stream);

#endif
