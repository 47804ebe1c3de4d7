/*
 * Calls: inlined, by address, recursive; parameters in registers, in pieces
 * and whose address is taken; what the kernels that nvcc made of
 * corpus/calls.cu compute, optimised and for the debugger.
 */
#include "common/suite.h"
#include "device.h"

#include <string.h>

#define THREADS 70

static uint32_t *launch(const struct sc_module *module, const char *name,
                        uint32_t threads, enum sc_exec_status want)
{
    size_t k = 0;
    while (strcmp(sc_module_kernel(module, k)->name, name) != 0)
        k++;
    uint32_t *out = device_alloc((size_t)threads * 32);
    struct sc_launch launch = {.grid = {1, 1, 1},
                               .block = {threads, 1, 1},
                               .params = &out,
                               .param_bytes = sizeof out};
    struct sc_exec_fault fault;
    enum sc_exec_status status = sc_kernel_launch(module, k, &launch, &fault);
    ck_assert_msg(status == want, "%s: %d, %s", name, (int)status, fault.text);
    return out;
}

/* ---- corpus/calls.cu ---- */

static uint32_t fibonacci(uint32_t n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void check_calls(const uint32_t *out)
{
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t first = t & 1 ? 2 * t : t + 1;
        uint32_t second = t >> 1 & 1 ? t + 1 : 2 * t;
        float sum = 1.0f * t + 1 + 1 + 2 + 1 + 3 + t * 0.5f;
        int tag = 9 - 2 * (int)(t & 3);
        ck_assert_uint_eq(out[8 * t], fibonacci(t % 11));
        ck_assert_uint_eq(out[8 * t + 1], t & 1 ? 1 : 2);
        ck_assert_uint_eq(out[8 * t + 2], first + second);
        ck_assert_int_eq((int)out[8 * t + 3], (int)(4 * sum) + tag);
    }
}

static void run_corpus(const char *file)
{
    static char text[1 << 20];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("PTX_CORPUS"), file);
    FILE *in = fopen(path, "r");
    ck_assert_msg(in != NULL, "cannot open %s", path);
    text[fread(text, 1, sizeof text - 1, in)] = 0;
    fclose(in);
    struct sc_module *module = device_load(text);
    check_calls(launch(module, "calls", THREADS, SC_EXEC_OK));
    uint32_t *out = launch(module, "objects", THREADS, SC_EXEC_OK);
    for (uint32_t t = 0; t < THREADS; t++)
        ck_assert_uint_eq(out[8 * t], t & 1 ? t * t * 3 : t + 3);
    out = launch(module, "sorts", THREADS, SC_EXEC_OK);
    for (uint32_t i = 0; i < THREADS * 8; i++)
        ck_assert_uint_eq(out[i], 8 + i % 8);
    sc_module_unload(module);
    ck_assert_uint_eq(device_held(), 0);
}

START_TEST(optimised_nvcc_calls_compute_what_the_source_says)
{
    run_corpus("calls_nvcc_sm75.ptx");
}
END_TEST

START_TEST(debug_nvcc_calls_compute_what_the_source_says)
{
    run_corpus("calls_debug_nvcc_sm75.ptx");
}
END_TEST

/* ---- by hand ---- */

#define OUT                                                                    \
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"                        \
    "mad.wide.u32 %rd1, %r1, 32, %rd1;\n"
#define KERNEL(functions, body)                                                \
    PTX_HEAD functions ".visible .entry k(.param .u64 out)\n{\n"               \
                       ".reg .pred %p<4>;\n.reg .b16 %h<8>;\n"                 \
                       ".reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"                \
                       ".reg .f32 %f<4>;\n" OUT body "ret;\n}\n"

static uint32_t *run(const char *ptx, uint32_t threads)
{
    struct sc_module *module = device_load(ptx);
    uint32_t *out = launch(module, "k", threads, SC_EXEC_OK);
    sc_module_unload(module);
    return out;
}

