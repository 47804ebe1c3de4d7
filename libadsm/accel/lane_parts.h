/*
 * What lane.c, lane_note.c and lane_table.c use of each other.
 */
#ifndef ADSM_ACCEL_LANE_PARTS_H
#define ADSM_ACCEL_LANE_PARTS_H

#include "accel/lane.h"

static inline bool adsm_lane_is_done(struct adsm_lane *lane, uint64_t seq)
{
    /* Acquire: what the thread that saw the event knew is known here. */
    return atomic_load_explicit(&lane->done, memory_order_acquire) >= seq;
}

/** The last number of which all up to it have been submitted. */
static inline uint64_t adsm_lane_submitted(struct adsm_lane *lane)
{
    /* In this order: a number was held before it was given. */
    uint64_t given = atomic_load_explicit(&lane->given, memory_order_acquire);
    uint64_t held = atomic_load_explicit(&lane->held, memory_order_acquire);
    return held != 0 && held <= given ? held - 1 : given;
}

/* ---- lane.c; lane->lock is held unless said otherwise. Thread: any. Signal:
 * fault path, but for making and destroying. */

/** `seq` was seen to be reached: raise the mark, drop older events. */
void adsm_lane_reach(struct adsm_accel *accel, struct adsm_lane *lane,
                     uint64_t seq);

/** As adsm_lane_reach, where no event tells but a wait for everything. */
void adsm_lane_all_done(struct adsm_accel *accel, struct adsm_lane *lane,
                        uint64_t seq, uint64_t notes);

/** Record an event that stands for all numbers and notes given so far. */
int adsm_lane_record(struct adsm_accel *accel, struct adsm_lane *lane);

/** Have an event behind every note so far; its number goes to `seq`. */
int adsm_lane_cover_notes(struct adsm_accel *accel, struct adsm_lane *lane,
                          uint64_t *seq);

/** Make `stream`, which is one of `waits`, wait for `seq` of the lane, on the
 *  device. */
int adsm_lane_order(struct adsm_accel *accel, struct adsm_lane *lane,
                    uint64_t seq, struct adsm_accel *waits, adsm_stream stream);

/** Wait on the CPU for `seq` of the lane. No lock is held. */
int adsm_lane_wait(struct adsm_accel *accel, struct adsm_lane *lane,
                   uint64_t seq, uint64_t spin_ns);

/** Wait for the whole context instead of an event. No lock is held. */
int adsm_lane_settle_all(struct adsm_accel *accel, struct adsm_lane *lane);

/** Make the first event, and map the pool they come from: where no mapping is
 *  left to be had later, there is one. Return: ADSM_OK or an ADSM_E_ status */
int adsm_marks_create(struct adsm_accel *accel);

/** Destroy the unused events. No lane has one any more. */
void adsm_marks_destroy(struct adsm_accel *accel);

/* ---- lane_table.c -------------------------------------------------------- */

/**
 * The lane of a stream, made when there is none; returned with its lock held.
 *
 * When all lanes are in use the next one in turn is settled and taken over.
 * Return: NULL when that failed (the device is dead)
 * Thread: any
 * Signal: fault path
 */
struct adsm_lane *adsm_lane_of(struct adsm_accel *accel, adsm_stream stream,
                               bool per_thread);

/** As adsm_lane_of; NULL also when the stream has no lane. */
struct adsm_lane *adsm_lane_find(struct adsm_accel *accel, adsm_stream stream,
                                 bool per_thread);

/** Take a lane from its stream; its events stay. lane->lock is NOT held. */
void adsm_lane_detach(struct adsm_accel *accel, struct adsm_lane *lane);

#endif
