/*
 * The report in its two forms: a table with advice on standard error, and one
 * line of JSON. At the end of the process, by one thread.
 */
#ifndef INTERPOSE_REPORT_WRITE_H
#define INTERPOSE_REPORT_WRITE_H

#include "interpose/report/rows.h"

#include <stdio.h>

/** Write what the options ask for. @run_ns how long the program ran */
void report_write(uint64_t run_ns);

/** json.c: all of it, in one line. */
void report_write_json(FILE *to, const struct report_rows *rows,
                       uint64_t run_ns);

/** What is done in that way, for people; and in the JSON. */
const char *report_way_text(enum report_way way);
const char *report_way_word(enum report_way way);

#endif
