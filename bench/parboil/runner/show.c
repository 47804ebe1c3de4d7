/*
 * Medians, comparisons and their two printed forms. See show.h.
 */
#include "runner/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is shown of a case. */
struct summary {
    double median, min, max;    /* s */
    double used_min;            /* s of processor time */
    double paired, used_paired; /* medians of what each round has over the first
                                    case's, time and processor time; 0: none */
    const struct result *result; /* of the median, or the first that failed */
    bool same;                   /* every repetition gave the first's result */
    bool bytes_add_up;
};

static void case_word(const struct show_case *which, char *word, size_t bytes)
{
    snprintf(word, bytes, "%s/%s%s%s%s%s%s%s", which->form->name,
             which->protocol ? which->protocol : "bare",
             which->devices ? "/devices=" : "",
             which->devices ? which->devices : "", which->block_size ? "/" : "",
             which->block_size ? which->block_size : "",
             which->rolling_size ? "/" : "",
             which->rolling_size ? which->rolling_size : "");
}

void show_name(const struct show_case *which, char *name, size_t bytes)
{
    char word[128];
    case_word(which, word, sizeof word);
    snprintf(name, bytes, "%s %s", which->bench->name, word);
}

static int result_compare(const void *a, const void *b)
{
    double x = (*(const struct result *const *)a)->seconds;
    double y = (*(const struct result *const *)b)->seconds;
    return (x > y) - (x < y);
}

/* What the runtime moved and what the program copied by itself, into constant
 * memory even where it is preloaded, is all there is. A device counts what goes
 * to or comes from another one as it counts what the host sends and gets. */
static bool bytes_add_up(const struct plan_form *form,
                         const struct result *result)
{
    if (!result->device || form->copies)
        return true;
    uint64_t up = result->bytes_up + result->tried_up + result->copied_up +
                  result->bytes_peer;
    uint64_t down = result->bytes_down + result->tried_down +
                    result->copied_down + result->bytes_peer;
    return up == result->device_up && down == result->device_down;
}

static int double_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Rounds that were slow for all cases are no slower for one. */
static void pair_up(const struct plan *plan, const struct show_case *which,
                    const struct show_case *first, struct summary *summary)
{
    double time[PLAN_REPS_MAX], used[PLAN_REPS_MAX];
    for (int i = 0; i < plan->reps; i++) {
        const struct result *a = &which->results[i], *b = &first->results[i];
        if (!a->good || !b->good)
            return;
        time[i] = a->seconds / b->seconds;
        used[i] = a->used_s / b->used_s;
    }
    qsort(time, (size_t)plan->reps, sizeof *time, double_compare);
    qsort(used, (size_t)plan->reps, sizeof *used, double_compare);
    summary->paired = time[plan->reps / 2];
    summary->used_paired = used[plan->reps / 2];
}

static struct summary summarise(const struct plan *plan,
                                const struct show_case *which,
                                const struct show_case *first)
{
    const struct result *sorted[PLAN_REPS_MAX];
    struct summary summary = {.same = true, .bytes_add_up = true};
    for (int i = 0; i < plan->reps; i++) {
        const struct result *result = sorted[i] = &which->results[i];
        if (!result->good && !summary.result)
            summary.result = result;
        if (i == 0 || result->used_s < summary.used_min)
            summary.used_min = result->used_s;
        summary.same = summary.same &&
                       strcmp(result->digest, first->results[0].digest) == 0;
        summary.bytes_add_up =
            summary.bytes_add_up && bytes_add_up(which->form, result);
    }
    if (summary.result)
        return summary;
    pair_up(plan, which, first, &summary);
    qsort(sorted, (size_t)plan->reps, sizeof *sorted, result_compare);
    summary.result = sorted[plan->reps / 2];
    summary.median = summary.result->seconds;
    summary.min = sorted[0]->seconds;
    summary.max = sorted[plan->reps - 1]->seconds;
    return summary;
}

static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else
            putchar((unsigned char)*text < 32 ? ' ' : *text);
    putchar('"');
}

static void parts_print_json(const struct result *result)
{
    double parts[RESULT_PARTS];
    result_break_down(result, parts);
    for (int i = 0; i < RESULT_PARTS; i++)
        printf(",\"%s_s\":%.6f", result_parts[i], parts[i]);
    /* Until the first kernel and between kernels, faults included. */
    printf(",\"host_s\":%.6f",
           result->phase_s[BENCH_READ] + result->phase_s[BENCH_CPU]);
}

static void bytes_print_json(const struct show_case *which,
                             const struct summary *summary)
{
    const struct result *result = summary->result;
    printf(",\"launches\":%" PRIu64 ",\"copied_up\":%" PRIu64
           ",\"copied_down\":%" PRIu64,
           result->launches, result->copied_up, result->copied_down);
    if (which->protocol)
        printf(",\"up_s\":%.6f,\"down_s\":%.6f", result->up_s, result->down_s);
    if (which->protocol)
        printf(",\"bytes_up\":%" PRIu64 ",\"bytes_down\":%" PRIu64
               ",\"bytes_local\":%" PRIu64 ",\"bytes_peer\":%" PRIu64
               ",\"faults\":%" PRIu64,
               result->bytes_up, result->bytes_down, result->bytes_local,
               result->bytes_peer, result->faults);
    if (result->device)
        printf(",\"device_up\":%" PRIu64 ",\"device_down\":%" PRIu64
               ",\"bytes_add_up\":%s",
               result->device_up, result->device_down,
               summary->bytes_add_up ? "true" : "false");
}

