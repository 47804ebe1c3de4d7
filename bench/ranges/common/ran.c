/*
 * Programs of bench/ranges, run from outside. See ran.h.
 *
 * This program lies in the folder of theirs.
 */
#include "common/ran.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch[] = "/tmp/ranges-XXXXXX";

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(3);
}

static const char *folder(void)
{
    static char self[4096], *where;
    if (!where && readlink("/proc/self/exe", self, sizeof self - 1) <= 0)
        die("/proc/self/exe", "cannot be read");
    if (!where)
        where = dirname(self);
    return where;
}

static void scratch_remove(void)
{
    char line[sizeof scratch + 16];
    snprintf(line, sizeof line, "rm -r %s", scratch);
    if (system(line) != 0)
        fprintf(stderr, "%s: cannot be removed\n", scratch);
}

static void scratch_make(void)
{
    static bool made;
    if (!made && !mkdtemp(scratch))
        die(scratch, "no folder for inputs");
    if (!made)
        atexit(scratch_remove);
    made = true;
}

const char *ran_input(const char *kind, const char *size, const char *numbers)
{
    static char path[sizeof scratch + 64];
    char line[8192];
    scratch_make();
    snprintf(path, sizeof path, "%s/%s.par", scratch, kind);
    snprintf(line, sizeof line, "'%s/ranges-data' %s %s %s %s", folder(), kind,
             size, path, numbers);
    if (system(line) != 0)
        die(kind, "no input");
    return path;
}

static double number(const char *json, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(json, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

/* The report of the program. */
static void read_report(struct ran *ran, const char *json)
{
    const char *digest = strstr(json, "\"digest\":\"");
    if (!digest)
        return;
    ran->digest = strtoull(digest + strlen("\"digest\":\""), NULL, 16);
    ran->seconds = number(json, "seconds") - number(json, "read_s") -
                   number(json, "cpu_s");
    ran->device_seconds = number(json, "kernel_s") + number(json, "copy_s");
}

/* A line of the device's report. */
static void read_device(struct ran *ran, const char *line)
{
    uint64_t a, b;
    const char *bytes = strchr(line, '(');
    if (bytes &&
        sscanf(bytes, "(%" SCNu64 " up, %" SCNu64 " down)", &a, &b) == 2)
        ran->up += a, ran->down += b;
    else if (sscanf(line,
                    "softcuda: device %*d: %" SCNu64 " of %" SCNu64
                    " paced launches late",
                    &a, &b) == 2)
        ran->late += a, ran->paced += b;
}

/* What libadsm counted, if the program uses it. */
static void read_counters(struct ran *ran, const char *path)
{
    char json[8192];
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    if (fgets(json, sizeof json, file)) {
        ran->brought = (uint64_t)number(json, "bytes_up");
        ran->saved = (uint64_t)number(json, "bytes_down");
        ran->between = (uint64_t)number(json, "bytes_peer");
    }
    fclose(file);
    unlink(path);
}

struct ran ran_program(const char *settings, const char *program,
                       const char *input)
{
    struct ran ran = {.seconds = -1};
    char line[8192], counters[sizeof scratch + 16];
    scratch_make();
    snprintf(counters, sizeof counters, "%s/counters", scratch);
    snprintf(line, sizeof line,
             "SOFTCUDA_NATIVE=wait SOFTCUDA_STATS=1 ADSM_STATS_FILE=%s %s "
             "'%s/%s' --json %s%s 2>&1",
             counters, settings, folder(), program, input ? "--input " : "",
             input ? input : "");
    FILE *output = popen(line, "r");
    if (!output)
        die(program, "cannot be run");
    while (fgets(line, sizeof line, output)) {
        if (line[0] == '{')
            read_report(&ran, line);
        else if (strncmp(line, "softcuda: device ", 17) == 0)
            read_device(&ran, line);
        else if (strncmp(line, "softcuda: ", 10) != 0)
            fputs(line, stderr);
    }
    if (pclose(output) != 0 || ran.seconds < 0)
        die(program, "failed");
    read_counters(&ran, counters);
    return ran;
}
