/* Findings; see finding.h. */
#include "interpose/report/finding.h"

#include <stdlib.h>

enum { FINDINGS_MOST = 2048, FIRST = 32 };

const struct report_kind_text report_kind_text[REPORT_KINDS] = {
#define KIND(name, word, saves, text, advice) {word, text, advice, saves},
#include "interpose/report/kinds.def"
#undef KIND
};

static struct {
    struct report_finding *at;
    uint32_t count, room;
    uint64_t lost;
} found;

static bool has_room(void)
{
    if (found.count < found.room)
        return true;
    uint32_t room = found.room ? 2 * found.room : FIRST;
    struct report_finding *more =
        room <= FINDINGS_MOST ? realloc(found.at, room * sizeof *more) : NULL;
    if (!more)
        return false;
    found.at = more;
    found.room = room;
    return true;
}

void report_find(enum report_kind kind, const struct report_cost *cost,
                 uint32_t other)
{
    uint32_t i = 0;
    while (i < found.count &&
           (found.at[i].kind != kind || found.at[i].site != cost->site ||
            found.at[i].way != cost->way))
        i++;
    if (i == found.count && !has_room()) {
        found.lost++;
        return;
    }
    if (i == found.count)
        found.at[found.count++] = (struct report_finding){
            .kind = kind, .way = cost->way, .site = cost->site, .other = other};
    report_sum_add(&found.at[i].sum, cost->bytes, cost->ns, cost->timed);
}

const struct report_finding *report_findings(uint32_t *count)
{
    *count = found.count;
    return found.at;
}

uint64_t report_findings_lost(void)
{
    return found.lost;
}
