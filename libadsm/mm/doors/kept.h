/*
 * Bytes that begin to stay with the CPU (mm/watch/keep.h): a thread is about to
 * wait with them.
 *
 * Owns nothing. Lock: callers hold none of rank GATE or later.
 */
#ifndef ADSM_MM_KEPT_H
#define ADSM_MM_KEPT_H

#include "base/status.h"

#include <stddef.h>

/**
 * Where to work on [address, +bytes): at S. The first time the bytes are fetched
 * where the device has them, and stay with the CPU from then on.
 *
 * @at  the place
 * Return: ADSM_OK; ADSM_E_NOT_SHARED; ADSM_E_INVALID (not within one object, or
 *         not at a multiple of four); ADSM_E_NOMEM, a device's error
 * Thread: any. Signal: never
 */
int adsm_keep(const void *address, size_t bytes, void **at) ADSM_MUST_CHECK;

#endif
