/*
 * What there is when device memory is short. Owns that it has been said.
 */
#ifndef ADSM_MM_SHORTAGE_H
#define ADSM_MM_SHORTAGE_H

#include "accel/accel.h"

/**
 * The device had no room for `bytes`: say, once per process, how much was asked
 * for, what the library holds for the program's allocations and beside them,
 * and what the device says is free.
 *
 * Thread: any, no lock held. Signal: never
 */
void adsm_shortage_tell(struct adsm_accel *accel, size_t bytes);

#endif
