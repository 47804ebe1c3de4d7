/*
 * A walk of a million random steps over every device there is: where it has
 * been is a scan of its steps, how far at most a map that is reduced, and where
 * on the average of each day a reduction by rows.
 *
 *   walk [walk.ptx]
 */
#include <adsm_skeleton.h>
#include <stdio.h>
#include <stdlib.h>

enum { DAYS = 40, STEPS = 30000, N = DAYS * STEPS };

struct place {
    int step, distance;
};

static void check(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "walk: %s: %s\n", adsmErrorName(status), adsmErrorDetail());
    exit(1);
}

static void *shared(size_t bytes)
{
    void *p = adsmAlloc(bytes);
    if (!p)
        check(adsmLastStatus());
    return p;
}

int main(int argc, char **argv)
{
    adsmModule *module;
    adsmKernel *farthest;
    check(adsmModuleLoad(&module, argc > 1 ? argv[1] : "walk.ptx", 0));
    check(adsmKernelGet(&farthest, module, "farthest", ADSM_ONLY_ARGUMENTS));

    int *step = shared(N * sizeof *step), *position = shared(N * sizeof *step);
    int *day = shared(DAYS * sizeof *day);
    struct place *place = shared(sizeof *place);
    unsigned random = 1;
    for (int i = 0; i < N; i++) {
        random = random * 1664525u + 1013904223u;
        step[i] = random >> 31 ? 1 : -1;
    }

    const adsmOpts *all = adsmWith(.devices = ADSM_ALL_DEVICES);
    const adsmOperator *sum = adsmOperatorOf(ADSM_SUM, ADSM_I32);
    check(adsmScan(sum, position, step, N, 0, all));
    check(adsmMapReduce(all, farthest, place, adsmR1(N), adsmIn(position)));
    check(adsmReduce(sum, day, position, adsmR2(DAYS, STEPS), 0, all));

    printf("%d devices, at most %d away, after step %d; ", adsmDeviceCount(),
           place->distance, place->step);
    printf("on the last day %.3f\n", (double)day[DAYS - 1] / STEPS);

    int at = 0, wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += position[i] != (at += step[i]);
    check(adsmFree(step));
    check(adsmFree(position));
    check(adsmFree(day));
    check(adsmFree(place));
    return wrong != 0;
}
