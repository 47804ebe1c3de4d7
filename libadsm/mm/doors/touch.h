/*
 * Door 1 into coherence: the CPU touched a protected block.
 *
 * Owns nothing. Takes a gate, then the object's lock shared and the block; at
 * the limit on mappings that lock exclusively.
 */
#ifndef ADSM_MM_TOUCH_H
#define ADSM_MM_TOUCH_H

#include "os/fault.h"

/**
 * Make the block at `address` accessible. The handler of the fault engine.
 *
 * @ip  instruction of the access; 0: not known
 * Return: true when the access may be retried; false when the address is not
 *         ours or its data cannot be had (said once by the log)
 * Thread: any; holds no lock of rank GATE or later. Signal: fault path
 */
bool adsm_touch(uintptr_t address, enum adsm_access access, uintptr_t ip);

#endif
