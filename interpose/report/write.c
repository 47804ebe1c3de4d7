/* The table and the advice; see write.h. */
#include "interpose/report/write.h"

#include "base/log.h"
#include "base/option.h"
#include "base/output.h"
#include "base/stats.h"
#include "interpose/report/lines.h"
#include "interpose/report/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 20, PLACE_BYTES = 400, AMOUNT_BYTES = 40 };

static const struct {
    const char *text, *word;
} ways[REPORT_WAYS] = {
    [REPORT_UP] = {"copy up", "up"},
    [REPORT_DOWN] = {"copy down", "down"},
    [REPORT_DEVICE] = {"on device", "device"},
    [REPORT_SET] = {"set", "set"},
    [REPORT_ALLOC] = {"allocate", "alloc"},
    [REPORT_FREE] = {"free", "free"},
    [REPORT_LAUNCH] = {"launch", "launch"},
    [REPORT_SYNC] = {"wait", "sync"},
};

const char *report_way_text(enum report_way way)
{
    return ways[way].text;
}

const char *report_way_word(enum report_way way)
{
    return ways[way].word;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "vec.cu:41", and who calls that; "main (vec+0x1234)"; "vec+0x1234". */
static const char *place_text(uint32_t site, char text[PLACE_BYTES])
{
    const struct report_place *p = report_place_of(site);
    const char *module = p->module && *p->module ? base_of(p->module) : NULL;
    int used = 0;
    if (p->at.file)
        used = snprintf(text, PLACE_BYTES, "%s:%u", base_of(p->at.file),
                        p->at.line);
    else if (module && p->function)
        snprintf(text, PLACE_BYTES, "%s (%s+0x%" PRIx64 ")", p->function,
                 module, p->offset);
    else if (module)
        snprintf(text, PLACE_BYTES, "%s+0x%" PRIx64, module, p->offset);
    else
        snprintf(text, PLACE_BYTES, "elsewhere");
    for (unsigned i = 0; i < p->callers && used < PLACE_BYTES; i++)
        used +=
            snprintf(text + used, (size_t)(PLACE_BYTES - used), " from %s:%u",
                     base_of(p->caller[i].file), p->caller[i].line);
    return text;
}

static const char *amount(uint64_t value, const char *unit,
                          char text[AMOUNT_BYTES])
{
    adsm_stats_text(value, unit, text, AMOUNT_BYTES);
    return text;
}

static double percent(uint64_t ns, uint64_t run_ns)
{
    return run_ns ? 100.0 * (double)ns / (double)run_ns : 0;
}

static void print_head(const struct report_rows *rows, uint64_t run_ns)
{
    char bytes[2][AMOUNT_BYTES], ns[3][AMOUNT_BYTES];
    const struct report_sum *up = &rows->total[REPORT_UP];
    const struct report_sum *down = &rows->total[REPORT_DOWN];
    fprintf(stderr,
            "libadsm: report of %s: %s, of which %.1f %% in copies: %s up in "
            "%s, %s down in %s\n",
            program_invocation_short_name, amount(run_ns, "ns", ns[0]),
            percent(up->ns + down->ns, run_ns),
            amount(up->bytes, "bytes", bytes[0]), amount(up->ns, "ns", ns[1]),
            amount(down->bytes, "bytes", bytes[1]),
            amount(down->ns, "ns", ns[2]));
}

static void print_rows(const struct report_rows *rows)
{
    char place[PLACE_BYTES], bytes[AMOUNT_BYTES], ns[AMOUNT_BYTES];
    for (uint32_t i = 0; i < rows->rows && i < ROWS_MOST; i++) {
        const struct report_row *row = &rows->row[i];
        bool moves = row->way <= REPORT_ALLOC;
        bool timed = row->sum.ns || !row->sum.untimed;
        fprintf(stderr, "libadsm:   %-32s %-10s %8" PRIu64 " times %12s %12s\n",
                place_text(row->site, place), ways[row->way].text,
                row->sum.count,
                moves ? amount(row->sum.bytes, "bytes", bytes) : "",
                timed ? amount(row->sum.ns, "ns", ns) : "-");
    }
    if (rows->rows > ROWS_MOST)
        fprintf(stderr,
                "libadsm:   and %u more places (ADSM_REPORT_FILE has all)\n",
                rows->rows - ROWS_MOST);
}

static bool has_bytes(const struct report_finding *found)
{
    return found->way <= REPORT_ALLOC || found->sum.bytes;
}

static void print_finding(const struct report_finding *found)
{
    char place[PLACE_BYTES], other[PLACE_BYTES], bytes[AMOUNT_BYTES];
    fprintf(stderr, "libadsm:   %s: %s, %" PRIu64 " time%s",
            place_text(found->site, place), report_kind_text[found->kind].text,
            found->sum.count, found->sum.count == 1 ? "" : "s");
    if (has_bytes(found))
        fprintf(stderr, ", %s", amount(found->sum.bytes, "bytes", bytes));
    if (found->other && !report_is_same_place(found->other, found->site))
        fprintf(stderr, " (see %s)", place_text(found->other, other));
    fputc('\n', stderr);
}

static void print_advice(const struct report_advice *advice, uint64_t run_ns)
{
    char place[PLACE_BYTES];
    const struct report_kind_text *kind = &report_kind_text[advice->found.kind];
    const char *where = place_text(advice->found.site, place);
    if (kind->saves && advice->saves_ns)
        fprintf(stderr, "libadsm:   %s: %s: %.1f %% of the run\n", where,
                kind->advice, percent(advice->saves_ns, run_ns));
    else
        fprintf(stderr, "libadsm:   %s: %s\n", where, kind->advice);
}

static void print_lost(void)
{
    uint64_t lost = report_findings_lost() + report_memory_lost();
    if (lost)
        fprintf(stderr,
                "libadsm:   %" PRIu64 " findings or allocations had no room "
                "and are not in here\n",
                lost);
}

static void print(const struct report_rows *rows, uint64_t run_ns)
{
    print_head(rows, run_ns);
    print_rows(rows);
    if (!rows->advices)
        fputs("libadsm: nothing to mend was found\n", stderr);
    else
        fputs("libadsm: found\n", stderr);
    for (uint32_t i = 0; i < rows->advices; i++)
        print_finding(&rows->advice[i].found);
    if (rows->advices)
        fputs("libadsm: what to do\n", stderr);
    for (uint32_t i = 0; i < rows->advices; i++)
        print_advice(&rows->advice[i], run_ns);
    print_lost();
}

static void write_file(const char *path, const struct report_rows *rows,
                       uint64_t run_ns)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (to)
        report_write_json(to, rows, run_ns);
    if (!to || fclose(to) != 0 ||
        adsm_output_append(path, text, bytes) != ADSM_OK)
        adsm_log(ADSM_LOG_WARN, "cannot write the report to %s: %m", path);
    free(text);
}

void report_write(uint64_t run_ns)
{
    const struct adsm_options *options = adsm_options_get();
    struct report_rows rows;
    report_places_find();
    report_rows_make(&rows);
    if (options->report)
        print(&rows, run_ns);
    if (options->report_file)
        write_file(options->report_file, &rows, run_ns);
}
