/*
 * The report as rows: what was called, and what was found, by line of source.
 * Chains of callers that end in the same line are one row. Largest time first.
 */
#ifndef INTERPOSE_REPORT_ROWS_H
#define INTERPOSE_REPORT_ROWS_H

#include "interpose/report/finding.h"

/** What was done at a line; `ns` is of all bytes, as far as it is known. */
struct report_row {
    uint32_t site; /* one of them */
    enum report_way way;
    struct report_sum sum;
};

/** What was found at a line. */
struct report_advice {
    struct report_finding found;
    uint64_t saves_ns;
};

struct report_rows {
    struct report_sum total[REPORT_WAYS];
    struct report_row *row;
    struct report_advice *advice;
    uint32_t rows, advices;
};

/** Behind report_places_find; once. */
void report_rows_make(struct report_rows *rows);

#endif
