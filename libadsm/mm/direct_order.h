/*
 * In what order devices use memory that all of them share with the host
 * (mm/direct.h): who has copies is ordered by them, but here there are none. A
 * kernel that is given such memory runs behind what other devices were given
 * any with; on one device the stream orders them.
 *
 * Lock: one, rank OBJECT_LIST. With one device it costs a load. Thread: any.
 * Signal: never.
 */
#ifndef ADSM_MM_DIRECT_ORDER_H
#define ADSM_MM_DIRECT_ORDER_H

#include "accel/accel.h"

/** Make a stream wait, on its device, for what other devices were given so far.
 *  Return: ADSM_OK; a device's error */
int adsm_direct_order(struct adsm_accel *accel,
                      adsm_stream stream) ADSM_MUST_CHECK;

/** A kernel that was given such memory is the last on the stream. Return: as
 *  adsm_direct_order */
int adsm_direct_launched(struct adsm_accel *accel,
                         adsm_stream stream) ADSM_MUST_CHECK;

/** Wait for all that was launched so by several devices; no lock is held. */
void adsm_direct_wait(void);

#endif
