/*
 * Data that grow with the number of devices: Fig. 10(a) of Ramashekar and
 * Bondhugula, "Automatic data allocation and buffer management for multi-GPU
 * machines" (2013).
 *
 *   heat/DEVICES, floyd/DEVICES           a step
 *   blackscholes/DEVICES, matmul/DEVICES  a call, with what it brings and saves
 *
 * Each beside the time that links and paces alone take: compute + flow / link.
 * It is what twice as many steps, or twice as much data, take longer, so that
 * bringing up devices is in neither. Floyd's matrix has about as many elements
 * for each device.
 */
#include "../micro/bench.h"
#include "common/ran.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LINK 50e6 /* bytes a second */
#define PACE 5e6  /* threads a second */

/* Numbers of an input with `times` times the work of one, what one has of the
 * unit that is told, and what that takes. */
struct point {
    char numbers[96];
    int count;
    double ms;
};

static double ms_of(double threads, double bytes)
{
    return 1e3 * (threads / PACE + bytes / LINK);
}

/* Rows of a share, as blocks of 8 have them. */
static double high(long rows, int devices)
{
    long share = (rows + devices - 1) / devices;
    return (double)((share + 7) / 8 * 8);
}

static void heat(int devices, int times, struct point *p)
{
    enum { NX = 512, ROWS = 128, STEPS = 30 };
    snprintf(p->numbers, sizeof p->numbers,
             "nx=%d ny=%d steps=%d every=1000000", NX, ROWS * devices,
             STEPS * times);
    /* One in the middle gets a row from both sides. */
    int rows = devices < 3 ? devices - 1 : 2;
    p->count = STEPS;
    p->ms = ms_of(NX * high(ROWS * devices, devices), 4.0 * NX * rows);
}

static void floyd(int devices, int times, struct point *p)
{
    enum { STEPS = 40 };
    long n = lround(256 * sqrt(devices) / 32) * 32;
    snprintf(p->numbers, sizeof p->numbers, "n=%ld steps=%d", n, STEPS * times);
    /* Who has the row sends it to all others. */
    p->count = STEPS;
    p->ms =
        ms_of((double)n * high(n, devices), 4.0 * (double)n * (devices - 1));
}

static void blackscholes(int devices, int times, struct point *p)
{
    enum { OPTIONS = 1 << 19, PIECES = 8 };
    snprintf(p->numbers, sizeof p->numbers, "options=%d",
             OPTIONS * devices * times);
    double up = ms_of(0, 12.0 * OPTIONS), kernel = ms_of(OPTIONS, 0);
    double down = ms_of(0, 8.0 * OPTIONS);
    p->count = 1;
    p->ms = (up + kernel + down) / PIECES +
            fmax(up, fmax(kernel, down)) * (PIECES - 1) / PIECES;
}

static void matmul(int devices, int times, struct point *p)
{
    enum { ROWS = 8192, INNER = 64, COLUMNS = 128 };
    snprintf(p->numbers, sizeof p->numbers, "rows=%d inner=%d columns=%d",
             ROWS * devices * times, INNER, COLUMNS);
    p->count = 1;
    p->ms = ms_of((double)ROWS * COLUMNS, 4.0 * ROWS * (INNER + COLUMNS));
}

static const struct workload {
    const char *name;
    void (*point)(int devices, int times, struct point *p);
} workloads[] = {{"heat", heat},
                 {"floyd", floyd},
                 {"blackscholes", blackscholes},
                 {"matmul", matmul}};

static double run_ms(const struct workload *w, int devices, int times)
{
    char settings[160], program[64];
    struct point p;
    w->point(devices, times, &p);
    snprintf(settings, sizeof settings,
             "SOFTCUDA_LINK=%.0fMB/s SOFTCUDA_PACE=%.0fM/s SOFTCUDA_DEVICES=%d "
             "ADSM_PARTS=%d",
             LINK / 1e6, PACE / 1e6, devices, devices);
    snprintf(program, sizeof program, "%s_adsm", w->name);
    return 1e3 * ran_program(settings, program,
                             ran_input(w->name, "small", p.numbers))
                     .device_seconds;
}

static void measure(const struct workload *w, int devices)
{
    struct bench_samples took = {0}, expected = {0};
    struct point p;
    char name[64];
    w->point(devices, 1, &p);
    for (int r = 0; r < bench_reps(); r++) {
        double once = run_ms(w, devices, 1);
        bench_add(&took, (run_ms(w, devices, 2) - once) / p.count);
        bench_add(&expected, p.ms);
    }
    snprintf(name, sizeof name, "%s/%d", w->name, devices);
    bench_report(name, "ms", &took, "compute + flow / link", &expected);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv, "weak");
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        for (int devices = 1; devices <= 4; devices += bench_quick() ? 3 : 1)
            measure(&workloads[i], devices);
    return 0;
}
