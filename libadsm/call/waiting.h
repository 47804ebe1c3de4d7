/*
 * Tasks that wait, as the queue (queue*.c) and its policies (policy*.c) know them;
 * nobody else's.
 *
 * Lock: the queue's, where nothing else is said; of what is in a task's region
 * nothing is used any more when the task is begun.
 */
#ifndef ADSM_CALL_WAITING_H
#define ADSM_CALL_WAITING_H

#include "call/queue.h"

#include <uthash.h>

struct adsm_policy;
struct adsm_waiting;
struct adsm_queue_object;

/* What a task uses of an array. */
struct adsm_waiting_use {
    struct adsm_waiting *waiting;
    struct adsm_want *want;
    size_t begin, end; /* bytes of the object, around both boxes */
    struct adsm_queue_object *object;
    struct adsm_waiting_use *newer, *older; /* of the same object */
};

/* That one is begun only behind another: in the region of the one behind. */
struct adsm_waiting_edge {
    struct adsm_waiting *behind;
    struct adsm_waiting_edge *next;
};

/* The tasks of a call: in its region. */
struct adsm_waiting_call {
    struct adsm_task *task;
    const struct adsm_policy *policy;
    int left;       /* tasks that are not begun */
    int inside;     /* tasks that may use this */
    uint64_t event; /* 0: nobody asked for one */
    bool waited;    /* the call that made it returns when it has ended */
    bool begun;     /* all of it */
    int status;     /* of the first that could not be begun */
    char sentence[256];
    struct adsm_ended ended;
};

/* A task: in its region. */
struct adsm_waiting {
    struct adsm_task *task; /* of this part alone, or the call's own */
    struct adsm_waiting_call *call;
    bool placed;     /* its device was said by the call */
    uint64_t number; /* order in which they were made */
    int device;      /* ADSM_ANY_DEVICE: none yet */
    double indices;
    double ns, missing; /* where it is to run: as its policy found, or 0 */

    int before; /* tasks that it is still behind */
    struct adsm_waiting_edge *edges;
    struct adsm_waiting_use *uses;
    int use_count;

    struct adsm_waiting *prev, *next;             /* all, oldest first */
    struct adsm_waiting *ready_prev, *ready_next; /* one device's      */
};

/* Those that wait for a device, or for any. */
struct adsm_ready {
    struct adsm_waiting *first, *last;
    int count;
    double ns; /* of all of them, as far as it is known */
};

/* An object that tasks use. */
struct adsm_queue_object {
    const struct adsm_object *object;
    struct adsm_waiting_use *newest;
    UT_hash_handle hh;
};

/* ---- order: the queue's lock is held ------------------------------------------- */

/** One is begun only behind another. Return: ADSM_OK; ADSM_E_NOMEM */
int adsm_order_behind(struct adsm_waiting *before,
                      struct adsm_waiting *waiting);

/** Enter a task, behind those it has to be behind. Return: ADSM_OK; ADSM_E_NOMEM:
 *  it is not entered */
int adsm_order_enter(struct adsm_waiting *waiting);

/** It is begun: nobody is behind it any more. Each that is ready by that goes to
 *  `ready`. */
void adsm_order_leave(struct adsm_waiting *waiting,
                      void (*ready)(struct adsm_waiting *waiting));

/** Is a task there that an access to bytes of an object comes behind? Without the
 *  queue's lock, also with the object's. Signal: fault path */
bool adsm_order_meets(const struct adsm_object *object, size_t begin,
                      size_t end, bool writes);

/* ---- devices ------------------------------------------------------------------- */

/** How many tasks wait for a device, or run there. The lock is held */
int adsm_queue_has(int device);

/** When a device has done what it has and what waits for it, on the clock of
 *  `now`. The lock is held */
double adsm_queue_free_at(int device, double now);

/** Threads of devices, those that a task may run on. ADSM_OK; ADSM_E_SYSTEM */
int adsm_queue_start(const struct adsm_task *task);

/** Is this a thread of a device? */
bool adsm_queue_is_mine(void);

/** A thread of a device has taken a task, which it begins. The lock is held */
void adsm_queue_begins(void);

/** A task is ready. The lock is held; adsm_queue_wake wakes who takes it */
void adsm_queue_ready(struct adsm_waiting *waiting);

/** It was begun, with `rc`. Thread: of a device; the lock is not held */
void adsm_queue_begun(struct adsm_waiting *waiting, int rc);

/** Wake threads of devices, if any task has become ready. The lock is not held.
 *  Signal: any handler */
void adsm_queue_wake(void);

/** Its lock. */
void adsm_queue_lock(void);
void adsm_queue_unlock(void);

/** Is the process ending? */
bool adsm_queue_has_ended(void);

#endif
