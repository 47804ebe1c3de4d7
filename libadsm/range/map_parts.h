/*
 * Between the files of the map only.
 */
#ifndef ADSM_RANGE_MAP_PARTS_H
#define ADSM_RANGE_MAP_PARTS_H

#include "range/map.h"

/** Sort all boxes. Signal: never */
void adsm_map_sort(struct adsm_map *map);

/** Sort all boxes and put neighbours with equal sets together, until there are
 *  none. Signal: never */
void adsm_map_join(struct adsm_map *map);

#endif
