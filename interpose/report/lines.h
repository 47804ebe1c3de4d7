/*
 * From addresses in files to lines of source, by the program addr2line, at the
 * end of the process. Without it, or without debug information, a place is a
 * function, or a module and an offset.
 */
#ifndef INTERPOSE_REPORT_LINES_H
#define INTERPOSE_REPORT_LINES_H

#include "interpose/report/site.h"

/** A line of source; file NULL: it is not known. */
struct report_line {
    const char *file;
    unsigned line;
};

enum { REPORT_CALLERS = 2 };

/** Where a site is: its innermost frame that is the program's own. Texts live as
 *  long as the process; NULL: not known. */
struct report_place {
    struct report_line at;
    const char *function, *module;
    uint64_t offset;
    /* Who calls that line, as far as that differs: it may stand in a function of
     * the program's that makes all its copies. */
    struct report_line caller[REPORT_CALLERS];
    unsigned callers;
};

/** Find the places of all sites. Thread: one, which is in the driver's or the
 *  runtime's name (hook_enter). Signal: never */
void report_places_find(void);

const struct report_place *report_place_of(uint32_t site);

/** The same place, to who reads the report? */
bool report_is_same_place(uint32_t one, uint32_t other);

#endif
