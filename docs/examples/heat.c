/*
 * Heat in a plate over every device there is, and a CPU that heats one cell
 * between the calls.
 *
 *   heat [heat.ptx]
 */
#include <adsm.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NY = 768, NX = 1024, STEPS = 100 };

static void check(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "heat: %s: %s\n", adsmErrorName(status), adsmErrorDetail());
    exit(1);
}

static float *plate(void)
{
    float *cells = adsmAllocArray(sizeof *cells, adsmR2(NY, NX), ADSM_NO_HOME);
    if (!cells)
        check(adsmLastStatus());
    for (long i = 0; i < (long)NY * NX; i++)
        cells[i] = 0;
    return cells;
}

int main(int argc, char **argv)
{
    adsmModule *module;
    adsmKernel *heat;
    check(adsmModuleLoad(&module, argc > 1 ? argv[1] : "heat.ptx", 0));
    check(adsmKernelGet(&heat, module, "heat", ADSM_ONLY_ARGUMENTS));

    float *now = plate(), *next = plate(), rate = 0.2f;
    const adsmOpts *all = adsmWith(.devices = ADSM_ALL_DEVICES);
    for (int step = 0; step < STEPS; step++) {
        now[NY / 4 * NX + NX / 2] += 1; /* the CPU, on a cell of some device */
        check(adsmCallWith(all, heat, adsmR2(NY, NX),
                           adsmCross(now, 1, 1, ADSM_EDGE_CLAMP), adsmOut(next),
                           adsmVal(rate)));
        float *was = now;
        now = next;
        next = was;
    }

    double sum = 0;
    for (long i = 0; i < (long)NY * NX; i++)
        sum += now[i]; /* fetches what the devices have */
    printf("%d devices, heat %.3f of %d\n", adsmDeviceCount(), sum, STEPS);
    check(adsmFree(now));
    check(adsmFree(next));
    return fabs(sum - STEPS) < 1e-3 ? 0 : 1;
}
