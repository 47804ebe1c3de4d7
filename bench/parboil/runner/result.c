/*
 * Reading what a run leaves behind. See result.h.
 */
#include "runner/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const result_parts[RESULT_PARTS] = {"gpu",    "copy",  "io",
                                                "signal", "setup", "cpu"};

static const char *value_find(const char *json, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(json, quoted);
    return at ? at + strlen(quoted) : NULL;
}

static uint64_t count_find(const char *json, const char *key)
{
    const char *at = value_find(json, key);
    return at ? strtoull(at, NULL, 10) : 0;
}

static double seconds_find(const char *json, const char *key)
{
    const char *at = value_find(json, key);
    return at ? strtod(at, NULL) : 0;
}

bool result_read_report(struct result *result, const char *json)
{
    static const char *const keys[BENCH_PHASES] = {
        "setup_s", "read_s", "cpu_s", "kernel_s", "copy_s", "write_s"};
    /* The stencil's own words; it counts no launches, one is a step. */
    static const char *const wave_keys[BENCH_PHASES] = {
        "setup_s", "read_s", "inject_s", "compute_s", "copy_s", "write_s"};
    bool wave = value_find(json, "inject_s") != NULL;
    const char *digest = value_find(json, "digest");
    if (!digest || !value_find(json, "seconds") ||
        sscanf(digest, " \"%16[0-9a-f]\"", result->digest) != 1)
        return false;
    result->seconds = seconds_find(json, "seconds");
    for (int i = 0; i < BENCH_PHASES; i++)
        result->phase_s[i] = seconds_find(json, wave ? wave_keys[i] : keys[i]);
    result->launches = count_find(json, wave ? "steps" : "launches");
    result->copied_up = count_find(json, wave ? "bytes_up" : "copied_up");
    result->copied_down = count_find(json, wave ? "bytes_down" : "copied_down");
    result->checks = count_find(json, "checks");
    result->worst = seconds_find(json, "worst");
    return true;
}

void result_read_marks(struct result *result, const char *json,
                       double started_s, double ended_s)
{
    double work_at = seconds_find(json, "work_at");
    if (work_at <= 0)
        return;
    result->before_s = work_at - started_s;
    result->work_s = seconds_find(json, "ended_at") - work_at;
    result->after_s = ended_s - seconds_find(json, "reported_at");
}

double result_whole_s(const struct result *result)
{
    return result->before_s + result->work_s + result->after_s;
}

bool result_read_counters(struct result *result, const char *path)
{
    char line[8192], last[8192] = "";
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file))
        if (line[0] == '{')
            strcpy(last, line);
    fclose(file);
    result->tried_up = count_find(last, "bytes_tried_up");
    result->tried_down = count_find(last, "bytes_tried_down");
    result->bytes_up = count_find(last, "bytes_up");
    result->bytes_down = count_find(last, "bytes_down");
    result->bytes_local = count_find(last, "bytes_local");
    result->bytes_peer = count_find(last, "bytes_peer");
    result->faults =
        count_find(last, "faults_read") + count_find(last, "faults_write");
    result->fault_s = 1e-9 * (double)count_find(last, "ns_fault");
    result->fault_memory_s = 1e-9 * (double)count_find(last, "ns_fault_memory");
    result->fault_copy_s = 1e-9 * (double)count_find(last, "ns_fault_copy");
    result->up_s = 1e-9 * (double)count_find(last, "ns_up");
    result->down_s = 1e-9 * (double)count_find(last, "ns_down");
    return value_find(last, "bytes_up") != NULL;
}

bool result_read_device(struct result *result, const char *text)
{
    unsigned long long up, down;
    double ms;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "softcuda: ", 10) != 0)
            continue;
        if (sscanf(line,
                   "softcuda: device %*d: %*f MiB up, %*f MiB down "
                   "(%llu up, %llu down)",
                   &up, &down) == 2) {
            result->device_up += up;
            result->device_down += down;
            result->device = true;
        } else if (sscanf(line, "softcuda: %*s %*u launches, %lf ms", &ms) ==
                   1) {
            result->gpu_s += ms / 1000;
        }
    }
    return result->device;
}

void result_break_down(const struct result *result, double parts[RESULT_PARTS])
{
    double gpu = result->device ? result->gpu_s : result->phase_s[BENCH_KERNEL];
    double copy = result->phase_s[BENCH_COPY] + result->up_s + result->down_s;
    /* Pages of the host are the CPU's business: a program without the runtime
     * gets them at its own first touch. */
    double signal =
        result->fault_s - result->fault_copy_s - result->fault_memory_s;
    double io = result->phase_s[BENCH_READ] + result->phase_s[BENCH_WRITE];
    double setup = result->phase_s[BENCH_SETUP];
    /* The runtime copies and handles faults while the program reads, writes
     * and computes: what it spent is taken from the CPU's share first, the
     * rest from the I/O that made it necessary. */
    double left = result->seconds - gpu - copy - signal - setup;
    if (left < 0)
        left = 0;
    if (io > left)
        io = left;
    double all[RESULT_PARTS] = {gpu, copy, io, signal, setup, left - io};
    memcpy(parts, all, sizeof all);
}
