/*
 * From a plan's moves to transfers: enqueue them in their order.
 *
 * Each transfer waits, on the device, for those whose bytes it reads or
 * replaces, and is remembered by both its ends (order.h, flight.h). The object's
 * lock is held exclusively. Thread: any. Signal: never, unless said otherwise.
 */
#ifndef ADSM_RANGE_CARRY_H
#define ADSM_RANGE_CARRY_H

#include "range/state.h"

/**
 * Move a box of the object's array between its host pages and copies.
 *
 * @to @from  copies of the object, NULL: the host
 * @box       in both copies; not empty
 * Return: ADSM_OK; ADSM_E_UNSUPPORTED: from one device to another that it cannot
 *         reach; ADSM_E_NOMEM; a device's error: nothing was enqueued
 */
int adsm_carry(struct adsm_object *object, struct adsm_copy *to,
               struct adsm_copy *from, const adsmBox *box,
               const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** The same where the boxes differ, which are equally large: what lies beyond
 *  an edge. `to_box` lies in the room of `to`. */
int adsm_carry_to(struct adsm_object *object, struct adsm_copy *to,
                  const adsmBox *to_box, struct adsm_copy *from,
                  const adsmBox *from_box,
                  const struct adsm_cause *cause) ADSM_MUST_CHECK;

/**
 * Enqueue one transfer and let only the caller know: for who waits for it
 * before he lets go of the object's lock, which may be held shared.
 *
 * Return: as adsm_carry_to. Signal: fault path
 */
int adsm_carry_enqueue(struct adsm_object *object, struct adsm_copy *to,
                       const adsmBox *to_box, struct adsm_copy *from,
                       const adsmBox *from_box, struct adsm_fence *done,
                       const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** Put one element everywhere into a box of a copy's room. */
int adsm_carry_fill(struct adsm_copy *to, const adsmBox *box,
                    const void *element, size_t bytes,
                    const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** First and last byte of a box, as bytes [begin, end) of the object. */
void adsm_carry_host_range(const adsmBox *whole, const adsmBox *box,
                           size_t *begin, size_t *end);

#endif
