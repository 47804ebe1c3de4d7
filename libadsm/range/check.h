/*
 * ADSM_CHECK: what kernels do beyond what their call declares.
 *
 * With the option each argument of each part has a copy of its own, which goes
 * with the call, and guard bytes on both sides of its memory. Before anything is
 * brought there all of it is filled with 0xff, which is NaN to whoever reads what
 * he did not ask for.
 *
 * For finding mistakes: filling is waited for. Without the option all of this does nothing. Thread: the one that
 * makes the call. Signal: never
 */
#ifndef ADSM_RANGE_CHECK_H
#define ADSM_RANGE_CHECK_H

#include "base/option.h"
#include "range/spread.h"

static inline bool adsm_check_is_on(void)
{
    return adsm_options_get()->check;
}

/* ---- copies: within the layer ---------------------------------------------- */

/** Bytes on either side of a new copy's memory. */
size_t adsm_check_guard(void);

/** Room between the rows of a view, where a kernel may store by mistake. `want`
 *  is prepared. */
void adsm_check_widen(struct adsm_want *want);

/** Fill all memory of a new copy. Its object's lock is held exclusively. Return:
 *  ADSM_OK; ADSM_E_NOMEM; a device's error */
int adsm_check_fill(struct adsm_copy *copy);

/* ---- parts: of a call between adsm_spread_begin and _end -------------------- */

/** How many of `parts` with `wants` each may be begun at once: each want takes a
 *  number in its object's map. */
int adsm_check_parts(int parts, int wants);

#endif
