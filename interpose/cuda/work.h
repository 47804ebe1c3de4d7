/*
 * Work of the program on shared memory in CUDA's terms: where it is ordered, the
 * engine of device/work.h with CUDA's results, and the calls that hand it over.
 */
#ifndef INTERPOSE_CUDA_WORK_H
#define INTERPOSE_CUDA_WORK_H

#include "interpose/cuda/resolve.h"
#include "interpose/cuda/result.h"
#include "interpose/device/away.h"
#include "interpose/device/release.h"
#include "interpose/device/work.h"

extern const struct device_driver cuda_device_driver;

/** Order of a call: its stream argument, and whether it is a _ptds or _ptsz
 *  form. */
static inline struct device_order cuda_order(CUstream stream, bool per_thread)
{
    if (per_thread && !stream)
        stream = CUDA_STREAM_PER_THREAD;
    if (stream == CUDA_STREAM_LEGACY)
        stream = NULL;
    return (struct device_order){&cuda_device_driver, stream,
                                 stream == CUDA_STREAM_PER_THREAD};
}

static inline struct device_work cuda_work(CUstream stream, bool per_thread)
{
    return (struct device_work){.order = cuda_order(stream, per_thread)};
}

static inline CUresult cuda_bring(struct device_work *work, CUdeviceptr one,
                                  CUdeviceptr other)
{
    return cuda_result("a device copy of shared memory",
                       device_bring(work, one, other));
}

static inline CUresult cuda_enter_read(struct device_work *work,
                                       CUdeviceptr address, size_t bytes)
{
    return cuda_result("a device copy from shared memory",
                       device_enter_read(work, address, bytes));
}

static inline CUresult cuda_enter_write(struct device_work *work,
                                        CUdeviceptr address, size_t bytes)
{
    return cuda_result("a device copy to shared memory",
                       device_enter_write(work, address, bytes));
}

static inline CUresult cuda_enter_read_rows(struct device_work *work,
                                            const struct device_rows *rows)
{
    return cuda_result("a device copy from shared memory",
                       device_enter_read_rows(work, rows));
}

static inline CUresult cuda_enter_write_rows(struct device_work *work,
                                             const struct device_rows *rows)
{
    return cuda_result("a device copy to shared memory",
                       device_enter_write_rows(work, rows));
}

/** The work was handed to the driver with this result. Return: the program's */
CUresult cuda_done(struct device_work *work, CUresult result);

/** The work was made by the CPU, or failed (device/away.h). */
static inline bool cuda_away_copy(struct device_order order,
                                  struct device_side to,
                                  struct device_side from, size_t bytes,
                                  CUresult *result)
{
    int status;
    if (!device_away_copy(order, to, from, bytes, &status))
        return false;
    *result = cuda_result("a copy of memory that is not on the device", status);
    return true;
}

static inline bool cuda_away_set(struct device_order order, CUdeviceptr to,
                                 const void *value, size_t element,
                                 size_t bytes, CUresult *result)
{
    int status;
    if (!device_away_set(order, to, value, element, bytes, &status))
        return false;
    *result = cuda_result("a set of memory that is not on the device", status);
    return true;
}

/** A call (device/release.h). Return: an error is the call's; the driver is not
 *  called */
static inline CUresult cuda_release(struct adsm_call *call)
{
    return cuda_result("a launch", device_release(call));
}

/** The driver answered `result`. Return: what the program is answered */
CUresult cuda_called(const struct adsm_call *call, CUresult result);

/**
 * CUDA_SUBMIT for a copy whose host side is `host` (NULL: none). Where that is
 * not page-locked the driver may wait for what is ahead in the stream, for ever:
 * the signals that end a program get through meanwhile.
 */
#define CUDA_SUBMIT_HOST(work, host, name, args)                               \
    ({                                                                         \
        uint64_t cuda_submit_opened = cuda_host_begin(work, host);             \
        CUresult cuda_host_result = CUDA_SUBMIT(name, args);                   \
        adsm_quiet_wait_end(cuda_submit_opened);                               \
        cuda_host_result;                                                      \
    })

/**
 * The real call as one piece of work that uses one range; alone, as long as
 * nothing is shared.
 *
 * @enter  cuda_enter_read, cuda_enter_write, or a function like them
 */
#define CUDA_WORK(enter, at, bytes, stream, per_thread, name, args)            \
    ({                                                                         \
        CUresult cuda_work_result;                                             \
        if (!CUDA_PASSES(&cuda_work_result, name, args)) {                     \
            DEVICE_STAYS;                                                      \
            struct device_work cuda_the_work = cuda_work(stream, per_thread);  \
            cuda_work_result = enter(&cuda_the_work, at, bytes);               \
            if (!cuda_work_result)                                             \
                cuda_work_result =                                             \
                    cuda_done(&cuda_the_work, CUDA_SUBMIT(name, args));        \
        }                                                                      \
        cuda_work_result;                                                      \
    })

/** Does the driver say that it is device memory? */
bool cuda_is_device(const void *address);

/** Is a pointer that the program names as the host's to device memory that is
 *  not shared so far? The driver is asked only where that may be. */
static inline bool cuda_is_untouched(const void *host, size_t bytes)
{
    return hook_unlikely(hook_may_adopt(host, bytes)) && !hook_passes() &&
           cuda_is_device(host);
}

/** Return: what to give to adsm_quiet_wait_end */
uint64_t cuda_host_begin(const struct device_work *work, const void *host);

/**
 * Wait for what a synchronous copy would wait for. During the copy itself no
 * signal gets through and an object may be held, and what is ahead may never
 * end. Not where streams are captured: the driver says what it thinks of that.
 *
 * Return: the driver's result; an error is the copy's
 */
CUresult cuda_wait_ahead(struct device_order order);

#endif
