/* Rows of the report; see rows.h. No lock: the process ends. */
#include "interpose/report/rows.h"

#include "interpose/report/lines.h"

#include <stdlib.h>

static void add(struct report_sum *to, const struct report_sum *sum)
{
    to->count += sum->count;
    to->bytes += sum->bytes;
    to->ns += sum->ns;
    to->untimed += sum->untimed;
}

static void add_row(struct report_rows *rows, uint32_t site,
                    enum report_way way, const struct report_sum *sum)
{
    uint32_t i = 0;
    add(&rows->total[way], sum);
    while (i < rows->rows && (rows->row[i].way != way ||
                              !report_is_same_place(rows->row[i].site, site)))
        i++;
    if (i == rows->rows)
        rows->row[rows->rows++] = (struct report_row){.site = site, .way = way};
    add(&rows->row[i].sum, sum);
}

static void add_finding(struct report_rows *rows,
                        const struct report_finding *found)
{
    uint32_t i = 0;
    for (; i < rows->advices; i++) {
        struct report_finding *old = &rows->advice[i].found;
        if (old->kind == found->kind && old->way == found->way &&
            report_is_same_place(old->site, found->site)) {
            add(&old->sum, &found->sum);
            return;
        }
    }
    rows->advice[rows->advices++] = (struct report_advice){.found = *found};
}

/* How long a byte took, where it was waited for. 0: nowhere */
static double ns_of_byte(const struct report_sum *total)
{
    uint64_t timed = total->bytes - total->untimed;
    return timed ? (double)total->ns / (double)timed : 0;
}

/* The time of copies that nobody waited for is that of others in the same
 * direction, or else in the other one. */
static void time_untimed(struct report_sum *sum, enum report_way way,
                         const double rate[REPORT_WAYS])
{
    double ns = rate[way];
    if (!ns && way <= REPORT_DOWN)
        ns = rate[REPORT_UP + REPORT_DOWN - way];
    sum->ns += (uint64_t)(ns * (double)sum->untimed);
}

static int by_time(const void *one, const void *other)
{
    const struct report_sum *a = &((const struct report_row *)one)->sum;
    const struct report_sum *b = &((const struct report_row *)other)->sum;
    if (a->ns != b->ns)
        return a->ns < b->ns ? 1 : -1;
    return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

static int by_saving(const void *one, const void *other)
{
    const struct report_advice *a = one, *b = other;
    if (a->saves_ns != b->saves_ns)
        return a->saves_ns < b->saves_ns ? 1 : -1;
    if (a->found.kind != b->found.kind)
        return (int)a->found.kind - (int)b->found.kind;
    return (int)a->found.site - (int)b->found.site;
}

static void finish(struct report_rows *rows)
{
    double rate[REPORT_WAYS];
    for (unsigned way = 0; way < REPORT_WAYS; way++)
        rate[way] = ns_of_byte(&rows->total[way]);
    for (uint32_t i = 0; i < rows->rows; i++)
        time_untimed(&rows->row[i].sum, rows->row[i].way, rate);
    for (uint32_t i = 0; i < rows->advices; i++) {
        struct report_finding *found = &rows->advice[i].found;
        time_untimed(&found->sum, found->way, rate);
        if (report_kind_text[found->kind].saves)
            rows->advice[i].saves_ns = found->sum.ns;
    }
    for (unsigned way = 0; way < REPORT_WAYS; way++)
        time_untimed(&rows->total[way], (enum report_way)way, rate);
    qsort(rows->row, rows->rows, sizeof *rows->row, by_time);
    qsort(rows->advice, rows->advices, sizeof *rows->advice, by_saving);
}

void report_rows_make(struct report_rows *rows)
{
    uint32_t sites = report_sites_count(), count;
    const struct report_finding *found = report_findings(&count);
    *rows = (struct report_rows){
        .row = calloc((size_t)sites * REPORT_WAYS, sizeof *rows->row),
        .advice = calloc(count + 1, sizeof *rows->advice)};
    if (!rows->row || !rows->advice)
        return;
    for (uint32_t i = 0; i < sites; i++)
        for (unsigned way = 0; way < REPORT_WAYS; way++)
            if (report_site_at(i)->way[way].count)
                add_row(rows, i, (enum report_way)way,
                        &report_site_at(i)->way[way]);
    for (uint32_t i = 0; i < count; i++)
        add_finding(rows, &found[i]);
    finish(rows);
}
