/*
 * The two printed forms of cases. See show.h.
 */
#include "runner/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runner/compare.h"

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

/* A time's ratio, and the case it is over. */
static void against_print_json(const char *name,
                               const struct compare_time *time)
{
    char word[128];
    if (!time->against)
        return;
    case_word(time->against, word, sizeof word);
    printf(",\"%sagainst\":\"%s\",\"%sratio\":%.4f", name, word, name,
           time->ratio);
}

static void marks_print_json(const struct summary *summary)
{
    if (summary->work.median <= 0)
        return;
    printf(",\"before_s\":%.6f,\"work_s\":%.6f,\"work_min\":%.6f",
           summary->before, summary->work.median, summary->work.min);
    against_print_json("work_", &summary->work);
    printf(",\"after_s\":%.6f,\"whole_s\":%.6f,\"whole_min\":%.6f",
           summary->after, summary->whole.median, summary->whole.min);
    against_print_json("whole_", &summary->whole);
}

/* Where the case was in each round, from 0. */
static void places_print_json(const struct plan *plan,
                              const struct show_case *which)
{
    for (int i = 0; i < plan->reps; i++)
        printf("%s%d", i ? "," : ",\"places\":[", which->results[i].place);
    putchar(']');
}

static void size_print(const struct plan *plan)
{
    char text[512];
    size_t length = (size_t)snprintf(text, sizeof text, "%s",
                                     plan->input ? plan->input : plan->size);
    for (int i = 0; i < plan->numbers.count && length < sizeof text; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, " %s",
                                   plan->numbers.words[i]);
    if (plan->json)
        print_quoted(text);
    else
        fputs(text, stdout);
}

static void row_print_json(const struct plan *plan,
                           const struct show_case *which,
                           const struct summary *summary)
{
    char word[128];
    const struct result *result = summary->result;
    case_word(which, word, sizeof word);
    printf("{\"bench\":\"%s\",\"case\":\"%s\",\"size\":", which->bench->name,
           word);
    size_print(plan);
    printf(",\"unit\":\"s\",\"reps\":%d", plan->reps);
    if (!result->good) {
        printf(",\"error\":");
        print_quoted(result->message);
        printf("}\n");
        return;
    }
    printf(",\"median\":%.6f,\"min\":%.6f,\"max\":%.6f",
           summary->seconds.median, summary->seconds.min, summary->seconds.max);
    against_print_json("", &summary->seconds);
    marks_print_json(summary);
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

static void ratio_print(double ratio)
{
    if (ratio > 0)
        printf(" %6.2f", ratio);
    else
        printf(" %6s", "-");
}

static void row_print_table(const struct show_case *which,
                            const struct summary *summary)
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
    printf(" %9.4f %9.4f", summary->seconds.median,
           summary->seconds.max - summary->seconds.min);
    ratio_print(summary->seconds.ratio);
    printf(" %9.4f %9.4f %9.4f", summary->before, summary->work.median,
           summary->after);
    ratio_print(summary->work.ratio);
    ratio_print(summary->whole.ratio);
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
    printf("%s: %s; ", bench->name, bench->about);
    size_print(plan);
    printf("\n  %-24s %9s %9s %6s %9s %9s %9s %6s %6s %9s %9s %9s %8s", "case",
           "median s", "spread s", "ratio", "before s", "work s", "after s",
           "work", "whole", "MiB up", "MiB down", "MiB peer", "faults");
    for (int i = 0; i < RESULT_PARTS; i++)
        printf(" %5.5s", result_parts[i]);
    printf("  result\n");
}

static void against_print(const char *name, const struct compare_time *time,
                          const char *end)
{
    char word[128] = "nothing";
    if (time->against)
        case_word(time->against, word, sizeof word);
    printf("%s over %s%s", name, word, end);
}

/* What the three ratios of the rows are over. */
static void foot_print(const struct summary *summary)
{
    against_print("  ratio", &summary->seconds,
                  summary->work.median > 0 ? ", " : "\n");
    if (summary->work.median <= 0)
        return;
    against_print("work", &summary->work, ", ");
    against_print("whole", &summary->whole, "\n");
}

bool show_cases(const struct plan *plan, const struct show_case *cases,
                int count)
{
    bool good = true;
    struct summary summary = {0};
    if (count > 0 && !plan->json)
        head_print(plan, cases[0].bench);
    for (int i = 0; i < count; i++) {
        summary = compare_case(plan, cases, count, i);
        if (plan->json)
            row_print_json(plan, &cases[i], &summary);
        else
            row_print_table(&cases[i], &summary);
        good = good && summary.result->good && summary.same &&
               summary.bytes_add_up;
    }
    if (count > 0 && !plan->json)
        foot_print(&summary);
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
