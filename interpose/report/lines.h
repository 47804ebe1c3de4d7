/*
 * From addresses in files to lines of source, by the program addr2line, at the
 * end of the process. Without it, or without debug information, a place is a
 * function, or a module and an offset.
 */
#ifndef INTERPOSE_REPORT_LINES_H
#define INTERPOSE_REPORT_LINES_H

#include "interpose/report/site.h"

/** Where a site is: its innermost frame that is the program's own. Texts live as
 *  long as the process; NULL: not known. */
struct report_place {
    const char *file, *function, *module;
    unsigned line; /* 0: not known */
    uint64_t offset;
};

/** Find the places of all sites. Thread: one, which is in the driver's or the
 *  runtime's name (hook_enter). Signal: never */
void report_places_find(void);

const struct report_place *report_place_of(uint32_t site);

#endif
