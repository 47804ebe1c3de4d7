/* Boxes to grids. */
#include "call/grid.h"

#include "call/detail.h"

#include <limits.h>

enum { MOST_Y = 65535, INDEX_BITS = 46 };

int adsm_grid_check_range(const char *kernel, const adsmBox *range)
{
    if (range->nd < 1 || range->nd > 3)
        return adsm_detail(ADSM_E_INVALID,
                           "the range of kernel '%s' has %d dimensions; 1 to 3 "
                           "are possible: adsmR1, adsmR2, adsmR3",
                           kernel, range->nd);
    double indices = 1;
    for (int d = 0; d < range->nd; d++) {
        if (range->lo[d] < 0 || range->hi[d] < range->lo[d])
            return adsm_detail(ADSM_E_INVALID,
                               "the range of kernel '%s' has elements from "
                               "%ld to %ld in dimension %d: from 0 on, and "
                               "upwards",
                               kernel, range->lo[d], range->hi[d], d);
        indices *= (double)range->hi[d];
    }
    if (indices > (double)(INT64_C(1) << INDEX_BITS))
        return adsm_detail(ADSM_E_INVALID,
                           "the range of kernel '%s' has %.3g indices; 2^%d "
                           "are possible",
                           kernel, indices, INDEX_BITS);
    return ADSM_OK;
}

int adsm_grid_make(const char *kernel, const adsmBox *box,
                   const unsigned block[3], const long each[3],
                   struct adsm_grid *grid)
{
    static const unsigned usual[4][3] = {
        {0, 0, 0}, {256, 1, 1}, {32, 8, 1}, {32, 4, 2}};
    grid->bound_count = 0;
    for (int i = 0; i < 3; i++) {
        int d = box->nd - 1 - i; /* of x, y, z */
        long most = i == 0 ? INT32_MAX : MOST_Y, blocks = 1, indices;
        unsigned threads = block[0] == 0   ? usual[box->nd][i]
                           : block[i] == 0 ? 1
                                           : block[i];
        indices = d >= 0 && each[d] > 1 ? each[d] : 1;
        if (__builtin_mul_overflow(indices, (long)threads, &indices))
            indices = LONG_MAX;
        if (d >= 0)
            blocks = (box->hi[d] - box->lo[d]) / indices +
                     ((box->hi[d] - box->lo[d]) % indices > 0);
        if (blocks > most)
            return adsm_detail(ADSM_E_INVALID,
                               "a part of kernel '%s' has %ld indices in "
                               "dimension %d, %ld are possible: more parts, or "
                               "tiles, make it smaller",
                               kernel, box->hi[d] - box->lo[d], d,
                               most * indices);
        grid->launch.block[i] = threads;
        grid->launch.grid[i] = (unsigned)blocks;
    }
    for (int d = 0; d < box->nd; d++) {
        grid->bounds[grid->bound_count++] = box->lo[d];
        grid->bounds[grid->bound_count++] = box->hi[d];
    }
    return ADSM_OK;
}
