/*
 * Copies and sets of objects that have no device memory just now (see
 * mm/object/movable.h): made by the CPU, on the host part, in place of the
 * driver.
 *
 * They wait for their stream first and are done when they return, whether the
 * program called them asynchronous or not. What cannot be made here (rows with a
 * pitch, memory of the driver's own on the other side) is left to the driver,
 * after the object has become resident.
 */
#ifndef INTERPOSE_DEVICE_AWAY_H
#define INTERPOSE_DEVICE_AWAY_H

#include "interpose/device/driver.h"

/** One side of a copy. */
struct device_side {
    uint64_t at;
    bool on_host; /* plain memory there is the host's                     */
};

/**
 * Make the copy here if a side of it is away. Sides without an address are none.
 *
 * @status  what came of it, where it was; ADSM_E_NOT_SHARED for a range that goes
 *          out of its object
 * Return: whether it was made, or failed
 * Thread: any. Signal: never
 */
bool device_away_copy(struct device_order order, struct device_side to,
                      struct device_side from, size_t bytes, int *status);

/** The same for `bytes` set to copies of `value`, `element` bytes each, 4 at
 *  most. */
bool device_away_set(struct device_order order, uint64_t to, const void *value,
                     size_t element, size_t bytes, int *status);

#endif