/* Where the case was in each round, from 0. */
static void places_print_json(const struct plan *plan,
                              const struct show_case *which)
{
    for (int i = 0; i < plan->reps; i++)
        printf("%s%d", i ? "," : ",\"places\":[", which->results[i].place);
    putchar(']');
}

static void row_print_json(const struct plan *plan,
                           const struct show_case *which,
                           const struct summary *summary, double base)
{
    char word[128];
    const struct result *result = summary->result;
    case_word(which, word, sizeof word);
    printf("{\"bench\":\"%s\",\"case\":\"%s\",\"size\":", which->bench->name,
           word);
    print_quoted(plan->input ? plan->input : plan->size);
    printf(",\"unit\":\"s\",\"reps\":%d", plan->reps);
    if (!result->good) {
        printf(",\"error\":");
        print_quoted(result->message);
        printf("}\n");
        return;
    }
    printf(",\"median\":%.6f,\"min\":%.6f,\"max\":%.6f", summary->median,
           summary->min, summary->max);
    if (base > 0)
        printf(",\"against\":\"first case\",\"ratio\":%.4f",
               summary->median / base);
    places_print_json(plan, which);
    printf(",\"used_min\":%.6f", summary->used_min);
    if (summary->paired > 0)
        printf(",\"paired\":%.4f,\"used_paired\":%.4f", summary->paired,
               summary->used_paired);
    parts_print_json(result);
    bytes_print_json(which, summary);
    if (result->checks > 0)
        printf(",\"checks\":%" PRIu64 ",\"worst\":%.4f", result->checks,
               result->worst);
    printf(",\"digest\":\"%s\",\"same\":%s}\n", result->digest,
           summary->same ? "true" : "false");
}

static double mib(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

static void row_print_table(const struct show_case *which,
                            const struct summary *summary, double base)
{
    char word[128];
    const struct result *result = summary->result;
    case_word(which, word, sizeof word);
    printf("  %-24s", word);
    if (!result->good) {
        printf(" failed: %s\n", result->message);
        return;
    }
    double parts[RESULT_PARTS];
    result_break_down(result, parts);
    printf(" %9.4f %9.4f", summary->median, summary->max - summary->min);
    if (base > 0)
        printf(" %6.2f", summary->median / base);
    else
        printf(" %6s", "-");
    if (which->form->managed) /* the driver moves pages and does not count */
        printf(" %9s %9s %9s %8s", "-", "-", "-", "-");
    else
        printf(" %9.2f %9.2f %9.2f %8" PRIu64,
               mib(which->form->copies ? result->device_up
                                       : result->bytes_up + result->copied_up),
               mib(which->form->copies
                       ? result->device_down
                       : result->bytes_down + result->copied_down),
               mib(result->bytes_peer), result->faults);
    for (int i = 0; i < RESULT_PARTS; i++)
        printf(" %5.1f",
               result->seconds > 0 ? 100 * parts[i] / result->seconds : 0);
    printf("  %s%s\n", summary->same ? "same" : "DIFFERENT",
           summary->bytes_add_up ? "" : ", BYTES DO NOT ADD UP");
}

static void head_print(const struct plan *plan, const struct plan_bench *bench)
{
    printf("%s: %s; %s\n  %-24s %9s %9s %6s %9s %9s %9s %8s", bench->name,
           bench->about, plan->input ? plan->input : plan->size, "case",
           "median s", "spread s", "ratio", "MiB up", "MiB down", "MiB peer",
           "faults");
    for (int i = 0; i < RESULT_PARTS; i++)
        printf(" %5.5s", result_parts[i]);
    printf("  result\n");
}

bool show_cases(const struct plan *plan, const struct show_case *cases,
                int count)
{
    bool good = true;
    double base = 0;
    if (count > 0 && !plan->json)
        head_print(plan, cases[0].bench);
    for (int i = 0; i < count; i++) {
        struct summary summary = summarise(plan, &cases[i], &cases[0]);
        if (i == 0 && summary.result->good)
            base = summary.median;
        if (plan->json)
            row_print_json(plan, &cases[i], &summary, base);
        else
            row_print_table(&cases[i], &summary, base);
        good = good && summary.result->good && summary.same &&
               summary.bytes_add_up;
    }
    fflush(stdout);
    return good;
}

void show_notes(const struct plan *plan)
{
    if (plan->json || plan->real_device)
        return;
    for (int i = 0; i < plan_form_count; i++)
        if (plan_forms[i].managed &&
            plan_has(&plan->forms, plan_forms[i].name)) {
            puts("Managed memory of the software device is memory that host "
                 "and device share: its times say nothing about hardware.");
            return;
        }
}
