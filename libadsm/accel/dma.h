/*
 * Transfers between host shadows and device memory that protocols ask for:
 * whole ranges of an accel's own, behind all that may use them. Others, boxes
 * and those from device to device are adsm_move's (accel/move.h).
 *
 * Host sides are always shadow addresses (or plain memory of the program),
 * never the shared address, which the driver would take for device memory.
 * Uploads and device-side work go to the accel's upload lane and return at
 * once; downloads run on the download lane and block. An upload is ordered
 * after the work its `after` fence names and after all noted lanes, so it can
 * never overwrite what a running kernel still reads.
 *
 * Counters bytes_up, bytes_down, bytes_device, each also by cause (base/cause.h),
 * ns_up (time to enqueue) and ns_down (until the bytes are there) are kept here.
 * The cause is the caller's, with whose bytes they are.
 * Failures leave both sides as they were as far as the device allows; the
 * accel's health turns sticky when the driver says so.
 */
#ifndef ADSM_ACCEL_DMA_H
#define ADSM_ACCEL_DMA_H

#include "accel/types.h"
#include "base/cause.h"

/** Host to device, asynchronous. `shadow` must stay mapped until *done. Thread:
 *  any. Signal: fault path */
int adsm_dma_upload(struct adsm_accel *accel, struct adsm_daddr to,
                    const void *shadow, size_t bytes, struct adsm_fence after,
                    struct adsm_fence *done,
                    const struct adsm_cause *cause) ADSM_MUST_CHECK;

/**
 * Parts of a range in rising order, as one upload.
 *
 * @changes  they may change as soon as this has returned, so copies of them are
 *           sent; they stay as they are until *done otherwise
 */
int adsm_dma_upload_parts(struct adsm_accel *accel, struct adsm_daddr to,
                          const void *shadow, const struct adsm_dma_part *parts,
                          size_t count, bool changes, struct adsm_fence after,
                          struct adsm_fence *done,
                          const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** Whether an upload after `after` would run at once: no noted lane has work,
 *  and no driver call is needed to know it where nothing was launched since
 *  the host last waited. Does not block. Thread: any. Signal: fault path */
bool adsm_dma_is_clear(struct adsm_accel *accel, struct adsm_fence after);

/** Device to host; returns when the bytes are there. Waits for `after`, for
 *  noted lanes and for earlier uploads. Thread: any. Signal: fault path */
int adsm_dma_download(struct adsm_accel *accel, void *shadow,
                      struct adsm_daddr from, size_t bytes,
                      struct adsm_fence after,
                      const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** Behind everything that was enqueued on the upload lane so far. Signal: any
 *  handler */
struct adsm_fence adsm_dma_uploads(struct adsm_accel *accel);

/** Make later uploads and device copies wait for fences of any accels; `done`
 *  stands for all of them. Signal: fault path */
int adsm_dma_order_behind(struct adsm_accel *accel,
                          const struct adsm_fence *after, size_t count,
                          struct adsm_fence *done) ADSM_MUST_CHECK;

/** Make `stream` wait for all uploads enqueued so far (before a launch). Free
 *  when there was none since `stream` last waited. Thread: any. Signal: fault
 *  path */
int adsm_dma_order_uploads(struct adsm_accel *accel,
                           adsm_stream stream) ADSM_MUST_CHECK;

/** Set device memory, asynchronous on the upload lane, ordered after `after` and
 *  noted lanes. Thread: any. Signal: fault path */
int adsm_dma_set(struct adsm_accel *accel, struct adsm_daddr to, uint8_t value,
                 size_t bytes, struct adsm_fence after, struct adsm_fence *done,
                 const struct adsm_cause *cause) ADSM_MUST_CHECK;

/**
 * Both ways on a stream of its own, which waits for no noted lane: for a host
 * function, behind which these may wait. `download` returns when the bytes are
 * there, having waited for what writes them among the first `uploads` uploads;
 * `upload` returns at once and `await` when all before it are there.
 *
 * Thread: any that may call the driver
 * Signal: never
 */
int adsm_dma_download_aside(struct adsm_accel *accel, void *shadow,
                            struct adsm_daddr from, size_t bytes,
                            uint64_t uploads,
                            const struct adsm_cause *cause) ADSM_MUST_CHECK;
int adsm_dma_upload_aside(struct adsm_accel *accel, struct adsm_daddr to,
                          const void *shadow, size_t bytes,
                          const struct adsm_cause *cause) ADSM_MUST_CHECK;
int adsm_dma_await_aside(struct adsm_accel *accel) ADSM_MUST_CHECK;

/** Number of the newest upload so far; 0: none. Thread: any. Signal: any
 *  handler */
uint64_t adsm_dma_last_upload(struct adsm_accel *accel);

/** Whether the upload with this number has ended. Does not block. Thread: any.
 *  Signal: fault path */
bool adsm_dma_is_uploaded(struct adsm_accel *accel, uint64_t seq);

/** Nanoseconds the calling thread has spent in uploads and downloads. Thread:
 *  any. Signal: any handler */
uint64_t adsm_dma_spent_ns(void);

/** Block until the upload with this number (`seq` of its fence; 0: none) has
 *  ended. Thread: any. Signal: fault path */
int adsm_dma_await_upload(struct adsm_accel *accel, uint64_t seq);

/** Block until all that the upload lane was given so far has ended. Thread: any.
 *  Signal: fault path */
int adsm_dma_drain(struct adsm_accel *accel);

#endif
