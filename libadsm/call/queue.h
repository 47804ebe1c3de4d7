/*
 * Tasks: parts of calls that wait until they can run, and then until a device is
 * to run them.
 *
 * A call whose policy (call/policy.h) is not static becomes a task for each part
 * and returns. A task comes behind all that are older and use bytes that it
 * writes, or write bytes that it uses, and behind the calls of `after`. Once
 * these are begun it is ready: its policy gives it to a device, and the device's
 * thread begins it, which enqueues its copies and its launch. From there on it is
 * what a part of any call is: order is kept on devices, by fences.
 *
 * So a device has its next task, and brings what that reads, while the one before
 * it runs: ADSM_QUEUE_DEPTH of them, and more where they are short.
 *
 * An access of the CPU waits for the tasks that use its block in a way that it
 * comes behind (mm/object/awaited.h). Calls that are no tasks wait until all that
 * there are have begun. A task that cannot be begun is told to whoever waits for
 * its call and to the next adsmSync; those behind it are begun all the same.
 *
 * Owns the tasks that are not begun, which lie in regions of their own, and a
 * thread for each device that has had any. Lock: one for all, rank QUEUE, held
 * over no wait. At the end of the process what is not begun never is.
 */
#ifndef ADSM_CALL_QUEUE_H
#define ADSM_CALL_QUEUE_H

#include "call/task.h"

enum {
    ADSM_QUEUE_TASKS = 4096, /* then calls wait for room */
    ADSM_QUEUE_DEPTH = 2,
};

/** Before the first call: accesses of the CPU ask here. */
void adsm_queue_init(void);

/** Is the call one of tasks? It is planned. */
bool adsm_queue_takes(const struct adsm_task *task);

/**
 * Make tasks of a call. It belongs to the queue, and is gone, if ADSM_OK is
 * returned; or with `sync`, where it is the status of the call.
 *
 * Where not all of them can be entered, the call is begun at once.
 *
 * Return: ADSM_OK; ADSM_E_INVALID (pieces that are refused), ADSM_E_NOMEM,
 *         ADSM_E_SYSTEM: there are no tasks, the caller has it still
 * Thread: any but the queue's own. Signal: never
 */
int adsm_queue_put(struct adsm_task *task, int *status);

/** Wait until all that are there now are begun. Thread: any. Signal: never */
void adsm_queue_drain(void);

/** The first task that could not be begun since it was asked last: its status,
 *  with its sentence as detail. Thread: any. Signal: never */
int adsm_queue_failure(void);

/** At the end of the process: those that are not begun are forgotten, and none
 *  is being begun when this returns. */
void adsm_queue_end(void);

#endif
