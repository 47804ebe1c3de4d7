/*
 * Arrays of half to eight times a device's memory, per MiB, beside the same call
 * on a device that holds them.
 *
 * One array goes up, is doubled, and comes back as another. Links are throttled
 * and the kernel is paced, so what takes longer than on the large device is what
 * rounds cost: transfers that do not overlap, or bytes that are moved twice.
 *
 *   beyond/X      one call over fresh data, X times the memory in both arrays
 *   again/X       the same call again: what is still there need not be moved
 */
#include "bench.h"
#include "ranged.h"

enum { MIB = 1 << 20, MEMORY_MIB = 16 };

/* Milliseconds per MiB. */
static double call_ms(long mib, int again)
{
    long n = mib * MIB / 8; /* elements of each of two arrays */
    adsmKernel *twice = kernel("twice");
    unsigned *x = array(n), *y = array(n), wrong = 0;
    uint64_t began = 0;
    for (int i = 0; i <= again; i++) {
        for (long k = 0; k < n && i == 0; k++)
            x[k] = (unsigned)k;
        began = bench_now();
        must(adsmCallWith(adsmWith(.devices = 1, .chunks = 8, .fetch = 1),
                          twice, adsmR1(n), adsmIn(x), adsmOut(y)));
        for (long k = 0; k < n; k += 1024)
            wrong += y[k] != 2 * x[k];
    }
    double ms = (double)(bench_now() - began) * 1e-6;
    return wrong ? -1 : ms / (double)mib;
}

static int child(char **argv)
{
    double ms = call_ms(atol(argv[2]), atoi(argv[3]));
    printf("%.5f\n", ms);
    return ms < 0;
}

static void measure(const char *name, long mib, int again)
{
    struct bench_samples here = {.count = 0}, there = {.count = 0};
    char words[64], settings[128];
    snprintf(words, sizeof words, "--child %ld %d", mib, again);
    for (int r = 0; r < bench_reps(); r++)
        for (int large = 0; large < 2; large++) {
            snprintf(settings, sizeof settings,
                     "SOFTCUDA_LINK=200MB/s SOFTCUDA_PACE=50M/s "
                     "SOFTCUDA_MEMORY=%dM",
                     large ? 1024 : MEMORY_MIB);
            double ms = bench_ask(settings, words);
            if (ms < 0)
                exit(3);
            bench_add(large ? &there : &here, ms);
        }
    bench_report(name, "ms/MiB", &here, "a large device", &there);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    bench_start(argc, argv, "beyond");
    const double times[] = {0.5, 1, 2, 4, 8};
    for (int i = 0; i < (bench_quick() ? 3 : 5); i++)
        for (int again = 0; again < 2; again++) {
            char name[32];
            snprintf(name, sizeof name, "%s/%g", again ? "again" : "beyond",
                     times[i]);
            measure(name, (long)(times[i] * MEMORY_MIB), again);
        }
    return 0;
}
