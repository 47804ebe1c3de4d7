/*
 * Device memory filled with a pattern, in the order of a stream.
 *
 * Patterns that drivers set are given to them. Of others the beginning is sent,
 * and doubled by copies within the device until all of it is there.
 *
 * Owns no state. Thread: any. Signal: never
 */
#ifndef ADSM_ACCEL_FILL_H
#define ADSM_ACCEL_FILL_H

#include "accel/types.h"

/**
 * Enqueue it. The pattern is read before this returns.
 *
 * @width  bytes of the pattern; @bytes  to fill, a multiple of it
 * Return: ADSM_OK; ADSM_E_NOMEM; a device's error: some may be filled
 */
int adsm_fill(struct adsm_accel *accel, adsm_stream stream,
              struct adsm_daddr to, const void *pattern, size_t width,
              size_t bytes) ADSM_MUST_CHECK;

#endif
