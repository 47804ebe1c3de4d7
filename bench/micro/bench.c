/* Samples and their two printed forms. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *bench_name = "?";
static bool table, quick, quiet;
static int reps = 9;
static const char *more_members = "", *more_words = "";
static double busy = -1; /* share of the processors' time; below 0: not known */

void bench_start(int argc, char **argv, const char *name)
{
    bench_name = name;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--table") == 0)
            table = true;
        else if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--quiet") == 0)
            quiet = true;
        else if (sscanf(argv[i], "--reps=%d", &reps) != 1 || reps < 1 ||
                 reps > BENCH_REPS_MAX) {
            fprintf(stderr,
                    "usage: %s [--table] [--quick] [--quiet] "
                    "[--reps=1..%d]\n",
                    argv[0], BENCH_REPS_MAX);
            exit(2);
        }
    }
    if (quick && reps > 3)
        reps = 3;
    if (table)
        printf("%-34s %6s %10s %10s %10s %7s  %s\n", name, "unit", "median",
               "min", "max", "ratio", "against");
}

/* Of all processors since they were started, in ticks. */
static bool processor_ticks(double *idle, double *all)
{
    double t[8];
    FILE *file = fopen("/proc/stat", "r");
    if (!file)
        return false;
    int n = fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &t[0], &t[1],
                   &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]);
    fclose(file);
    *idle = n == 8 ? t[3] + t[4] : 0;
    *all = 0;
    for (int i = 0; i < n; i++)
        *all += t[i];
    return n == 8;
}

static double busy_now(void)
{
    double idle[2], all[2];
    const struct timespec watch = {0, 200 * 1000 * 1000};
    if (!processor_ticks(&idle[0], &all[0]))
        return -1;
    nanosleep(&watch, NULL);
    if (!processor_ticks(&idle[1], &all[1]) || all[1] <= all[0])
        return -1;
    return 1 - (idle[1] - idle[0]) / (all[1] - all[0]);
}

void bench_settle(void)
{
    enum { TRIES = 300 };
    busy = busy_now();
    for (int i = 1; quiet && busy >= 0.1 && i < TRIES; i++)
        busy = busy_now();
    if (!quiet || busy < 0.1)
        return;
    fprintf(stderr,
            "%s: others use %.0f%% of the processors, for a minute now: times "
            "would say nothing; without --quiet they are taken and marked\n",
            bench_name, 100 * busy);
    exit(4);
}

bool bench_ask_more(const char *settings, const char *words, double *values,
                    int count)
{
    char self[4096] = "", line[8192];
    int got = 0;
    if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0)
        return false;
    snprintf(line, sizeof line, "%s '%s' %s", settings, self, words);
    FILE *output = popen(line, "r");
    if (!output)
        return false;
    while (got < count && fscanf(output, "%lf", &values[got]) == 1)
        got++;
    return pclose(output) == 0 && got == count;
}

double bench_ask(const char *settings, const char *words)
{
    double value;
    return bench_ask_more(settings, words, &value, 1) ? value : -1;
}

int bench_reps(void)
{
    return reps;
}

bool bench_quick(void)
{
    return quick;
}

void bench_add(struct bench_samples *samples, double value)
{
    if (samples->count < BENCH_REPS_MAX)
        samples->value[samples->count++] = value;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct bench_samples sorted(const struct bench_samples *samples)
{
    struct bench_samples s = *samples;
    qsort(s.value, (size_t)s.count, sizeof *s.value, by_value);
    return s;
}

double bench_median(const struct bench_samples *samples)
{
    struct bench_samples s = sorted(samples);
    if (s.count == 0)
        return 0;
    return s.count % 2 ? s.value[s.count / 2]
                       : (s.value[s.count / 2 - 1] + s.value[s.count / 2]) / 2;
}

void bench_also(const char *members, const char *words)
{
    more_members = members;
    more_words = words;
}

void bench_report(const char *name, const char *unit,
                  const struct bench_samples *samples, const char *against,
                  const struct bench_samples *peer)
{
    struct bench_samples s = sorted(samples);
    double median = bench_median(samples);
    double low = s.count ? s.value[0] : 0;
    double high = s.count ? s.value[s.count - 1] : 0;
    double ratio = peer ? median / bench_median(peer) : 0;
    if (table) {
        printf("%-34s %6s %10.3f %10.3f %10.3f ", name, unit, median, low,
               high);
        if (peer)
            printf("%7.2f  %s", ratio, against);
        printf("%s\n", more_words);
    } else {
        printf("{\"bench\":\"%s\",\"case\":\"%s\",\"unit\":\"%s\",\"reps\":%d,"
               "\"median\":%.4g,\"min\":%.4g,\"max\":%.4g",
               bench_name, name, unit, s.count, median, low, high);
        if (peer)
            printf(",\"against\":\"%s\",\"ratio\":%.3f", against, ratio);
        if (busy >= 0)
            printf(",\"busy\":%.2f", busy);
        printf("%s}\n", more_members);
    }
    more_members = more_words = "";
    fflush(stdout);
}

uint64_t bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
