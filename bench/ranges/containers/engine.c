/*
 * A program of programs.h by libadsm: arrays without a home, each call over
 * all devices. What that moves is in the file that ADSM_STATS_FILE names.
 *
 *   table1-engine NAME N CALLS   compare with the CPU's results
 *   table1-engine NAME N CALLS time   print milliseconds instead
 */
#include "programs.h"

#include <adsm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char ptx[] =
#include "mix_ptx.inc"
    ;

static unsigned *array[PROGRAM_ARRAYS];
static unsigned *want[PROGRAM_ARRAYS]; /* NULL: not compared */
static adsmKernel *kernel;

static void good(adsmStatus status, const char *what)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, adsmErrorName(status),
            adsmErrorDetail());
    exit(1);
}

static void *none; /* what a kernel gets for an array that is not there */

static adsmArg argument(const struct program *p, int i, adsmMode mode,
                        bool whole)
{
    if (i == NONE)
        return adsmVal(none);
    return (adsmArg){
        .p = array[i],
        .mode = mode,
        .elem = p->words[i] * sizeof(unsigned),
        .how = whole ? ADSM_WHOLE : ADSM_BY_RANGE,
    };
}

static void call(const struct program *p, int step)
{
    const struct step *s = p->step + step;
    struct mix m = program_mix(p, step);
    /* Equal parts, as the containers have them, however fast devices are. */
    adsmOpts all = {.devices = ADSM_ALL_DEVICES, .parts = adsmDeviceCount()};
    const adsmArg args[] = {
        argument(p, s->a, ADSM_IN, s->a_whole),
        argument(p, s->b, ADSM_IN, s->b_whole),
        argument(p, s->out, s->update ? ADSM_INOUT : ADSM_OUT, false),
        adsmVal(m),
    };
    good(adsmCallRangeV(kernel, adsmR1(p->n), &all, 4, args), p->name);
}

static unsigned look(const struct program *p, int step)
{
    int i = p->step[step].out;
    long count, first = program_span(p, step, &count);
    size_t begin = (size_t)first * p->words[i];
    size_t words = (size_t)count * p->words[i];
    unsigned sum = 0;
    if (want[i] && memcmp(array[i] + begin, want[i] + begin,
                          words * sizeof **array) != 0) {
        fprintf(stderr, "%s: array %d is not the CPU's\n", p->name, i);
        exit(1);
    }
    for (size_t k = 0; k < words && !want[i]; k++)
        sum += array[i][begin + k];
    return sum;
}

static void load(void)
{
    adsmModule *module;
    good(adsmModuleLoad(&module, ptx, strlen(ptx)), "adsmModuleLoad");
    good(adsmKernelGet(&kernel, module, "mix", ADSM_ONLY_ARGUMENTS), "mix");
}

static void create(const struct program *p, bool compare)
{
    for (int i = 0; i < p->arrays; i++) {
        array[i] = adsmAllocArray(p->words[i] * sizeof(unsigned), adsmR1(p->n),
                                  ADSM_NO_HOME);
        if (!array[i])
            good(adsmLastStatus(), "adsmAllocArray");
        want[i] = compare ? calloc(1, program_bytes(p, i)) : NULL;
    }
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double run(const struct program *p, bool compare)
{
    static volatile unsigned seen;
    create(p, compare);
    double begin = now_ms();
    for (int i = 0; i < p->count; i++) {
        const struct step *s = p->step + i;
        if (compare)
            program_step(p, i, want);
        if (s->what == CALL)
            call(p, i);
        else if (s->what == FILL)
            program_fill(p, i, array[s->out]);
        else
            seen += look(p, i);
    }
    good(adsmSync(), "adsmSync");
    double ms = now_ms() - begin;
    (void)seen; /* has been looked at */
    for (int i = 0; i < p->arrays; i++) {
        good(adsmFree(array[i]), "adsmFree");
        free(want[i]);
    }
    return ms;
}

/* Devices and kernels are there before anything is timed. */
static void warm_up(void)
{
    struct program program = program_mandel(64, 1);
    run(&program, true);
    program_free(&program);
}

int main(int argc, char **argv)
{
    struct program p;
    if (argc < 4 || argc > 5 ||
        !program_by_name(&p, argv[1], atol(argv[2]), atoi(argv[3]))) {
        fprintf(stderr, "usage: %s NAME N CALLS [time]\n", argv[0]);
        return 2;
    }
    load();
    if (argc == 5)
        warm_up();
    printf("%.3f\n", run(&p, argc == 4));
    program_free(&p);
    return 0;
}
