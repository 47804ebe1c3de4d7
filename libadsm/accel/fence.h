/*
 * The order of a device's work: what is submitted to its streams, and fences.
 *
 * Where it is kept: lane.h. A fence is a point in the work of one stream, which
 * a thread or another stream, of whatever accel, can wait for.
 */
#ifndef ADSM_ACCEL_FENCE_H
#define ADSM_ACCEL_FENCE_H

#include "accel/types.h"

/** The runtime's own launch stream, for adsmLaunch. Thread: any. Signal: any
 *  handler */
adsm_stream adsm_accel_launch_stream(struct adsm_accel *accel);

/**
 * Work was just submitted on `stream` (launch stream or one of the program's,
 * 0 = legacy default). Cheap: a mark; the event is recorded when somebody has
 * to wait, except where the stream handle means something else in another
 * thread (per-thread default stream), which records at once.
 *
 * Thread: any. Signal: fault path
 */
void adsm_lane_note(struct adsm_accel *accel, adsm_stream stream,
                    bool per_thread);

/** The program destroys `stream`: settle its lane first. Thread: any. Signal:
 *  never */
void adsm_lane_retire(struct adsm_accel *accel, adsm_stream stream);

/** Record a fence behind all work submitted so far on a stream of the accel.
 *  Thread: any. Signal: fault path */
int adsm_fence_record(struct adsm_accel *accel, adsm_stream stream,
                      struct adsm_fence *fence) ADSM_MUST_CHECK;

/**
 * Block until the fence is reached. ADSM_OK, or the device's error.
 * Thread: any. Signal: fault path
 */
int adsm_fence_wait(struct adsm_fence fence);

/** Whether the fence is reached, without blocking; true also where the device
 *  is dead, as the wait says. Thread: any. Signal: fault path */
bool adsm_fence_done(struct adsm_fence fence);

/** Record the fence's event now, so that who waits for it later does not wait
 *  for what is submitted to its lane meanwhile. Where none can be recorded he
 *  does. Thread: any. Signal: fault path */
void adsm_fence_mark(struct adsm_fence fence);

/**
 * Make later work on `stream` wait for the fence (no CPU wait).
 *
 * @accel @stream  who waits: a stream of this accel
 * @fence          of any accel, also another device's
 * Return: ADSM_OK; an error of either device
 * Thread: any. Signal: fault path
 */
int adsm_fence_order(struct adsm_accel *accel, adsm_stream stream,
                     struct adsm_fence fence) ADSM_MUST_CHECK;

/**
 * Block until all work noted on any lane but the copy lanes is done
 * (what an object that every kernel may touch has to wait for).
 * Free when nothing was noted since the last time. Thread: any. Signal: fault
 * path
 */
int adsm_lane_wait_noted(struct adsm_accel *accel);

/**
 * Wait for all that the lanes were given so far, in slices (base/slices.h)
 * between which handlers of the program run.
 *
 * Return: true when it is over; false: where no handler can run, or it cannot
 *         be known; the driver may be asked to wait
 * Thread: any. Signal: never
 */
bool adsm_accel_await(struct adsm_accel *accel);

/** Wait for everything on the context (cuCtxSynchronize). Thread: any. Signal:
 *  never */
int adsm_accel_synchronize(struct adsm_accel *accel);

#endif
