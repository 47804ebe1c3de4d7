/*
 * How fast bytes go between the host and devices, and from device to device.
 */
#ifndef ADSM_INFO_LINKS_H
#define ADSM_INFO_LINKS_H

#include "table.h"

/** Measure every pair: a row each, or one for a device that cannot be used.
 *  Opens each device and uses some memory of it meanwhile. */
void section_links(struct table *table);

/** Print what section_links has filled as matrices. */
void links_print(const struct table *table, FILE *out);

#endif
