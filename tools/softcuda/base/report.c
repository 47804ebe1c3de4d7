/*
 * Owns: the wording of the report on standard error.
 * Does not own: the counters.  No lock.
 */
#include "base/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef unsigned long long number;

void sc_report_device(int ordinal, uint64_t up, uint64_t down)
{
    /* The bytes are for programs, which compare them. */
    fprintf(stderr,
            "softcuda: device %d: %.3f MiB up, %.3f MiB down "
            "(%llu up, %llu down)\n",
            ordinal, (double)up / 0x1p20, (double)down / 0x1p20, (number)up,
            (number)down);
}

void sc_report_pace(int ordinal, uint64_t paced, uint64_t late)
{
    if (paced)
        fprintf(stderr,
                "softcuda: device %d: %llu of %llu paced launches late\n",
                ordinal, (number)late, (number)paced);
}

/* ", native", ", interpreter (why)", or counts where both took part. */
static void describe_executor(const struct sc_report *k, char *text,
                              size_t bytes)
{
    bool mixed = k->both || (k->native && k->interpreted);
    size_t n = 0;
    text[0] = '\0';
    if (mixed)
        n = (size_t)snprintf(
            text, bytes, ", %llu native, %llu interpreter, %llu both",
            (number)k->native, (number)k->interpreted, (number)k->both);
    else if (k->native || k->interpreted)
        n = (size_t)snprintf(text, bytes,
                             k->native ? ", native" : ", interpreter");
    if (k->why[0] && n < bytes)
        snprintf(text + n, bytes - n, " (%s)", k->why);
}

void sc_report_kernel(const struct sc_report *k)
{
    char executor[256];
    if (k->launches == 0)
        return;
    describe_executor(k, executor, sizeof executor);
    fprintf(stderr, "softcuda: %s: %llu launches, %.3f ms, %.1f us each%s\n",
            k->name, (number)k->launches, (double)k->ns / 1e6,
            (double)k->ns / 1e3 / (double)k->launches, executor);
}

void sc_report_shortage(int ordinal, uint64_t bytes, uint64_t used,
                        uint64_t total)
{
    fprintf(stderr,
            "softcuda: device %d: no room for %.3f MiB: of %.0f MiB "
            "(SOFTCUDA_MEMORY) %.3f are in use and %.3f free\n",
            ordinal, (double)bytes / 0x1p20, (double)total / 0x1p20,
            (double)used / 0x1p20, (double)(total - used) / 0x1p20);
}
