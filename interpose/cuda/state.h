/*
 * Between a CUDA hook and the runtime: whether there is anything to keep
 * coherent, on which accelerator and stream, and what a failure is in CUDA's
 * terms.
 */
#ifndef INTERPOSE_CUDA_STATE_H
#define INTERPOSE_CUDA_STATE_H

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

/** Whether a hook has anything to do: objects exist, and the call is not the
 *  driver's own. */
bool cuda_is_serving(void);

/**
 * The accel of the calling thread's context, for an allocation: brings the
 * runtime up at the first call. NULL: hand the call to the driver (no context,
 * no runtime, or a strategy that cannot share addresses; said once).
 *
 * Return: CUDA_ERROR_OUT_OF_MEMORY: the host has no memory or no mappings for
 *         it just now, and memory of the driver's own would not be shared
 */
CUresult cuda_accel_serving(struct adsm_accel **accel);

/** The accel of the calling thread's context when it has one, else NULL. */
struct adsm_accel *cuda_accel_current(void);

/** Is any byte of the range in an object? */
static inline bool cuda_is_shared(CUdeviceptr address, size_t bytes)
{
    return !hook_is_plain((const void *)address, bytes);
}

/** Is it an address of the runtime's: in an object, or in what it keeps device
 *  memory for? There the driver knows more than the program may hear of. */
bool cuda_is_ours(CUdeviceptr address);

/** Device address of a shared address; any other address unchanged. */
CUdeviceptr cuda_device_address(CUdeviceptr address);

/** A status of the runtime as a result of CUDA; `what` is said once. */
CUresult cuda_result(const char *what, int status);

/** The driver answered `result`: one that ends its context is remembered.
 *  Return: `result` */
CUresult cuda_seen(CUresult result);

/** What became of the current context where a context has ended: calls that
 *  need no driver otherwise fail as the driver's would. Costs nothing before. */
CUresult cuda_context_health(void);

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

/** Was a capture ever begun? */
bool cuda_captures(void);

/** Is work on this stream recorded instead of run? */
bool cuda_is_capturing(CUstream stream);

/** A capture was begun: from now on cuda_is_capturing asks the driver. */
void cuda_capture_seen(void);

/**
 * A call of the program that destroys a context: first cuda_context_part, then
 * the real call, then cuda_context_parted. The objects go last: the driver
 * stops the kernels and transfers that use them, and nobody else can.
 */
struct cuda_parting {
    struct adsm_accel *accel; /* NULL: nothing of ours in the context */
    CUcontext context;
};

struct cuda_parting cuda_context_part(CUcontext context);

/** The real call answered `result`. Return: `result` */
CUresult cuda_context_parted(struct cuda_parting parting, CUresult result);

#endif
