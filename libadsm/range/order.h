/*
 * Who has to wait for whom: fences of a copy's bytes.
 *
 * A copy remembers what writes it (which box, until which fence) and what reads
 * it. A new reader waits for the writes that meet its box, a new writer for
 * those and for all readers (RAW, WAW and WAR); the waiting is the device's.
 * Both lists are bounded and never refuse: a fence that has been reached goes,
 * of two fences of one lane the later stands for both, and boxes are merged to
 * their hull, which makes somebody wait for more than he must but never less.
 *
 * No lock of its own: a copy's lists change under its object's lock, held
 * exclusively; who holds it shared reads them. Thread: any.
 */
#ifndef ADSM_RANGE_ORDER_H
#define ADSM_RANGE_ORDER_H

#include "accel/accel.h"
#include "adsm.h"

enum {
    /* What ADSM_CHUNKS_MOST pieces upload and write, and some more. */
    ADSM_ORDER_WRITES = 72,
    ADSM_ORDER_READERS = 12,
    ADSM_ORDER_WAITS = 48,
};

/** A part of a copy that a lane writes, or has written. */
struct adsm_order_write {
    adsmBox box;
    struct adsm_fence fence;
};

struct adsm_order {
    struct adsm_order_write write[ADSM_ORDER_WRITES];
    struct adsm_fence reader[ADSM_ORDER_READERS]; /* one per lane */
    uint32_t writes, readers;
};

/** Fences that something must wait for, the last one of each lane. */
struct adsm_waits {
    struct adsm_fence fence[ADSM_ORDER_WAITS];
    uint32_t count;
};

/** One more to wait for, unless it has been reached. Where there is no room for
 *  another lane the calling thread waits for one. Signal: fault path */
void adsm_waits_add(struct adsm_waits *waits, struct adsm_fence fence);

/** Make a stream of `accel` wait for all of them. Return: ADSM_OK; a device's
 *  error. Signal: fault path */
int adsm_waits_order(const struct adsm_waits *waits, struct adsm_accel *accel,
                     adsm_stream stream) ADSM_MUST_CHECK;

/** Block until all are reached; the first failure. Signal: fault path */
int adsm_waits_wait(const struct adsm_waits *waits);

/** What a reader of `box` waits for. Signal: fault path */
void adsm_order_before_read(const struct adsm_order *order, const adsmBox *box,
                            struct adsm_waits *waits);

/** What a writer of `box` waits for. Signal: fault path */
void adsm_order_before_write(const struct adsm_order *order, const adsmBox *box,
                             struct adsm_waits *waits);

/** `box` is read or written until `fence`. Signal: never */
void adsm_order_read(struct adsm_order *order, struct adsm_fence fence);
void adsm_order_written(struct adsm_order *order, const adsmBox *box,
                        struct adsm_fence fence);

/** Everything about the copy, for who gives its memory away. Signal: fault
 *  path */
void adsm_order_all(const struct adsm_order *order, struct adsm_waits *waits);

/** Has all of it been reached? Signal: fault path */
bool adsm_order_is_idle(const struct adsm_order *order);

/** The structure's specification: counts in bounds, no lane twice among the
 *  readers, no empty box. Signal: any handler */
bool adsm_order_is_valid(const struct adsm_order *order);

#endif