START_TEST(register_parameters_and_numbers_are_passed)
{
    uint32_t *out = run(
        KERNEL(".func (.reg .b32 %res) f(.reg .b32 %a, .param .b32 b)\n{\n"
               ".reg .b32 %t;\nld.param.b32 %t, [b];\n"
               "mad.lo.u32 %res, %a, 10, %t;\nret;\n}\n"
               ".func (.param .b32 res) g(.param .b32 a)\n{\n.reg .b32 %t;\n"
               "ld.param.b32 %t, [a];\nadd.u32 %t, %t, 1;\n"
               "st.param.b32 [res], %t;\nret;\n}\n",
               "call (%r2), f, (%r1, 7);\ncall.uni (%r3), g, (%r2);\n"
               "call (_), g, (5);\nst.global.u32 [%rd1], %r3;\n"),
        40);
    for (uint32_t t = 0; t < 40; t++)
        ck_assert_uint_eq(out[8 * t], t * 10 + 8);
}
END_TEST

START_TEST(bytes_halves_and_vectors_of_parameters_keep_sign_and_place)
{
    uint32_t *out = run(
        KERNEL(
            ".func (.param .align 8 .b8 res[16]) f(.param .align 4 .b8 s[12], "
            ".param .b64 w)\n{\n.reg .b16 %h<4>;\n.reg .b32 %r<8>;\n"
            ".reg .b64 %rd<2>;\n"
            "ld.param.s8 %r1, [s];\nld.param.u8 %r2, [s+1];\n"
            "ld.param.s16 %r3, [s+2];\nld.param.v2.b32 {%r4, %r5}, [s+4];\n"
            "ld.param.b64 %rd1, [w];\n"
            "add.u32 %r1, %r1, %r2;\n"
            "st.param.v2.b32 [res], {%r1, %r3};\nsub.u32 %r4, %r4, %r5;\n"
            "st.param.b32 [res+8], %r4;\ncvt.u32.u64 %r6, %rd1;\n"
            "st.param.b32 [res+12], %r6;\nret;\n}\n",
            "{ .param .align 4 .b8 a[12];\n.param .b64 w;\n"
            ".param .align 8 .b8 r[16];\n"
            "mov.u32 %r2, -3;\nmov.b16 %h1, 0xfffe;\n"
            "st.param.b8 [a], %r2;\nst.param.u8 [a+1], %h1;\n"
            "st.param.b16 [a+2], %h1;\nst.param.v2.b32 [a+4], {%r1, 9};\n"
            "st.param.b64 [w], 77;\ncall (r), f, (a, w);\n"
            "ld.param.v4.b32 {%r3, %r4, %r5, %r6}, [r]; }\n"
            "st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %r6};\n"),
        33);
    for (uint32_t t = 0; t < 33; t++) {
        ck_assert_int_eq((int)out[8 * t], -3 + 0xfe);
        ck_assert_int_eq((int)out[8 * t + 1], -2);
        ck_assert_uint_eq(out[8 * t + 2], t - 9);
        ck_assert_uint_eq(out[8 * t + 3], 77);
    }
}
END_TEST

START_TEST(parameters_whose_address_is_taken_lie_in_memory)
{
    uint32_t *out = run(
        KERNEL(".func (.param .b32 res) pick(.param .align 4 .b8 s[16], "
               ".param .b32 i)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
               "ld.param.b32 %r1, [i];\nmov.u64 %rd1, s;\n"
               "mad.wide.u32 %rd2, %r1, 4, %rd1;\n"
               "ld.param.b32 %r2, [%rd2];\ncvta.local.u64 %rd3, %rd1;\n"
               "ld.u32 %r3, [%rd3+4];\nadd.u32 %r2, %r2, %r3;\n"
               "st.param.b32 [res], %r2;\nret;\n}\n",
               "{ .param .align 4 .b8 a[16];\n.param .b32 i;\n.param .b32 r;\n"
               "st.param.v2.b32 [a], {100, %r1};\nst.param.b32 [a+8], 300;\n"
               "st.param.b32 [a+12], 400;\nand.b32 %r2, %r1, 3;\n"
               "st.param.b32 [i], %r2;\ncall (r), pick, (a, i);\n"
               "ld.param.b32 %r3, [r]; }\nst.global.u32 [%rd1], %r3;\n"),
        32);
    for (uint32_t t = 0; t < 32; t++) {
        uint32_t s[4] = {100, t, 300, 400};
        ck_assert_uint_eq(out[8 * t], s[t & 3] + t);
    }
}
END_TEST

