/*
 * A call whose input the host has written: 64 bytes of a block or all of it, a
 * launch that reads it, the wait for it.
 *
 * Two ways: the block stays open over the calls and is sent as a difference
 * (ADSM_KEEP_OPEN), or it is closed at each call, which costs a fault and an
 * upload of all of it (ADSM_KEEP_OPEN=0). The option is read once, so each
 * sample is the median call of a process of its own, in turns.
 */
#include "adsm.h"
#include "bench.h"
#include "tests/mm/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 400, QUICK_CALLS = 30, WARM_UP = 10 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int failed(const char *what)
{
    fprintf(stderr, "bench_keep: %s: %s\n", what, adsmErrorDetail());
    return 1;
}

/* Microseconds of the median call on a block of `bytes`. */
static int child(size_t bytes, size_t written)
{
    static double us[CALLS];
    int calls = bench_quick() ? QUICK_CALLS : CALLS;
    adsmModule *module;
    adsmKernel *mix;
    if (adsmModuleLoad(&module, kernels_ptx, sizeof kernels_ptx - 1) ||
        adsmKernelGet(&mix, module, "mix", ADSM_ONLY_ARGUMENTS))
        return failed("no kernel");
    uint8_t *in = adsmAlloc(bytes), *out = adsmAlloc(4 << 20);
    if (!in || !out)
        return failed("no memory");
    memset(in, 0, bytes);
    uint32_t n = 64, seed = 1;
    for (int i = -WARM_UP; i < calls; i++) {
        uint64_t start = bench_now();
        memset(in + (size_t)(i + WARM_UP) * written % bytes, i, written);
        if (adsmLaunch(mix, adsmDim1(1), adsmDim1(64), 0, adsmInOut(out),
                       adsmIn(in), adsmVal(n), adsmVal(seed)) ||
            adsmSync())
            return failed("launch");
        if (i >= 0)
            us[i] = (double)(bench_now() - start) / 1e3;
    }
    qsort(us, (size_t)calls, sizeof *us, by_value);
    printf("%f\n", us[calls / 2]);
    return 0;
}

static double sample_us(const char *self, size_t bytes, size_t written,
                        const char *keep_open)
{
    char command[4200];
    double us;
    snprintf(command, sizeof command,
             "ADSM_PROTOCOL=lazy ADSM_SLAB_MAX=0 ADSM_KEEP_OPEN=%s "
             "BENCH_KEEP_BYTES=%zu BENCH_KEEP_WRITTEN=%zu '%s'%s",
             keep_open, bytes, written, self, bench_quick() ? " --quick" : "");
    FILE *pipe = popen(command, "r");
    if (!pipe || fscanf(pipe, "%lf", &us) != 1 || pclose(pipe) != 0) {
        fprintf(stderr, "bench_keep: '%s' has failed\n", command);
        exit(1);
    }
    return us;
}

static void measure(const char *self, size_t bytes, size_t written,
                    const char *what)
{
    struct bench_samples kept = {0}, closed = {0};
    char label[64];
    for (int k = 0; k < bench_reps(); k++) {
        bench_add(&closed, sample_us(self, bytes, written, "0"));
        bench_add(&kept, sample_us(self, bytes, written, "1M"));
    }
    snprintf(label, sizeof label, "kept-open/%zuK/%s", bytes >> 10, what);
    bench_report(label, "us", &kept, "closed at each call", &closed);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {4 << 10, 16 << 10, 64 << 10, 256 << 10,
                                   1 << 20};
    char self[4096] = "";
    const char *bytes = getenv("BENCH_KEEP_BYTES");
    const char *written = getenv("BENCH_KEEP_WRITTEN");
    bench_start(argc, argv, "keep");
    if (bytes && written)
        return child(strtoul(bytes, NULL, 10), strtoul(written, NULL, 10));
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        measure(self, sizes[i], 64, "64-bytes");
        measure(self, sizes[i], sizes[i], "all");
    }
    return 0;
}
