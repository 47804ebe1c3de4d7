/*
 * What a launch may write, and what it may touch at all of objects that come and
 * go (mm/object/movable.h): where its arguments point, as far as the kernel's
 * PTX says that its addresses are computed from them. What is not known is any
 * object.
 *
 * A kernel without PTX, or with addresses that it finds in memory, may touch
 * anything; ADSM_OVERSUBSCRIBE=arguments is the user's word that it touches only
 * what its arguments point into.
 */
#ifndef INTERPOSE_DEVICE_REACH_H
#define INTERPOSE_DEVICE_REACH_H

#include "code/code.h"
#include "interpose/device/arguments.h"
#include "mm/doors/boundary.h"

/* Each place leads to an object, and to one that begins shortly behind. */
enum { DEVICE_REACH_MOST = 4 * SC_PLACES_MOST, DEVICE_ROWS_MOST = 16 };

/** Room for what a call is told. */
struct device_told {
    struct adsm_use uses[DEVICE_REACH_MOST], reach[DEVICE_REACH_MOST];
    struct adsm_rows rows[DEVICE_ROWS_MOST];
};

/** Is it looked at what code says of kernels? */
bool device_reach_is_asked(void);

/** Is there anything to tell? Nobody needs the kernel's record without it. */
bool device_reach_matters(void);

/**
 * Fill in the call's uses and its reach, which lie in `told` then.
 *
 * @code  of the kernel; NULL: it has no record
 * @geometry  of the launch
 * Thread: any, inside of hook_enter, no lock of an object or of a later rank
 *         held. Signal: never
 */
void device_reach_tell(struct adsm_call *call, struct adsm_code *code,
                       const struct sc_geometry *geometry,
                       const struct device_arguments *a,
                       struct device_told *told);

#endif
