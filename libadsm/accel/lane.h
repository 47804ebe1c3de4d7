/*
 * Lanes: streams the runtime knows about, and fences in them.
 *
 * Owns the table of lanes of an accel, the events recorded in them, and how
 * far each has got. Does not own the program's streams. What other layers use
 * is in fence.h; this is for the files of this layer.
 *
 * A fence is a number in its lane: submissions are counted in `given`, an
 * event is recorded when somebody has to wait and stands for the number given
 * last. `done` grows when an event was seen to be reached, so a fence below it
 * costs one load. A wait for a number takes the first event at or above it.
 *
 * Numbers of the upload lane may be given for work that is yet to be submitted:
 * they are held. No event stands for these, so whoever wants one has that work
 * submitted first, by the function that the table was handed (poke.h). So does who
 * enqueues on the lane: what comes later is behind it.
 *
 * Locks: lanes->lock guards the table, lane->lock one lane; both rank STREAM,
 * the table's before a lane's, one lane at a time, none while the CPU waits.
 * lanes->unused_lock (rank POOL) guards the unused events. Invariant:
 * adsm_lanes_are_valid().
 */
#ifndef ADSM_ACCEL_LANE_H
#define ADSM_ACCEL_LANE_H

#include "accel/fence.h"
#include "base/lock.h"

#include <stdatomic.h>

enum {
    ADSM_LANE_LAUNCH,
    ADSM_LANE_UPLOAD,
    ADSM_LANE_DOWNLOAD,
    ADSM_LANE_ASIDE,   /* copies of host functions: waits for nothing */
    ADSM_LANE_PROGRAM, /* first lane for a stream of the program */
    ADSM_LANES = 256,
    ADSM_LANE_EVENTS = 64,
    ADSM_LANE_BUCKETS = 128,
};

/** An event of the device in a lane, or in the pool of unused ones. */
struct adsm_mark {
    struct adsm_mark *next; /* unused: lanes->unused_lock */
    void *event;
    uint64_t seq;
    uint32_t waiters; /* threads that wait for it */
    bool dropped;     /* out of the lane: the last waiter puts it back */
};

enum adsm_lane_state {
    ADSM_LANE_FREE, /* has no stream; all recorded events stay valid */
    ADSM_LANE_LIVE, /* `stream` may be used */
};

struct adsm_lane {
    struct adsm_lock lock; /* guards all but the atomics and `chain` */
    enum adsm_lane_state state;
    adsm_stream stream;
    uint32_t thread; /* whose per-thread stream it is, else 0 */
    uint32_t chain;  /* 1 + next lane in the bucket, 0 ends; lanes->lock */
    _Atomic uint64_t given;
    _Atomic uint64_t done;
    /* The first number that is held, 0: none. Set under the lock. */
    _Atomic uint64_t held;
    uint64_t recorded;      /* newest number that an event stands for */
    _Atomic uint64_t notes; /* submissions noted; grows under lanes->lock */
    _Atomic uint64_t notes_done; /* of these, known to be done */
    uint64_t notes_covered;      /* of these, behind the event notes_seq */
    uint64_t notes_seq;
    /* Upload and download stream already wait for this lane's: */
    uint64_t ordered[2];
    /* This lane's stream already waits for upload number: */
    uint64_t uploads_seen;
    uint32_t first, count; /* ring of marks, oldest first */
    struct adsm_mark *marks[ADSM_LANE_EVENTS];
};

struct adsm_lanes {
    struct adsm_lock lock;
    uint32_t bucket[ADSM_LANE_BUCKETS]; /* 1 + lane, 0 for none */
    _Atomic uint32_t used;              /* lanes ever used; grows */
    uint32_t victim;                    /* next to settle when all are used */
    _Atomic uint64_t notes;             /* on all lanes; after the lane's own */
    _Atomic uint64_t settled;           /* of these, known to be done */
    _Atomic uint64_t ordered[2]; /* of these, the copy streams wait for */
    /* Submit all that is held; takes a lock of rank POKE. */
    int (*submit)(struct adsm_accel *accel);
    struct adsm_lock unused_lock;
    struct adsm_mark *unused;
    struct adsm_lane lane[ADSM_LANES];
};

/** Create the own streams. Return: ADSM_OK or why not. Thread: the one that
 *  makes the accel. Signal: never */
int adsm_lanes_create(struct adsm_accel *accel) ADSM_MUST_CHECK;

/** Wait for all lanes, destroy streams and events. Nobody may use the accel but
 *  to ask for fences. Thread: one. Signal: never */
void adsm_lanes_destroy(struct adsm_accel *accel);

/**
 * Something was just submitted to an own lane: its number. No event.
 *
 * Return: the number
 * Thread: any
 * Signal: fault path
 */
uint64_t adsm_lane_tick(struct adsm_accel *accel, uint32_t lane);

/** As adsm_lane_tick, for something that is yet to be submitted: the number is
 *  held, with all later ones. Thread: one at a time for both. Signal: fault path */
uint64_t adsm_lane_hold(struct adsm_accel *accel, uint32_t lane);

/** All that was held has been submitted. */
void adsm_lane_unhold(struct adsm_accel *accel, uint32_t lane);

/** Submit what is held of the upload lane's numbers up to `seq`, at least. Return:
 *  ADSM_OK; why it cannot be. Thread: any. Signal: fault path */
int adsm_lane_submit(struct adsm_accel *accel, uint64_t seq) ADSM_MUST_CHECK;

/**
 * Make a copy lane (upload, download) of `waits` wait on the device for all
 * noted lanes of `accel`; what it waits for already is known where both are one.
 *
 * Thread: any
 * Signal: fault path
 */
int adsm_lane_order_noted(struct adsm_accel *accel, struct adsm_accel *waits,
                          uint32_t copy_lane) ADSM_MUST_CHECK;

/**
 * Make `stream` wait for everything ticked so far on the upload lane.
 *
 * Thread: any
 * Signal: fault path
 */
int adsm_lane_order_uploads(struct adsm_accel *accel,
                            adsm_stream stream) ADSM_MUST_CHECK;

/**
 * adsm_fence_wait that polls for `spin_ns` before it sleeps.
 *
 * Thread: any
 * Signal: fault path
 */
int adsm_fence_wait_spinning(struct adsm_fence fence,
                             uint64_t spin_ns) ADSM_MUST_CHECK;

/** The specification of the table, for tests. Takes every lane's lock. Thread:
 *  any. Signal: never */
bool adsm_lanes_are_valid(struct adsm_accel *accel);

/** Whether all lanes but the copy lanes, which end soon then, have done what they
 *  were given so far; without blocking. Thread: any. Signal: never */
bool adsm_lanes_are_idle(struct adsm_accel *accel);

/** Whether all work noted on any lane but the copy lanes is done, without
 *  blocking. Thread: any. Signal: fault path */
bool adsm_lane_noted_done(struct adsm_accel *accel);

#endif
