/*
 * The cores of the host as a device: streams of work, and the threads that do it.
 *
 * A stream is a bounded queue of jobs, done in order; a job is one copy, one
 * kernel or the like. A kernel's blocks are dealt out in pieces to all threads
 * that have nothing else to do, larger ones first, so that cores that are slower
 * or busy elsewhere get fewer of them. Threads start with the first job and sleep
 * where there is none.
 *
 * Owns streams, their jobs and the threads. One lock, of rank POOL, over all of
 * it; no job runs while it is held.
 *
 * Thread: any. Signal: fault path, where nothing else is said.
 */
#ifndef ADSM_ACCEL_HOST_QUEUE_H
#define ADSM_ACCEL_HOST_QUEUE_H

#include "adsm.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct adsm_host_stream;

/** A place in a stream's work: as many jobs done. */
struct adsm_host_point {
    struct adsm_host_stream *stream; /* NULL: reached */
    uint64_t number;
};

/** What a job does to memory: planes of rows of bytes, each so far from the one
 *  before it. */
struct adsm_host_copy {
    uint8_t *to;
    const uint8_t *from;
    size_t bytes, rows, planes;
    size_t to_pitch[2], from_pitch[2];
    void *buffer; /* freed when it is done */
};

struct adsm_host_set {
    void *to;
    uint32_t value;
    unsigned width; /* bytes of an element: 1, 2 or 4 */
    size_t count;
};

/** A launch. The values of its parameters are the job's, freed when it is done. */
struct adsm_host_kernel {
    void (*run)(const adsmBlocks *blocks, void *const *values);
    adsmBlocks blocks; /* all of them */
    void **values;
};

struct adsm_host_call {
    void (*call)(void *arg);
    void *arg;
};

enum adsm_host_what {
    ADSM_HOST_COPY,
    ADSM_HOST_SET,
    ADSM_HOST_KERNEL,
    ADSM_HOST_CALL,
    ADSM_HOST_AWAIT, /* another stream's point */
    ADSM_HOST_TIME,  /* to be noted            */
};

struct adsm_host_job {
    enum adsm_host_what what;
    union {
        struct adsm_host_copy copy;
        struct adsm_host_set set;
        struct adsm_host_kernel kernel;
        struct adsm_host_call call;
        struct adsm_host_point await;
        _Atomic uint64_t *time; /* gets adsm_now_ns */
    };
};

/** Threads that do the work: ADSM_CPUS of them, or one for each processor that
 *  the program may use. */
int adsm_host_threads(void);

/** The stream that handle 0 stands for. */
struct adsm_host_stream *adsm_host_default(void);

/** Start the threads, if they are not there; fewer where no more can be had.
 *  Return: ADSM_OK; ADSM_E_SYSTEM: none. Signal: never */
int adsm_host_start(void) ADSM_MUST_CHECK;

/** Make one. Return: NULL: no memory. Signal: never */
struct adsm_host_stream *adsm_host_stream_make(void);

/** It is not used any more; what it was given is done. Points of it stay valid:
 *  streams are never freed, but used again. Signal: never */
void adsm_host_stream_end(struct adsm_host_stream *stream);

/** Put a job behind what is in the stream; where that is full, wait until it is
 *  not. Threads were started. */
void adsm_host_submit(struct adsm_host_stream *stream,
                      const struct adsm_host_job *job);

/** The point behind all that the stream was given. */
struct adsm_host_point adsm_host_given(struct adsm_host_stream *stream);

bool adsm_host_reached(struct adsm_host_point point);

/** Look for `spin_ns`, then sleep until it is reached. */
void adsm_host_await(struct adsm_host_point point, uint64_t spin_ns);

/** Until all streams have done what they were given so far. */
void adsm_host_await_all(void);

#endif
