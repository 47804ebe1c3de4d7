/*
 * ADSM_CHECK: what kernels do beyond what their call declares.
 *
 * With the option each argument of each part has a copy of its own, which goes
 * with the call, and guard bytes on both sides of its memory. Before anything is
 * brought there all of it is filled with 0xff, which is NaN to whoever reads what
 * he did not ask for. What the copies hold just before the part's kernel is
 * compared with what they hold behind it: outside the boxes that are written it
 * is to be the same.
 *
 * For finding mistakes: the calling thread waits for every part, with the gates
 * closed. Without the option all of this does nothing. Thread: the one that
 * makes the call. Signal: never
 */
#ifndef ADSM_RANGE_CHECK_H
#define ADSM_RANGE_CHECK_H

#include "base/option.h"
#include "range/want.h"

static inline bool adsm_check_is_on(void)
{
    return adsm_options_get()->check;
}

/** What is known of one part (adsm_part.check). */
struct adsm_check {
    bool found; /* its kernel stored where it must not: the first place */
    int want;
    size_t bytes;   /* of the copy that changed, all in all */
    long index[3];  /* of the first of them in the want's array */
    bool is_index;  /* false: it is in the guard, where no index leads */
    bool is_behind; /* of the copy, not before it */
    size_t distance;
    uint8_t *before[]; /* of each want; NULL: an earlier one has its copy */
};

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

/** Remember what the part's copies hold; adsm_spread_order is behind. Return:
 *  ADSM_OK; ADSM_E_NOMEM; a device's error */
int adsm_check_before(struct adsm_part *part);

/** Wait for the part's kernel, which ends with `fence` and was told of with
 *  adsm_spread_launched, and see what it did: part->check. Return: as above */
int adsm_check_after(struct adsm_part *part, struct adsm_fence fence);

/** Forget what was found. */
void adsm_check_forget(struct adsm_part *part);

#endif