START_TEST(guarded_calls_and_returns_touch_their_lanes_only)
{
    uint32_t *out = run(
        KERNEL(".func (.param .b32 res) f(.param .b32 x)\n{\n.reg .pred %p;\n"
               ".reg .b32 %r<3>;\nld.param.b32 %r1, [x];\n"
               "setp.gt.u32 %p, %r1, 20;\nst.param.b32 [res], 1000;\n"
               "@%p ret;\nadd.u32 %r2, %r1, 5;\nst.param.b32 [res], %r2;\n"
               "ret;\n}\n",
               "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n"
               "mov.u32 %r3, 1;\n@%p1 call (%r3), f, (%r1);\n"
               "@!%p1 call (%r3), f, (%r3);\nactivemask.b32 %r4;\n"
               "st.global.v2.u32 [%rd1], {%r3, %r4};\n"),
        32);
    for (uint32_t t = 0; t < 32; t++) {
        ck_assert_uint_eq(out[8 * t], t & 1 ? 6 : t > 20 ? 1000 : t + 5);
        ck_assert_uint_eq(out[8 * t + 1], ~0u);
    }
}
END_TEST

#define FUNCTIONS                                                              \
    ".func (.param .b32 r) a(.param .b32 x)\n{\n.reg .b32 %r<2>;\n"            \
    "ld.param.b32 %r1, [x];\nadd.u32 %r1, %r1, 100;\n"                         \
    "st.param.b32 [r], %r1;\nret;\n}\n"                                        \
    ".func (.param .b32 r) b(.param .b32 x)\n{\n.reg .b32 %r<2>;\n"            \
    "ld.param.b32 %r1, [x];\nmul.lo.u32 %r1, %r1, 3;\n"                        \
    "st.param.b32 [r], %r1;\nret;\n}\n"                                        \
    ".global .u64 table[3] = {a, b, generic(a)};\n"

START_TEST(calls_by_address_part_lanes_and_join_them)
{
    uint32_t *out = run(
        KERNEL(FUNCTIONS,
               "and.b32 %r2, %r1, 1;\nmov.u64 %rd2, table;\n"
               "mad.wide.u32 %rd2, %r2, 8, %rd2;\nld.global.u64 %rd3, [%rd2];\n"
               "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
               "T: .calltargets a, b;\n"
               "call (%r3), %rd3, (%r1), P;\nactivemask.b32 %r5;\n"
               "mov.u64 %rd4, b;\ncall (%r4), %rd4, (%r3), T;\n"
               "st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %r5};\n"),
        64);
    for (uint32_t t = 0; t < 64; t++) {
        uint32_t first = t & 1 ? t * 3 : t + 100;
        ck_assert_uint_eq(out[8 * t], first);
        ck_assert_uint_eq(out[8 * t + 1], first * 3);
        ck_assert_uint_eq(out[8 * t + 2], ~0u);
    }
}
END_TEST

START_TEST(aliases_mean_another_function)
{
    uint32_t *out = run(
        KERNEL(".visible .func (.param .b32 r) c(.param .b32 x);\n" FUNCTIONS
               ".alias c, b;\n",
               "call (%r2), c, (%r1);\nst.global.u32 [%rd1], %r2;\n"),
        32);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(out[8 * t], t * 3);
}
END_TEST

static enum sc_exec_status run_bad(const char *ptx)
{
    struct sc_module *module = device_load(ptx);
    uint32_t *out = device_alloc(32 * 64);
    enum sc_exec_status status =
        device_launch(module, 1, 64, &out, sizeof out, NULL);
    sc_module_unload(module);
    return status;
}

#define CALL_OF(value)                                                         \
    KERNEL(FUNCTIONS, "mov.u64 %rd2, " value                                   \
                      ";\nP: .callprototype (.param .b32 _) _ (.param .b32 "   \
                      "_);\ncall (%r3), %rd2, (%r1), P;\n")

