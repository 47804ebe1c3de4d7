/*
 * What it costs a preloaded launch that its kernel is looked at: the time until
 * cuLaunchKernel is back where the host has an array that the kernel leaves
 * alone, against launches with ADSM_KERNEL_WRITES=all where it has nothing.
 *
 *   KERNEL/same      one launch again and again
 *   KERNEL/pointers  each with other arrays than the one before
 *   KERNEL/numbers   each with another number
 *   KERNEL/untouched the same, with no array that the CPU has ever accessed
 *   KERNEL/all       each with other arrays, another number and another block
 *   KERNEL/first     from cuModuleLoadData to the end of the first launch; the
 *                    text is read there
 *
 * Knows nothing of libadsm: PRELOAD names libadsm-preload.so, and a child is
 * this program again, as `--child FILE KERNEL WHAT LAUNCHES [more]`. The kernels
 * are bench/parboil's, which take pointers of 64 bits and numbers of 32. Their
 * arrays hold zeros, and one block is launched.
 */
#include "../micro/bench.h"
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 3, PARAMS_MOST = 8, BATCH = 50, MIB = 1 << 20 };
enum { ARRAY_BYTES = 4 * MIB };

static const struct {
    const char *file, *name;
} kernels[] = {
    {"cp", "cp_plane"},       {"mri_fhd", "mri_fhd_add"},
    {"mri_q", "mri_q_add"},   {"pns", "pns_step"},
    {"rpes", "rpes_row"},     {"sad", "sad_4x4"},
    {"tpacf", "tpacf_count"}, {"vecadd", "vecadd"},
};

static const char *const whats[] = {"same",      "pointers", "numbers",
                                    "untouched", "all",      "first"};

/* ---- the child ----------------------------------------------------------- */

struct work {
    CUfunction kernel;
    CUdeviceptr arrays[SETS][PARAMS_MOST];
    int count; /* of parameters */
    size_t bytes[PARAMS_MOST];
    uint64_t values[PARAMS_MOST];
    void *params[PARAMS_MOST];
    unsigned block;
    volatile char *near; /* what the host has; NULL: nothing */
};

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, MIB);
    if (!file || !text || fread(text, 1, MIB - 1, file) == 0)
        exit(1);
    fclose(file);
    return text;
}

static void find_parameters(struct work *w)
{
    size_t offset;
    while (w->count < PARAMS_MOST &&
           cuFuncGetParamInfo(w->kernel, (size_t)w->count, &offset,
                              &w->bytes[w->count]) == CUDA_SUCCESS) {
        w->params[w->count] = &w->values[w->count];
        w->count++;
    }
}

/* The array beside those of the kernel is nobody's yet. */
static bool is_untouched(const char *what)
{
    return strcmp(what, "untouched") == 0;
}

/* Arguments of launch `i`. */
static void choose(struct work *w, const char *what, int i)
{
    bool all = strcmp(what, "all") == 0;
    int pointers = all || strcmp(what, "pointers") == 0 ? i : 0;
    bool others = strcmp(what, "numbers") == 0 || is_untouched(what);
    int numbers = all || others ? i : 0;
    for (int k = 0; k < w->count; k++)
        w->values[k] = w->bytes[k] == 8 ? w->arrays[pointers % SETS][k]
                                        : 1 + (uint64_t)numbers % 61;
    w->block = all ? 32 + 32 * (unsigned)(i % 2) : 32;
}

static void launch(struct work *w)
{
    CHECK(cuLaunchKernel(w->kernel, 1, 1, 1, w->block, 1, 1, 0, NULL, w->params,
                         NULL));
}

static void look(const struct work *w)
{
    if (w->near && *w->near)
        exit(1);
}

static double launches_us(struct work *w, const char *what, int launches)
{
    double us = 0;
    for (int i = 0; i < launches; i += BATCH) {
        CHECK(cuCtxSynchronize());
        look(w);
        for (int k = 0; k < BATCH; k++) {
            choose(w, what, i + k);
            uint64_t begin = bench_now();
            launch(w);
            us += (double)(bench_now() - begin) / 1e3;
        }
    }
    return us / launches;
}

static int child(char **argv)
{
    struct work w = {.block = 32};
    const char *what = argv[4];
    char *text = read_all(argv[2]);
    device_start();
    for (int i = 0; i < SETS * PARAMS_MOST; i++) {
        CUdeviceptr *array = &w.arrays[i / PARAMS_MOST][i % PARAMS_MOST];
        CHECK(cuMemAlloc(array, ARRAY_BYTES));
        CHECK(cuMemsetD8(*array, 0, ARRAY_BYTES));
    }
    if (argv[6]) {
        CUdeviceptr array;
        CHECK(cuMemAlloc(&array, ARRAY_BYTES));
        if (!is_untouched(what)) {
            CHECK(cuMemsetD8(array, 0, ARRAY_BYTES));
            w.near = (volatile char *)array;
        }
    }
    CHECK(cuCtxSynchronize());
    look(&w);
    uint64_t begin = bench_now();
    w.kernel = device_kernel(text, argv[3]);
    find_parameters(&w);
    choose(&w, "same", 0);
    launch(&w);
    double us = (double)(bench_now() - begin) / 1e3;
    if (strcmp(what, "first") != 0) {
        launches_us(&w, what, 4 * BATCH);
        us = launches_us(&w, what, atoi(argv[5]));
    }
    CHECK(cuCtxSynchronize());
    printf("%f\n", us);
    free(text);
    return 0;
}

/* ---- the bench ----------------------------------------------------------- */

static double ask(size_t kernel, const char *what, const char *writes,
                  const char *near)
{
    char settings[4096], words[4096];
    snprintf(settings, sizeof settings,
             "SOFTCUDA_NATIVE=off ADSM_KERNEL_WRITES=%s LD_PRELOAD='%s'",
             writes, getenv("PRELOAD"));
    snprintf(words, sizeof words, "--child '%s/%s/%s.ptx' %s %s %d %s",
             BENCH_KERNELS, kernels[kernel].file, kernels[kernel].file,
             kernels[kernel].name, what, bench_quick() ? 100 : 4000, near);
    return bench_ask(settings, words);
}

/* Return: false: a child failed */
static bool compare(size_t kernel, const char *what)
{
    struct bench_samples ptx = {0}, floor = {0};
    char name[100];
    for (int i = 0; i < bench_reps(); i++) {
        double looked = ask(kernel, what, "ptx", "more");
        double whole = ask(kernel, what, "all", "");
        if (looked < 0 || whole < 0)
            return false;
        bench_add(&ptx, looked);
        bench_add(&floor, whole);
    }
    snprintf(name, sizeof name, "%s/%s", kernels[kernel].name, what);
    bench_report(name, "us", &ptx, "not looked at", &floor);
    return true;
}

int main(int argc, char **argv)
{
    if (argc >= 6 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    bench_start(argc, argv, "reach");
    if (!getenv("PRELOAD")) {
        fprintf(stderr, "bench_reach: set PRELOAD to libadsm-preload.so\n");
        return 77;
    }
    bench_settle();
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t i = 0; i < sizeof whats / sizeof *whats; i++)
            if (!compare(k, whats[i])) {
                fprintf(stderr, "bench_reach: a child failed\n");
                return 1;
            }
    return 0;
}
