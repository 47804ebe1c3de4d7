/*
 * The launch of a range kernel over a box: thread x along the innermost dimension,
 * y and z along those around it. Pure. Thread: any. Signal: never
 */
#ifndef ADSM_CALL_GRID_H
#define ADSM_CALL_GRID_H

#include "adsm.h"
#include "accel/launch.h"

enum { ADSM_GRID_BOUNDS = 6 }; /* most parameters that say the box */

struct adsm_grid {
    struct adsm_launch launch; /* on which device, and of what, is said later */
    int64_t bounds[ADSM_GRID_BOUNDS]; /* outermost dimension first */
    int bound_count;
};

/**
 * Dimensions and bounds.
 *
 * @kernel  its name, for messages; @box  not empty
 * @block   threads of a block, x y z; x 0: as many as suit the dimensions
 * @each    indices of a thread, by dimension of the box; 0: 1
 * Return: ADSM_OK; ADSM_E_INVALID (more blocks than a grid can have)
 */
int adsm_grid_make(const char *kernel, const adsmBox *box,
                   const unsigned block[3], const long each[3],
                   struct adsm_grid *grid);

/**
 * Whether a box can be the range of a call: 1 to 3 dimensions from 0 on, no
 * dimension backwards, no more indices than can be counted.
 */
int adsm_grid_check_range(const char *kernel, const adsmBox *range);

#endif
