/*
 * Copies of parts of objects, as who needs device memory sees them: something
 * that can be given up.
 *
 * Owns the function that does so, which is libadsm/range's, once it is there.
 */
#ifndef ADSM_MM_COPIES_H
#define ADSM_MM_COPIES_H

#include "accel/accel.h"

typedef bool adsm_copies_function(struct adsm_accel *accel, size_t bytes);

/** Who gives up copies. Thread: one, at the start. Signal: never */
void adsm_copies_set(adsm_copies_function *give_up);

/**
 * Somebody needs device memory and there is none: give the driver that of a copy
 * which nobody uses just now.
 *
 * @bytes  how much is needed: where that is more than can ever go, nothing goes
 * Return: whether trying again can help
 * Thread: any, no lock of rank OBJECT_TABLE or later held. Signal: never
 */
bool adsm_copies_give_up(struct adsm_accel *accel, size_t bytes);

#endif
