/*
 * Two programs on adsm.h; see programs.h.
 */
#include "programs.h"

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
    fprintf(stderr, "programs: %s: %s\n", what, adsmErrorDetail());
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
    fprintf(stderr, "programs: %s: %g\n", what, is);
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

void program_run(const char *name, bool small)
{
    if (strcmp(name, "vecsum") == 0)
        vecsum(small ? 1 << 12 : program_elements(name));
    else
        stencil(small ? 64 : (unsigned)program_elements(name), PROGRAM_STEPS);
}
