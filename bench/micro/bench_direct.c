/*
 * Memory that the device shares with the host, against the copies of rolling:
 * two programs from their first allocation to their last free, on a software
 * device that says it is integrated.
 *
 *   vecsum    three vectors of 64 MiB: the host writes two, the device adds
 *             them, the host reads the third
 *   stencil   2048 x 2048 points, 50 steps; the host writes the first and reads
 *             the last
 *
 * Each run is a process of its own. Before the allocations the kernels have been
 * translated.
 */
#include "adsm.h"
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c)\n"
    "{ .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %d<8>;\n"
    "  ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [c];\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "  mad.lo.s32 %r4, %r1, %r2, %r3; mul.wide.u32 %d4, %r4, 4;\n"
    "  add.s64 %d5, %d1, %d4; add.s64 %d6, %d2, %d4; add.s64 %d7, %d3, %d4;\n"
    "  ld.global.f32 %f1, [%d5]; ld.global.f32 %f2, [%d6];\n"
    "  add.f32 %f3, %f1, %f2; st.global.f32 [%d7], %f3; ret; }\n"
    ".visible .entry step(.param .u64 a, .param .u64 b, .param .u32 n)\n"
    "{ .reg .pred %p; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>;\n"
    "  ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "  mad.lo.s32 %r5, %r2, %r3, %r4; sub.s32 %r6, %r1, 2;\n"
    "  mov.u32 %r7, %ctaid.y; add.s32 %r7, %r7, 1;\n"
    "  setp.ge.s32 %p, %r5, %r6; @%p bra END;\n"
    "  mad.lo.s32 %r8, %r7, %r1, %r5; add.s32 %r8, %r8, 1;\n"
    "  mul.wide.s32 %d3, %r8, 4; mul.wide.s32 %d4, %r1, 4;\n"
    "  add.s64 %d5, %d1, %d3; sub.s64 %d6, %d5, %d4; add.s64 %d7, %d5, %d4;\n"
    "  ld.global.f32 %f1, [%d5+-4]; ld.global.f32 %f2, [%d5+4];\n"
    "  ld.global.f32 %f3, [%d6]; ld.global.f32 %f4, [%d7];\n"
    "  add.f32 %f5, %f1, %f2; add.f32 %f6, %f3, %f4; add.f32 %f7, %f5, %f6;\n"
    "  mul.f32 %f8, %f7, 0f3E800000; add.s64 %d8, %d2, %d3;\n"
    "  st.global.f32 [%d8], %f8;\n"
    "END: ret; }\n";

static adsmModule *module;

static void need(int status, const char *what)
{
    if (status == ADSM_OK)
        return;
    fprintf(stderr, "bench_direct: %s: %s\n", what, adsmErrorDetail());
    exit(1);
}

static adsmKernel *kernel(const char *name)
{
    adsmKernel *found;
    if (!module)
        need(adsmModuleLoad(&module, ptx, sizeof ptx - 1), "module");
    need(adsmKernelGet(&found, module, name, ADSM_ONLY_ARGUMENTS), name);
    return found;
}

static float *array(size_t count)
{
    float *p = adsmAlloc(count * sizeof *p);
    need(p ? ADSM_OK : adsmLastStatus(), "memory");
    return p;
}

static void wrong(const char *what, double is)
{
    fprintf(stderr, "bench_direct: %s: %g\n", what, is);
    exit(1);
}

static void vecsum(size_t count)
{
    adsmKernel *add = kernel("add");
    float *a = array(count), *b = array(count), *c = array(count);
    size_t right = 0;
    for (size_t i = 0; i < count; i++)
        a[i] = (float)(i & 1023);
    for (size_t i = 0; i < count; i++)
        b[i] = 1024.0f - (float)(i & 1023);
    need(adsmLaunch(add, adsmDim1((unsigned)(count / 256)), adsmDim1(256), 0,
                    adsmIn(a), adsmIn(b), adsmOut(c)),
         "launch");
    need(adsmSync(), "sync");
    for (size_t i = 0; i < count; i++)
        right += c[i] == 1024.0f;
    if (right != count)
        wrong("right sums", (double)right);
    adsmFree(a);
    adsmFree(b);
    adsmFree(c);
}

/* Warm above, cold elsewhere: what is linear stays as it is but there. */
static void stencil(unsigned n, int steps)
{
    adsmKernel *step = kernel("step");
    float *a = array((size_t)n * n), *b = array((size_t)n * n);
    double sum = 0;
    for (size_t i = 0; i < (size_t)n * n; i++)
        a[i] = b[i] = i < n ? 1.0f : 0.0f;
    for (int i = 0; i < steps; i++) {
        need(adsmLaunch(step, adsmDim2((n + 255) / 256, n - 2), adsmDim1(256),
                        0, adsmIn(i & 1 ? b : a), adsmInOut(i & 1 ? a : b),
                        adsmVal(n)),
             "launch");
    }
    need(adsmSync(), "sync");
    for (size_t i = n; i < (size_t)n * n; i++)
        sum += (steps & 1 ? b : a)[i];
    if (!(sum > n && sum < (double)n * steps))
        wrong("warmth", sum);
    adsmFree(a);
    adsmFree(b);
}

static void run(const char *name, bool small)
{
    if (strcmp(name, "vecsum") == 0)
        vecsum(small ? 1 << 12 : bench_quick() ? 1 << 20 : 16 << 20);
    else
        stencil(small ? 64 : bench_quick() ? 512 : 2048, 50);
}

static int measured(const char *name)
{
    run(name, true); /* runtime, module and native code are there */
    uint64_t begin = bench_now();
    run(name, false);
    printf("%.3f\n", (double)(bench_now() - begin) / 1e6);
    return 0;
}

static double ask(const char *name, const char *strategy)
{
    char settings[160], words[40];
    snprintf(settings, sizeof settings,
             "SOFTCUDA_INTEGRATED=1 SOFTCUDA_NATIVE=wait ADSM_ADDRESS=%s "
             "ADSM_PROTOCOL=rolling",
             strategy);
    snprintf(words, sizeof words, "%s %s", name,
             bench_quick() ? "--quick" : "--reps=1");
    return bench_ask(settings, words);
}

static int compare(const char *name)
{
    struct bench_samples direct = {0}, rolling = {0};
    (void)ask(name, "direct"); /* native code is kept in files */
    for (int i = 0; i < bench_reps(); i++) {
        bench_add(&rolling, ask(name, "window"));
        bench_add(&direct, ask(name, "direct"));
    }
    bench_report(name, "ms", &direct, "rolling", &rolling);
    return bench_median(&direct) > 0 && bench_median(&rolling) > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 2 && argv[1][0] != '-') {
        bench_start(argc - 1, argv + 1, "direct");
        return measured(argv[1]);
    }
    bench_start(argc, argv, "direct");
    bench_settle();
    return compare("vecsum") | compare("stencil");
}
