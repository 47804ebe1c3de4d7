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
#ifndef INTERPOSE_CUDA_REACH_H
#define INTERPOSE_CUDA_REACH_H

#include "interpose/cuda/arguments.h"
#include "mm/doors/boundary.h"

/* Each place leads to an object, and to one that begins shortly behind. */
enum { CUDA_REACH_MOST = 4 * SC_PLACES_MOST, CUDA_ROWS_MOST = 16 };

/** Room for what a call is told. */
struct cuda_told {
    struct adsm_use uses[CUDA_REACH_MOST], reach[CUDA_REACH_MOST];
    struct adsm_rows rows[CUDA_ROWS_MOST];
};

/**
 * Fill in the call's uses and its reach, which lie in `told` then.
 *
 * @geometry  of the launch
 * Thread: any, no lock of an object or of a later rank held. Signal: never
 */
void cuda_reach_tell(struct adsm_call *call, CUfunction function,
                     const struct sc_geometry *geometry,
                     const struct cuda_arguments *a, struct cuda_told *told);

#endif
