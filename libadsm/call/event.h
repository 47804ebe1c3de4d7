/*
 * Calls that were made, as handles: waited for, ordered behind, and followed by
 * a function of the program.
 *
 * An event is a number; the table keeps the fences of the last ADSM_EVENTS_KEPT of them.
 * One that would push out a call which has not ended waits for it first, so a
 * number that is not in the table any more is a call that ended long ago: its
 * status is success. Functions that follow calls run one after the other, in
 * the order of their calls, on one thread of the runtime that is started by the
 * first; as many may be outstanding, then calls wait for the oldest.
 *
 * Lock: a mutex, held over no wait and no other lock. Thread: any. Signal: never
 */
#ifndef ADSM_CALL_EVENT_H
#define ADSM_CALL_EVENT_H

#include "accel/accel.h"
#include "call/split.h"

enum { ADSM_EVENTS_KEPT = 1024 };

/** What a call leaves behind: a fence per device, which covers those before it
 *  on the device's launch stream; and a failure known when it was made. */
struct adsm_ended {
    int status;
    int count;
    struct adsm_fence fences[ADSM_SPLIT_DEVICES];
};

/** Another fence of the call: it replaces an earlier one of its device. */
void adsm_ended_add(struct adsm_ended *ended, struct adsm_fence fence);

/** The fences of a call that this one is made of; none of one that has ended
 *  long ago. */
void adsm_ended_join(struct adsm_ended *ended, adsmEvent event);

/** Wait until all is reached. Return: the first failure */
int adsm_ended_wait(const struct adsm_ended *ended);

/** A number for a call that is not made yet, and what it is when it is. Who waits
 *  for it meanwhile waits for that, too. Return: the number, 1 or more; 0: no
 *  memory */
uint64_t adsm_event_reserve(void);
void adsm_event_complete(uint64_t id, const struct adsm_ended *ended);

/** Has a call of that number been reserved, and is not complete? */
bool adsm_event_is_open(uint64_t id);

/** This thread makes what others wait for: it waits for no room to follow calls. */
void adsm_event_of_runtime(void);

/** Keep a call; wait for it where there is no memory for that. Return: its number,
 *  1 or more */
uint64_t adsm_event_keep(const struct adsm_ended *ended);

/** Have `then` called when it has ended. ADSM_OK; ADSM_E_NOMEM, ADSM_E_SYSTEM:
 *  it will not be called */
int adsm_event_follow(const struct adsm_ended *ended,
                      void (*then)(void *arg, adsmStatus status), void *arg);

/** The same of a reserved one. */
int adsm_event_follow_open(uint64_t id,
                           void (*then)(void *arg, adsmStatus status),
                           void *arg);

/** The fences of a call, which is complete then; none when it has ended long ago.
 *  ADSM_OK;
 *  ADSM_E_INVALID: no call has this number */
int adsm_event_find(uint64_t id, struct adsm_ended *ended);

/** Whether it has ended, without waiting. */
bool adsm_ended_done(const struct adsm_ended *ended);

#endif
