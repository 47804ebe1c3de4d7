/*
 * Work of the program on shared memory, and where it is ordered.
 */
#ifndef INTERPOSE_CUDA_WORK_H
#define INTERPOSE_CUDA_WORK_H

#include "accel/accel.h"
#include "interpose/cuda/resolve.h"
#include "mm/boundary.h"
#include "os/fault.h"

/** Where a call of the program is ordered, in handles every thread reads
 *  alike. */
struct cuda_order {
    CUstream stream;
    bool per_thread; /* means another stream in another thread           */
};

/** Order of a call: its stream argument, and whether it is a _ptds or _ptsz
 *  form. */
static inline struct cuda_order cuda_order(CUstream stream, bool per_thread)
{
    if (per_thread && !stream)
        stream = CUDA_STREAM_PER_THREAD;
    if (stream == CUDA_STREAM_LEGACY)
        stream = NULL;
    return (struct cuda_order){stream, stream == CUDA_STREAM_PER_THREAD};
}

/**
 * Work of the program that reads and writes ranges on the device.
 *
 * First cuda_read, then cuda_write (or the forms for rows) make the device's
 * copy current and order it before the work; then the real call; then
 * cuda_done. Nothing else may come after a cuda_write that succeeded: it keeps
 * the CPU off the object. Ranges that are not shared cost a look-up.
 *
 * From the first shared range to cuda_done, or to a failure, is one quiet
 * stretch. One that is abroad does not begin it: what is waited for there may
 * last, and a handler of the program may be what ends it.
 */
struct cuda_work {
    struct cuda_order order;
    struct adsm_accel *accel; /* of the last shared range; NULL: none yet   */
    bool abroad;              /* that accel is not the current context's    */
    bool foreign;             /* one of the ranges was abroad               */
    bool is_set;              /* moves no bytes                             */
    bool quiet;               /* the stretch has begun                      */
    bool brought;             /* what may be away has been seen to          */
    size_t read_bytes;        /* of shared memory, for the counters         */
    size_t written_bytes;
    struct adsm_object *pinned[2]; /* they stay resident to the end */
    struct adsm_device_write write;
};

static inline struct cuda_work cuda_work(CUstream stream, bool per_thread)
{
    return (struct cuda_work){.order = cuda_order(stream, per_thread)};
}

/** Objects of both sides (0: none) get device memory, at the same time and to
 *  the end of the work. Comes before the two below where they both follow; for
 *  one alone they do it themselves. */
CUresult cuda_bring(struct cuda_work *work, CUdeviceptr one, CUdeviceptr other);

CUresult cuda_read(struct cuda_work *work, CUdeviceptr address, size_t bytes);
CUresult cuda_write(struct cuda_work *work, CUdeviceptr address, size_t bytes);

/** `count` rows (`layers` times) of `bytes`, `pitch` (`layer_pitch`) apart. */
struct cuda_rows {
    CUdeviceptr first;
    size_t bytes, pitch, count, layer_pitch, layers;
};
CUresult cuda_read_rows(struct cuda_work *work, const struct cuda_rows *rows);
CUresult cuda_write_rows(struct cuda_work *work, const struct cuda_rows *rows);

/** CUDA_CALL for submitted work: an object or all of them are closed to the
 *  CPU meanwhile, so that a fault inside the driver could only wait for ever.
 *  It is reported instead. */
#define CUDA_SUBMIT(name, args)                                                \
    ({                                                                         \
        adsm_fault_enter_driver();                                             \
        CUresult cuda_submit_result = CUDA_CALL(name, args);                   \
        adsm_fault_leave_driver();                                             \
        cuda_submit_result;                                                    \
    })

/**
 * The same for a copy whose host side is `host` (NULL: none). Where that is not
 * page-locked the driver may wait for what is ahead in the stream, for ever:
 * the signals that end a program get through meanwhile.
 */
#define CUDA_SUBMIT_HOST(work, host, name, args)                               \
    ({                                                                         \
        uint64_t cuda_submit_opened = cuda_host_begin(work, host);             \
        CUresult cuda_host_result = CUDA_SUBMIT(name, args);                   \
        adsm_quiet_wait_end(cuda_submit_opened);                               \
        cuda_host_result;                                                      \
    })

/** Return: what to give to adsm_quiet_wait_end */
uint64_t cuda_host_begin(const struct cuda_work *work, const void *host);

/**
 * Wait for what a synchronous copy would wait for. During the copy itself no
 * signal gets through and an object may be held, and what is ahead may never
 * end. Not where streams are captured: the driver says what it thinks of that.
 *
 * Return: the driver's result; an error is the copy's
 */
CUresult cuda_wait_ahead(struct cuda_order order);

/** The work was handed to the driver with this result, which is returned. */
CUresult cuda_done(struct cuda_work *work, CUresult result);

#endif
