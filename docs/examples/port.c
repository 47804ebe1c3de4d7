/*
 * A program for CUDA after its port. The kernel, its grid and its blocks are as
 * they were; of the two arrays on each side one is left, and the copies between
 * them are gone. The lines that went stand behind >.
 *
 *   port [port.ptx]
 */
#include <adsm.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000003, BYTES = 256 };

static void check(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "port: %s: %s\n", adsmErrorName(status), adsmErrorDetail());
    exit(1);
}

static void *shared(size_t bytes)
{
    void *p = adsmAlloc(bytes);
    if (!p)
        check(adsmLastStatus());
    return p;
}

static unsigned char letter(unsigned *random)
{
    *random = *random * 1664525u + 1013904223u;
    return (unsigned char)('a' + (*random >> 24) % 26);
}

int main(int argc, char **argv)
{
    adsmModule *module;
    adsmKernel *histogram;
    check(adsmModuleLoad(&module, argc > 1 ? argv[1] : "port.ptx", 0));
    check(adsmKernelGet(&histogram, module, "histogram", ADSM_ONLY_ARGUMENTS));

    /* > unsigned char *text = malloc(N);
     * > cuMemAlloc(&device_text, N); cuMemAlloc(&device_times, ...); */
    unsigned char *text = shared(N);
    unsigned *times = shared(BYTES * sizeof *times), n = N, random = 1;
    unsigned wanted[BYTES] = {0};
    for (int i = 0; i < BYTES; i++)
        times[i] = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            wanted[text[i] = letter(&random)]++;
        /* > cuMemcpyHtoD(device_text, text, N); */
        check(adsmLaunch(histogram, adsmDim1(64), adsmDim1(256), 0,
                         adsmIn(text), adsmVal(n), adsmInOut(times)));
        /* > cuMemcpyDtoH(times, device_times, sizeof times); */
        printf("round %d: %u times the letter e\n", round, times['e']);
    }

    int wrong = 0;
    for (int i = 0; i < BYTES; i++)
        wrong += times[i] != wanted[i];
    check(adsmFree(text));
    check(adsmFree(times));
    return wrong != 0;
}
