/* The report as JSON; see write.h. Times are in ms. */
#include "interpose/report/write.h"

#include "interpose/report/lines.h"
#include "interpose/report/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

static void put_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(to, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(to, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, to);
    fputc('"', to);
}

static void put_named(FILE *to, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(to, ",\"%s\":", name);
    put_text(to, text);
}

/* What is known of it, behind something else. */
static void put_place(FILE *to, uint32_t site)
{
    const struct report_place *p = report_place_of(site);
    put_named(to, "file", p->at.file);
    if (p->at.file)
        fprintf(to, ",\"line\":%u", p->at.line);
    for (unsigned i = 0; i < p->callers; i++) {
        fprintf(to, "%s{\"line\":%u", i ? "," : ",\"callers\":[",
                p->caller[i].line);
        put_named(to, "file", p->caller[i].file);
        fputs(i + 1 < p->callers ? "}" : "}]", to);
    }
    put_named(to, "function", p->function);
    put_named(to, "module", p->module);
    if (p->module && *p->module)
        fprintf(to, ",\"offset\":%" PRIu64, p->offset);
}

static void put_sum(FILE *to, const struct report_sum *sum)
{
    fprintf(to, "\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"ms\":%.6f",
            sum->count, sum->bytes, (double)sum->ns / 1e6);
}

static void put_totals(FILE *to, const struct report_rows *rows)
{
    for (unsigned way = 0; way < REPORT_WAYS; way++) {
        fprintf(to, "%s\"%s\":{", way ? "," : "\"total\":{",
                report_way_word((enum report_way)way));
        put_sum(to, &rows->total[way]);
        fputc('}', to);
    }
    fputc('}', to);
}

static void put_rows(FILE *to, const struct report_rows *rows)
{
    fputs(",\"sites\":[", to);
    for (uint32_t i = 0; i < rows->rows; i++) {
        const struct report_row *row = &rows->row[i];
        fprintf(to, "%s{\"what\":\"%s\",", i ? "," : "",
                report_way_word(row->way));
        put_sum(to, &row->sum);
        put_place(to, row->site);
        fputc('}', to);
    }
    fputc(']', to);
}

/* Memory by the line that allocates it. */
static void put_memory(FILE *to)
{
    bool first = true;
    fputs(",\"memory\":[", to);
    for (uint32_t i = 0; i < report_sites_count(); i++) {
        const struct report_site *site = report_site_at(i);
        const struct report_sum *made = &site->way[REPORT_ALLOC];
        if (!made->count)
            continue;
        fprintf(to,
                "%s{\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"up\":%" PRIu64
                ",\"down\":%" PRIu64,
                first ? "" : ",", made->count, made->bytes,
                site->moved[0].bytes, site->moved[1].bytes);
        put_place(to, i);
        fputc('}', to);
        first = false;
    }
    fputc(']', to);
}

static void put_finding(FILE *to, const struct report_advice *advice,
                        uint64_t run_ns)
{
    const struct report_finding *found = &advice->found;
    const struct report_kind_text *kind = &report_kind_text[found->kind];
    fprintf(to, "{\"kind\":\"%s\",\"what\":\"%s\",", kind->word,
            report_way_word(found->way));
    put_sum(to, &found->sum);
    if (kind->saves && (advice->saves_ns || !found->sum.untimed))
        fprintf(to, ",\"saves_ms\":%.6f,\"saves_percent\":%.3f",
                (double)advice->saves_ns / 1e6,
                run_ns ? 100.0 * (double)advice->saves_ns / (double)run_ns : 0);
    put_place(to, found->site);
    put_named(to, "advice", kind->advice);
    if (found->other && !report_is_same_place(found->other, found->site)) {
        const struct report_place *other = report_place_of(found->other);
        put_named(to, "other_file", other->at.file);
        if (other->at.file)
            fprintf(to, ",\"other_line\":%u", other->at.line);
    }
    fputc('}', to);
}

void report_write_json(FILE *to, const struct report_rows *rows,
                       uint64_t run_ns)
{
    fputs("{\"program\":", to);
    put_text(to, program_invocation_name);
    fprintf(to, ",\"pid\":%d,\"ms\":%.6f,", (int)getpid(),
            (double)run_ns / 1e6);
    put_totals(to, rows);
    put_rows(to, rows);
    put_memory(to);
    fputs(",\"findings\":[", to);
    for (uint32_t i = 0; i < rows->advices; i++) {
        if (i)
            fputc(',', to);
        put_finding(to, &rows->advice[i], run_ns);
    }
    fprintf(to, "],\"lost\":%" PRIu64 "}\n",
            report_findings_lost() + report_memory_lost());
}
