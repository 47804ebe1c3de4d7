/*
 * A radix sort, four bits at a time. Keys are counted by every device there is;
 * where each goes is a scan of the counts. To put them there is one device's
 * work, for a key may go anywhere.
 *
 *   radix [radix.ptx]
 */
#include <adsm_skeleton.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BITS = 4,
    DIGITS = 1 << BITS,
    CHUNK = 64,
    CHUNKS = 2000,
    N = CHUNK * CHUNKS
};

static void check(adsmStatus status)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "radix: %s: %s\n", adsmErrorName(status),
            adsmErrorDetail());
    exit(1);
}

static void *shared(size_t bytes)
{
    void *p = adsmAlloc(bytes);
    if (!p)
        check(adsmLastStatus());
    return p;
}

static int compare(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    adsmModule *module;
    adsmKernel *count, *scatter;
    check(adsmModuleLoad(&module, argc > 1 ? argv[1] : "radix.ptx", 0));
    check(adsmKernelGet(&count, module, "count", ADSM_ONLY_ARGUMENTS));
    check(adsmKernelGet(&scatter, module, "scatter", ADSM_ONLY_ARGUMENTS));

    static unsigned wanted[N];
    unsigned *key = shared(N * sizeof *key), *other = shared(N * sizeof *key);
    int *counts = shared(DIGITS * CHUNKS * sizeof *counts), chunks = CHUNKS;
    unsigned random = 1;
    for (int i = 0; i < N; i++)
        wanted[i] = key[i] = random = random * 1664525u + 1013904223u;

    const adsmOpts *all = adsmWith(.devices = ADSM_ALL_DEVICES);
    const adsmOperator *sum = adsmOperatorOf(ADSM_SUM, ADSM_I32);
    for (int shift = 0; shift < 32; shift += BITS) {
        /* A part has the keys of its chunks, and a column for each of them.
         * The scan goes through the same memory row after row. */
        check(adsmShape(counts, sizeof *counts, adsmR2(DIGITS, CHUNKS)));
        check(adsmCallWith(all, count, adsmR1(CHUNKS),
                           adsmBoxed(key, ADSM_IN, "[$1*i0:$1*i1]", CHUNK),
                           adsmBoxed(counts, ADSM_OUT, "[:][i]"),
                           adsmVal(shift)));
        check(adsmShape(counts, sizeof *counts, adsmR1(DIGITS * CHUNKS)));
        check(adsmScan(sum, counts, counts, DIGITS * CHUNKS, 1, all));
        check(adsmCall(scatter, CHUNKS, adsmIn(key), adsmIn(counts),
                       adsmOut(other), adsmVal(shift), adsmVal(chunks)));
        unsigned *sorted = other;
        other = key;
        key = sorted;
    }

    qsort(wanted, N, sizeof *wanted, compare);
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += key[i] != wanted[i];
    printf("%d devices, %d keys from %u to %u, %d wrong\n", adsmDeviceCount(),
           N, key[0], key[N - 1], wrong);
    return wrong != 0;
}