START_TEST(calls_of_no_function_are_illegal)
{
    static const char *const texts[] = {CALL_OF("0"), CALL_OF("65537"),
                                        CALL_OF("65536000"), CALL_OF("-16"),
                                        CALL_OF("table")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_int_eq(run_bad(texts[i]), SC_EXEC_ILLEGAL_INSTRUCTION);
}
END_TEST

START_TEST(recursion_without_end_overflows_the_stack)
{
    ck_assert_int_eq(
        run_bad(KERNEL(".func f(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
                       ".param .b32 a;\n"
                       "ld.param.b32 %r1, [x];\nadd.u32 %r2, %r1, 1;\n"
                       "st.param.b32 [a], %r2;\ncall f, (a);\nret;\n}\n",
                       "call f, (%r1);\n")),
        SC_EXEC_STACK_OVERFLOW);
}
END_TEST

START_TEST(deeper_stacks_take_deeper_calls)
{
    const char *ptx =
        KERNEL(".func (.param .b32 r) sum(.param .b32 x)\n{\n"
               ".reg .b32 %r<4>;\n.reg .pred %p;\n.param .b32 a;\n"
               ".param .b32 b;\nld.param.b32 %r1, [x];\n"
               "st.param.b32 [r], 0;\nsetp.eq.u32 %p, %r1, 0;\n@%p ret;\n"
               "sub.u32 %r2, %r1, 1;\nst.param.b32 [a], %r2;\n"
               "call (b), sum, (a);\nld.param.b32 %r3, [b];\n"
               "add.u32 %r3, %r3, %r1;\nst.param.b32 [r], %r3;\nret;\n}\n",
               "add.u32 %r2, %r1, 3000;\ncall (%r3), sum, (%r2);\n"
               "st.global.u32 [%rd1], %r3;\n");
    ck_assert_int_eq(run_bad(ptx), SC_EXEC_STACK_OVERFLOW);
    ck_assert(!sc_exec_set_limit(SC_LIMIT_STACK, 1));
    ck_assert(sc_exec_set_limit(SC_LIMIT_STACK, 256u << 10));
    uint32_t *out = run(ptx, 35);
    for (uint32_t t = 0; t < 35; t++)
        ck_assert_uint_eq(out[8 * t], (t + 3000) * (t + 3001) / 2);
    ck_assert(sc_exec_set_limit(SC_LIMIT_STACK, 32u << 10));
}
END_TEST

START_TEST(barriers_and_exits_within_functions_work)
{
    uint32_t *out = run(
        KERNEL(".shared .u32 sum;\n"
               ".func (.param .b32 r) all(.param .b32 n)\n{\n"
               ".reg .b32 %r<6>;\n.reg .pred %p;\n.param .b32 a;\n"
               "mov.u32 %r4, %tid.x;\nsetp.ge.u32 %p, %r4, 60;\n@%p exit;\n"
               "ld.param.b32 %r1, [n];\nsetp.eq.u32 %p, %r1, 0;\n"
               "mov.u32 %r2, sum;\n@%p bra LAST;\n"
               "sub.u32 %r1, %r1, 1;\nst.param.b32 [a], %r1;\n"
               "call (r), all, (a);\nret;\nLAST:\n"
               "red.shared.add.u32 [%r2], 1;\nbar.sync 0;\n"
               "ld.shared.u32 %r3, [%r2];\nst.param.b32 [r], %r3;\nret;\n}\n",
               "mov.u32 %r2, sum;\nst.shared.u32 [%r2], 0;\nbar.sync 0;\n"
               "and.b32 %r3, %r1, 3;\ncall (%r4), all, (%r3);\n"
               "st.global.u32 [%rd1], %r4;\n"),
        64);
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(out[8 * t], t < 60 ? 60 : 0);
}
END_TEST

DEVICE_MAIN("calls", 30, optimised_nvcc_calls_compute_what_the_source_says,
            debug_nvcc_calls_compute_what_the_source_says,
            register_parameters_and_numbers_are_passed,
            bytes_halves_and_vectors_of_parameters_keep_sign_and_place,
            parameters_whose_address_is_taken_lie_in_memory,
            guarded_calls_and_returns_touch_their_lanes_only,
            calls_by_address_part_lanes_and_join_them,
            aliases_mean_another_function, calls_of_no_function_are_illegal,
            recursion_without_end_overflows_the_stack,
            deeper_stacks_take_deeper_calls,
            barriers_and_exits_within_functions_work)
