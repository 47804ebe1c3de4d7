/*
 * Runs a kernel in the interpreter and natively, for each instruction set the
 * processor has, and compares what both leave in memory, bit for bit.
 */
#ifndef TESTS_SOFTCUDA_NATIVE_TWICE_H
#define TESTS_SOFTCUDA_NATIVE_TWICE_H

#include "build_test.h"

#include "../ptx/device.h"

#define TWICE_IN  4096u /* words of input, random; a power of two */
#define TWICE_OUT (4u << 20)

/** One kernel, `k(out, in, n)`. */
struct twice {
    const char *text;
    uint32_t grid[3], block[3], dynamic, n;
    bool may_refuse; /* the interpreter may keep it */
};

/** Begin of every kernel: %d0 out, %d1 in, %r0 n, %r1 number of the thread in
 *  its block, %r2 in the grid, %d3 its own word of `out`. */
#define TWICE_HEAD(variables)                                                  \
    PTX_HEAD                                                                   \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"   \
    ".reg .pred %p<16>; .reg .b32 %r<64>; .reg .b64 %d<32>;\n"                 \
    ".reg .f32 %f<32>; .reg .b16 %h<8>; .reg .f64 %g<8>;\n" variables "\n"     \
    "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in];\n"                       \
    "ld.param.u32 %r0, [n];\n"                                                 \
    "mov.u32 %r50, %tid.x; mov.u32 %r51, %tid.y; mov.u32 %r52, %tid.z;\n"      \
    "mov.u32 %r53, %ntid.x; mov.u32 %r54, %ntid.y; mov.u32 %r55, %ntid.z;\n"   \
    "mad.lo.u32 %r61, %r52, %r54, %r51; mad.lo.u32 %r1, %r61, %r53, %r50;\n"   \
    "mul.lo.u32 %r62, %r53, %r54; mul.lo.u32 %r56, %r62, %r55;\n"              \
    "mov.u32 %r57, %ctaid.x; mad.lo.u32 %r2, %r57, %r56, %r1;\n"               \
    "mul.wide.u32 %d2, %r2, 4; add.u64 %d3, %d0, %d2;\n"

/** What one run left. */
struct twice_result {
    enum sc_exec_status status;
    uint32_t line;
    uint64_t native;
    char why[160];
    unsigned char *out;
};

static inline uint32_t twice_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

static inline bool twice_has_compiler(void)
{
    return system("cc --version >/dev/null 2>&1") == 0;
}

static inline bool twice_has(const char *isa)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (strcmp(isa, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (strcmp(isa, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq");
#endif
    return strcmp(isa, "generic") == 0;
}

static inline void twice_run(const struct twice *t, const char *mode,
                             const char *isa, struct twice_result *result)
{
    struct sc_launch_report report = {0};
    struct sc_exec_fault fault = {0};
    uint64_t state = 42;
    if (!room[0]) {
        enter_room();
        use_shared_cache();
    }
    setenv("SOFTCUDA_NATIVE", mode, 1);
    setenv("SOFTCUDA_ISA", isa, 1);
    device_open();
    unsigned char *out = device_alloc(TWICE_OUT);
    uint32_t *in = device_alloc(TWICE_IN * 4);
    for (uint32_t i = 0; i < TWICE_IN; i++)
        in[i] = twice_random(&state);
    memset(out, 0xa5, TWICE_OUT);
    struct {
        void *out, *in;
        uint32_t n;
    } params = {out, in, t->n};
    struct sc_module *module = device_load(t->text);
    struct sc_launch launch = {.dynamic_shared_bytes = t->dynamic,
                               .params = &params,
                               .param_bytes = sizeof params,
                               .report = &report};
    for (int i = 0; i < 3; i++) {
        launch.grid[i] = t->grid[i] ? t->grid[i] : 1;
        launch.block[i] = t->block[i] ? t->block[i] : 1;
    }
    result->status = sc_kernel_launch(module, 0, &launch, &fault);
    result->line = fault.line;
    result->native = report.native;
    snprintf(result->why, sizeof result->why, "%s",
             result->status == SC_EXEC_OK && report.why ? report.why
                                                        : fault.text);
    result->out = malloc(TWICE_OUT);
    memcpy(result->out, out, TWICE_OUT);
    sc_module_unload(module);
    device_close();
}

static inline void twice_compare(const struct twice *t, const char *isa,
                                 const struct twice_result *want)
{
    struct twice_result got;
    twice_run(t, "wait", isa, &got);
    ck_assert_msg(got.status == want->status, "%s: status %d for %d (%s)", isa,
                  got.status, want->status, got.why);
    if (got.status == SC_EXEC_OK && !t->may_refuse)
        ck_assert_msg(got.native > 0, "%s: not native: %s", isa, got.why);
    if (got.status != SC_EXEC_OK)
        ck_assert_msg(got.line == want->line, "%s: line %u for %u", isa,
                      got.line, want->line);
    for (size_t i = 0; got.status == SC_EXEC_OK && i < TWICE_OUT; i += 4)
        if (memcmp(got.out + i, want->out + i, 4) != 0) {
            uint32_t a, b;
            memcpy(&a, got.out + i, 4);
            memcpy(&b, want->out + i, 4);
            ck_abort_msg("%s, block %u %u %u: word %zu is %08x, not %08x\n%s",
                         isa, t->block[0], t->block[1], t->block[2], i / 4, a,
                         b, t->text);
        }
    free(got.out);
}

/** Run everywhere and compare. Return: how it ended, everywhere. */
static inline enum sc_exec_status twice(const struct twice *t)
{
    static const char *const isas[] = {"generic", "avx2", "avx512"};
    struct twice_result want;
    twice_run(t, "off", "generic", &want);
    for (size_t i = 0; i < 3; i++)
        if (twice_has(isas[i]))
            twice_compare(t, isas[i], &want);
    free(want.out);
    return want.status;
}

#endif
