/*
 * A million throws of two dice, counted by every device there is: each counts
 * its own, and what they have is added.
 *
 *   dice [dice.ptx]
 */
#include <adsm_skeleton.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000000, NUMBERS = 13 };

static void check(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "dice: %s: %s\n", adsmErrorName(status), adsmErrorDetail());
    exit(1);
}

static void *shared(size_t bytes)
{
    void *p = adsmAlloc(bytes);
    if (!p)
        check(adsmLastStatus());
    return p;
}

static int roll(unsigned *random)
{
    *random = *random * 1664525u + 1013904223u;
    return 1 + (int)((*random >> 16) * 6 >> 16);
}

int main(int argc, char **argv)
{
    adsmModule *module;
    adsmKernel *count;
    check(adsmModuleLoad(&module, argc > 1 ? argv[1] : "dice.ptx", 0));
    check(adsmKernelGet(&count, module, "count", ADSM_ONLY_ARGUMENTS));

    unsigned char *throws = shared(N);
    unsigned *times = shared(NUMBERS * sizeof *times), random = 1;
    for (int i = 0; i < NUMBERS; i++)
        times[i] = 0;
    for (int i = 0; i < N; i++)
        throws[i] = (unsigned char)(roll(&random) + roll(&random));

    const adsmOperator *sum = adsmOperatorOf(ADSM_SUM, ADSM_U32);
    check(adsmCallWith(adsmWith(.devices = ADSM_ALL_DEVICES), count, adsmR1(N),
                       adsmIn(throws), adsmInto(times, sum)));

    printf("%d devices, a seven %u times in %d\n", adsmDeviceCount(), times[7],
           N);
    unsigned wrong = N;
    for (int i = 0; i < NUMBERS; i++)
        wrong -= times[i];
    check(adsmFree(throws));
    check(adsmFree(times));
    return wrong != 0;
}
