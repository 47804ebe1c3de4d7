/*
 * How far a walk has come: an operator that takes the farther one of two places,
 * the earlier one of two that are as far, and a map that makes a place of each
 * position.
 */
#include "adsm_device.h"

struct place {
    int step, distance;
};

ADSM_OPERATOR(farther, place, (place{-1, -1}), b.distance > a.distance ? b : a)

ADSM_MAP_REDUCE(farthest, place, farther, (const int *position),
                place{(int)i, position[i] < 0 ? -position[i] : position[i]})
