/*
 * How fast bytes go between the host and devices, and from device to device.
 */
#ifndef ADSM_INFO_LINKS_H
#define ADSM_INFO_LINKS_H

#include "table.h"

/** Columns of the table. `measured` is when, as "2026-11-28 17:40". */
enum {
    LINKS_FROM,
    LINKS_TO,
    LINKS_WAY,
    LINKS_RATE,
    LINKS_LATENCY,
    LINKS_ERROR,
    LINKS_MEASURED,
    LINKS_COLUMNS
};

/** Make the table, without rows. */
void links_table(struct table *table);

/** Measure every pair: a row each, or one for a device that cannot be used.
 *  Opens each device and uses some memory of it meanwhile. What was measured is
 *  kept, if all was. */
void section_links(struct table *table);

/** The same as it was measured last with these devices on this machine
 *  (links_kept.c). Opens none. */
void section_links_kept(struct table *table);

/** Keep the rows of what was just measured, unless one of them has an error. */
void links_keep(const struct table *table);

/** Print what section_links has filled as matrices. */
void links_print(const struct table *table, FILE *out);

#endif
