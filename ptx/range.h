/*
 * Ranges of bytes (ptx/access.h), made of sets of numbers and put together.
 *
 * Lock: none.
 */
#ifndef SOFTCUDA_PTX_RANGE_H
#define SOFTCUDA_PTX_RANGE_H

#include "ptx/access.h"
#include "ptx/strided.h"

/** Ranges of the same places this close are one, and no row is looked for in
 *  less. */
enum { SC_RANGE_NEAR_BYTES = 4096 };

/** All bytes from the first to the last; sc_interval_any(64): anywhere. */
void sc_range_all(struct sc_range *range, struct sc_interval at);

/** Only those of a set, which lies in the range; anything: all of them. */
void sc_range_strided(struct sc_range *range, const struct sc_strided *set);

/** Make one of two, where that is more than they have by little. Return: false:
 *  `to` is as it was */
bool sc_range_join(struct sc_range *to, const struct sc_range *by);

#endif
