/*
 * Programs whose data are half to eight times a device's memory, beside the same
 * on a device that holds them: Figs. 10(e) and (h) of Ramashekar and Bondhugula,
 * "Automatic data allocation and buffer management for multi-GPU machines"
 * (2013).
 *
 *   PROGRAM/X      time without that of making the input, per MiB of data
 *   PROGRAM/X/in   MiB brought to the device, over what the formula says
 *   PROGRAM/X/out  MiB saved from it, likewise
 *
 * The link is throttled and kernels are paced. What each element needs once is
 * moved once. floyd sweeps over its matrix in each step, of which no order leaves
 * more on the device than its memory: the formula is what is above that, in each
 * step. Results have to be those of the large device.
 */
#include "../micro/bench.h"
#include "common/ran.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 4 /* of floyd */

enum { MIB = 1 << 20, MEMORY_MIB = 16, INNER = 64 };

/* Numbers of an input, and the bytes it comes to. */
struct size {
    char numbers[96];
    double data, in, out;
};

static void floyd(double bytes, struct size *size)
{
    long n = (long)sqrt(bytes / 4);
    snprintf(size->numbers, sizeof size->numbers, "n=%ld steps=%d", n, STEPS);
    size->data = 4.0 * (double)(n * n);
    double rest =
        size->data > MEMORY_MIB * MIB ? size->data - MEMORY_MIB * MIB : 0;
    size->in = size->out = size->data + (STEPS - 1) * rest;
}

static void matmul(double bytes, struct size *size)
{
    long rows = (long)(bytes / 4 - INNER * INNER) / (2 * INNER);
    snprintf(size->numbers, sizeof size->numbers,
             "rows=%ld inner=%d columns=%d", rows, INNER, INNER);
    size->in = 4.0 * (double)(rows * INNER + INNER * INNER);
    size->out = 4.0 * (double)(rows * INNER);
    size->data = size->in + size->out;
}

static void blackscholes(double bytes, struct size *size)
{
    long options = (long)(bytes / 20);
    snprintf(size->numbers, sizeof size->numbers, "options=%ld", options);
    size->in = 12.0 * (double)options;
    size->out = 8.0 * (double)options;
    size->data = size->in + size->out;
}

static const struct workload {
    const char *name;
    void (*size)(double bytes, struct size *size);
} workloads[] = {
    {"matmul", matmul}, {"blackscholes", blackscholes}, {"floyd", floyd}};

static struct ran run(const char *name, const char *input, int memory_mib)
{
    char settings[160], program[64];
    snprintf(settings, sizeof settings,
             "SOFTCUDA_LINK=200MB/s SOFTCUDA_PACE=50M/s SOFTCUDA_MEMORY=%dM",
             memory_mib);
    snprintf(program, sizeof program, "%s_adsm", name);
    return ran_program(settings, program, input);
}

static void report(const char *name, double times, const char *what,
                   uint64_t bytes, double formula)
{
    struct bench_samples moved = {0}, expected = {0};
    char line[64];
    bench_add(&moved, (double)bytes / MIB);
    bench_add(&expected, formula / MIB);
    snprintf(line, sizeof line, "%s/%g/%s", name, times, what);
    bench_report(line, "MiB", &moved, "formula", &expected);
}

static void measure(const struct workload *w, double times)
{
    struct bench_samples here = {0}, there = {0};
    struct size size;
    struct ran small, large;
    char line[64];
    w->size(times * MEMORY_MIB * MIB, &size);
    const char *input = ran_input(w->name, "small", size.numbers);
    for (int r = 0; r < bench_reps(); r++) {
        small = run(w->name, input, MEMORY_MIB);
        large = run(w->name, input, 1024);
        if (small.digest != large.digest) {
            fprintf(stderr, "%s: results differ\n", w->name);
            exit(3);
        }
        bench_add(&here, 1e3 * small.seconds / (size.data / MIB));
        bench_add(&there, 1e3 * large.seconds / (size.data / MIB));
    }
    snprintf(line, sizeof line, "%s/%g", w->name, times);
    bench_report(line, "ms/MiB", &here, "a large device", &there);
    report(w->name, times, "in", small.brought, size.in);
    report(w->name, times, "out", small.saved, size.out);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv, "oversize");
    const double times[] = {0.5, 1, 2, 4, 8};
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        for (int k = 0; k < (bench_quick() ? 3 : 5); k++)
            measure(&workloads[i], times[k]);
    return 0;
}
