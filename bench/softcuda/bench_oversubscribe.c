/*
 * Programs with four times the device's memory: written as if it fitted, and run
 * under ADSM_OVERSUBSCRIBE, beside the same work with tiles that the program
 * itself copies in and out. Milliseconds, from the first allocation of device
 * memory to the last result in the program's own memory, in children that
 * alternate.
 *
 * Eight arrays of half the memory are four pairs x, y; a pass makes
 * y = 3 y + x of each pair. The tiles are the arrays: what the runtime moves in
 * a pass is what the hand-written program copies. It begins with its data in
 * place, whereas the other copies all of it into its arrays first, and the
 * results out of them in the end: that is what one pass shows.
 *
 *   passes/N        links as fast as the machine copies
 *   passes/N/link   links of 1 GB/s each way
 *
 * PRELOAD names libadsm-preload.so. A child is this program again, as
 * `bench_oversubscribe --child whole|tiles PASSES MIB`.
 */
#include "../micro/bench.h"
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 4, BLOCK = 256, MEMORY_MIB = 64, QUICK_MIB = 16 };

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry step(.param .u64 x, .param .u64 y)\n{\n"
    ".reg .b64 %x, %y, %o; .reg .b32 %i, %n, %t, %v, %w;\n"
    "ld.param.u64 %x, [x]; ld.param.u64 %y, [y];\n"
    "mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x;\n"
    "mad.lo.u32 %i, %i, %n, %t; mul.wide.u32 %o, %i, 4;\n"
    "add.u64 %x, %x, %o; add.u64 %y, %y, %o;\n"
    "ld.global.u32 %v, [%x]; ld.global.u32 %w, [%y];\n"
    "mad.lo.u32 %w, %w, 3, %v; st.global.u32 [%y], %w; ret; }\n";

/* ---- the child ----------------------------------------------------------- */

struct work {
    CUfunction step;
    int passes;
    size_t bytes;                  /* of an array                            */
    uint32_t *x[PAIRS], *y[PAIRS]; /* the program's own, page-locked      */
};

static uint32_t *fill(size_t bytes, uint32_t seed)
{
    uint32_t *at;
    CHECK(cuMemAllocHost((void **)&at, bytes));
    for (size_t i = 0; i < bytes / 4; i++)
        at[i] = (uint32_t)i * 2654435761u + seed;
    return at;
}

static void step(const struct work *w, CUdeviceptr x, CUdeviceptr y)
{
    void *arguments[] = {&x, &y};
    CHECK(cuLaunchKernel(w->step, (unsigned)(w->bytes / 4 / BLOCK), 1, 1, BLOCK,
                         1, 1, 0, NULL, arguments, NULL));
}

static CUdeviceptr array(size_t bytes)
{
    CUdeviceptr at;
    CHECK(cuMemAlloc(&at, bytes));
    return at;
}

static void run_whole(const struct work *w)
{
    CUdeviceptr x[PAIRS], y[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        x[i] = array(w->bytes);
        y[i] = array(w->bytes);
        CHECK(cuMemcpyHtoD(x[i], w->x[i], w->bytes));
        CHECK(cuMemcpyHtoD(y[i], w->y[i], w->bytes));
    }
    for (int pass = 0; pass < w->passes; pass++)
        for (int i = 0; i < PAIRS; i++)
            step(w, x[i], y[i]);
    for (int i = 0; i < PAIRS; i++)
        CHECK(cuMemcpyDtoH(w->y[i], y[i], w->bytes));
}

static void run_tiles(const struct work *w)
{
    CUdeviceptr x = array(w->bytes), y = array(w->bytes);
    for (int pass = 0; pass < w->passes; pass++)
        for (int i = 0; i < PAIRS; i++) {
            CHECK(cuMemcpyHtoD(x, w->x[i], w->bytes));
            CHECK(cuMemcpyHtoD(y, w->y[i], w->bytes));
            step(w, x, y);
            CHECK(cuMemcpyDtoH(w->y[i], y, w->bytes));
        }
}

static bool is_right(const struct work *w)
{
    for (uint32_t k = 0; k < PAIRS; k++)
        for (size_t i = 0; i < w->bytes / 4; i++) {
            uint32_t x = (uint32_t)i * 2654435761u + 2 * k;
            uint32_t y = (uint32_t)i * 2654435761u + 2 * k + 1;
            for (int pass = 0; pass < w->passes; pass++)
                y = 3 * y + x;
            if (w->y[k][i] != y)
                return false;
        }
    return true;
}

static int child(char **argv)
{
    struct work w = {.passes = atoi(argv[3]),
                     .bytes = (size_t)atol(argv[4]) << 19};
    device_start();
    w.step = device_kernel(text, "step");
    for (uint32_t k = 0; k < PAIRS; k++) {
        w.x[k] = fill(w.bytes, 2 * k);
        w.y[k] = fill(w.bytes, 2 * k + 1);
    }
    uint64_t began = bench_now();
    if (strcmp(argv[2], "whole") == 0)
        run_whole(&w);
    else
        run_tiles(&w);
    printf("%.3f\n", (double)(bench_now() - began) * 1e-6);
    return is_right(&w) ? 0 : 1;
}

/* ---- the parent ---------------------------------------------------------- */

static double ask(bool whole, int passes, const char *link)
{
    char settings[4300], words[64];
    int mib = bench_quick() ? QUICK_MIB : MEMORY_MIB;
    snprintf(settings, sizeof settings, "SOFTCUDA_MEMORY=%dM %s %s%s%s", mib,
             link, whole ? "ADSM_OVERSUBSCRIBE=1 LD_PRELOAD='" : "",
             whole ? getenv("PRELOAD") : "", whole ? "'" : "");
    snprintf(words, sizeof words, "--child %s %d %d", whole ? "whole" : "tiles",
             passes, mib);
    return bench_ask(settings, words);
}

static int compare(int passes, bool throttled)
{
    struct bench_samples whole = {0}, tiles = {0};
    char name[64];
    for (int rep = 0; rep < bench_reps(); rep++) {
        const char *link = throttled ? "SOFTCUDA_LINK=1GB/s" : "";
        double a = ask(true, passes, link), b = ask(false, passes, link);
        if (a < 0 || b < 0)
            return -1;
        bench_add(&whole, a);
        bench_add(&tiles, b);
    }
    snprintf(name, sizeof name, "passes/%d%s", passes,
             throttled ? "/link" : "");
    bench_report(name, "ms", &whole, "tiles by hand", &tiles);
    return 0;
}

int main(int argc, char **argv)
{
    static const int passes[] = {1, 2, 8};
    if (argc == 5 && strcmp(argv[1], "--child") == 0)
        return child(argv);
    bench_start(argc, argv, "oversubscribe");
    if (!getenv("PRELOAD")) {
        fprintf(stderr,
                "bench_oversubscribe: set PRELOAD to libadsm-preload.so\n");
        return 77;
    }
    for (int throttled = 0; throttled < 2; throttled++)
        for (int i = 0; i < (bench_quick() ? 2 : 3); i++)
            if (compare(passes[i], throttled) != 0) {
                fprintf(stderr, "bench_oversubscribe: a child failed\n");
                return 1;
            }
    return 0;
}
