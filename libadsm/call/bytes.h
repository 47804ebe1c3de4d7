/*
 * Fills and copies of bytes, in the order of their data: adsmFill, adsmMemset,
 * adsmCopy.
 *
 * They are calls whose kernels are acts (accel/launch.h), so they are planned,
 * ordered and cut into parts as any other; their range is counted in bytes. One
 * without options runs where the memory lives. Copies from and to memory that is
 * not shared are made by the calling thread (mm/doors/bulk.h).
 *
 * Nothing is set from outside: calls in parts copy so, too.
 *
 * Owns the two kernels, which are made by the first call and stay. Failures set
 * the error detail. Thread: any. Signal: never
 */
#ifndef ADSM_CALL_BYTES_H
#define ADSM_CALL_BYTES_H

#include "adsm.h"

/**
 * Fill shared memory with a pattern.
 *
 * @opts    NULL: one part, where the memory lives, or for an array without a
 *          home on @device
 * @width   bytes of the pattern, which is read during the call; @bytes  to fill,
 *          a multiple of it
 * Return: ADSM_OK; ADSM_E_INVALID, ADSM_E_NOT_SHARED, ADSM_E_LIMIT; as calls
 */
int adsm_bytes_fill(const adsmOpts *opts, int device, void *to, size_t bytes,
                    const void *pattern, size_t width);

/** Copy, also where both overlap. @device  for arrays without a home */
int adsm_bytes_copy(const adsmOpts *opts, int device, void *to,
                    const void *from, size_t bytes);

#endif
