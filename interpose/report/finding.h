/*
 * What was found: one record for each kind and call site, at most
 * FINDINGS_MOST; what comes later is counted and left out.
 *
 * Under the report's lock.
 */
#ifndef INTERPOSE_REPORT_FINDING_H
#define INTERPOSE_REPORT_FINDING_H

#include "interpose/report/site.h"

enum report_kind {
#define KIND(name, word, saves, text, advice) REPORT_##name,
#include "interpose/report/kinds.def"
#undef KIND
    REPORT_KINDS
};

struct report_kind_text {
    const char *word, *text, *advice;
    bool saves;
};
extern const struct report_kind_text report_kind_text[REPORT_KINDS];

struct report_finding {
    enum report_kind kind;
    enum report_way way;  /* of what was found                             */
    uint32_t site, other; /* other: the copy, free or allocation that makes
                             it one; 0: none                               */
    struct report_sum sum;
};

/** A copy that may be found to be needless later. */
struct report_cost {
    uint32_t site;
    enum report_way way;
    uint64_t bytes, ns;
    bool timed;
};

void report_find(enum report_kind kind, const struct report_cost *cost,
                 uint32_t other);

/** All of them. */
const struct report_finding *report_findings(uint32_t *count);

/** How many had no room. */
uint64_t report_findings_lost(void);

#endif
