/*
 * An array that is larger than the device's memory: a call with options goes
 * through it in pieces, each of which is brought while another one computes. The
 * table beside it is small, and needs nothing of that.
 *
 *   large [large.ptx [MiB]]
 */
#include <adsm.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHADES = 256, STEPS = 3 };

static void check(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "large: %s: %s\n", adsmErrorName(status),
            adsmErrorDetail());
    exit(1);
}

/* Without a home: memory on devices is taken for what a piece needs. */
static void *array(size_t elem, long n)
{
    void *p = adsmAllocArray(elem, adsmR1(n), ADSM_NO_HOME);
    if (!p)
        check(adsmLastStatus());
    return p;
}

int main(int argc, char **argv)
{
    adsmModule *module;
    adsmKernel *shade;
    check(adsmModuleLoad(&module, argc > 1 ? argv[1] : "large.ptx", 0));
    check(adsmKernelGet(&shade, module, "shade", ADSM_ONLY_ARGUMENTS));

    long n = (argc > 2 ? atol(argv[2]) : 40) * (1 << 20) / (long)sizeof(float);
    float *sum = array(sizeof *sum, n);
    float *table = adsmAlloc(SHADES * sizeof *table);
    unsigned char *sample = array(1, n);
    if (!table)
        check(adsmLastStatus());
    for (int i = 0; i < SHADES; i++)
        table[i] = (float)i;
    for (long i = 0; i < n; i++) {
        sample[i] = (unsigned char)(i % 251);
        sum[i] = 1;
    }

    const adsmOpts *all = adsmWith(.devices = ADSM_ALL_DEVICES);
    for (int step = 0; step < STEPS; step++)
        check(adsmCallWith(all, shade, adsmR1(n), adsmIn(sample),
                           adsmAll(table), adsmInOut(sum)));

    long wrong = 0;
    for (long i = 0; i < n; i++)
        wrong += sum[i] != 1 + (float)(STEPS * (i % 251));
    printf("%d devices, %ld elements, %ld wrong\n", adsmDeviceCount(), n,
           wrong);
    return wrong != 0;
}
