/*
 * What device code asks of the system: printf, assert, malloc, traps, and
 * grids that synchronise.
 */
#include "common/suite.h"
#include "device.h"

#include <string.h>

static char printed[1 << 16];
static size_t printed_bytes;

static void collect(void *ctx, const char *text, size_t bytes)
{
    ck_assert_ptr_eq(ctx, printed);
    ck_assert_uint_lt(printed_bytes + bytes, sizeof printed);
    memcpy(printed + printed_bytes, text, bytes);
    printed_bytes += bytes;
    printed[printed_bytes] = 0;
}

static enum sc_exec_status launch(const struct sc_module *module,
                                  uint32_t blocks, uint32_t threads,
                                  const void *params, size_t bytes,
                                  struct sc_exec_fault *fault)
{
    struct sc_launch launch = {.grid = {blocks, 1, 1},
                               .block = {threads, 1, 1},
                               .params = params,
                               .param_bytes = bytes,
                               .print = collect,
                               .print_ctx = printed,
                               .cooperative = true};
    printed_bytes = 0;
    printed[0] = 0;
    return sc_kernel_launch(module, 0, &launch, fault);
}

/* ---- printf ---- */

#define PRINTF                                                                 \
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
#define KERNEL(before, body)                                                   \
    PTX_HEAD PRINTF before                                                     \
        ".visible .entry k(.param .u64 p, .param .u64 out)\n{\n"               \
        ".local .align 8 .b8 buffer[512];\n.reg .b32 %r<16>;\n"                \
        ".reg .b64 %rd<16>;\n.reg .pred %p<4>;\n.param .b64 f;\n"              \
        ".param .b64 a;\n.param .b32 res;\n"                                   \
        "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [out];\n"                 \
        "mov.u32 %r1, %tid.x;\nmov.u64 %rd3, buffer;\n"                        \
        "cvta.local.u64 %rd4, %rd3;\n" body "ret;\n}\n"
#define CALL                                                                   \
    "st.param.b64 [f], %rd1;\nst.param.b64 [a], %rd4;\n"                       \
    "call.uni (res), vprintf, (f, a);\nld.param.b32 %r2, [res];\n"             \
    "mad.wide.u32 %rd5, %r1, 4, %rd2;\nst.global.u32 [%rd5], %r2;\n"

struct line {
    const char *format;
    const char *printed;
    int count;
};

/* Arguments: the 32-bit lane, -5, the double 2.5, a string, 2^40 + 1. */
static const struct line lines[] = {
    {"plain\n", "plain\n", 0},
    {"", "", 0},
    {"%d %i|%6.2f|%s|%lld\n", "3 -5|  2.50|text|1099511627777\n", 5},
    {"%u %x %e %10s %llx", "3 fffffffb 2.500000e+00       text 10000000001", 5},
    {"%o %X %g %-10s| %lu", "3 FFFFFFFB 2.5 text      | 1099511627777", 5},
    {"%03d %+d %a %.2s %#llo", "003 -5 0x1.4p+1 te 020000000000001", 5},
    {"%c%d %G %5.1s| %p", "\3-5 2.5     t| 0x10000000001", 5},
    {"%*d %f %s", " -5 2.500000 text", 4},
    {"%% %d %%%d", "% 3 %-5", 2},
    {"%hd %hhu %E", "3 251 2.500000E+00", 3},
    {"%y %d", "%y 3", 1},
    {"ends in %", "ends in %", 0},
    {"%.*d", "-005", 2},
};

START_TEST(every_conversion_prints_as_the_host_does)
{
    /* the lane is 3 in the third thread only, which alone prints */
    struct sc_module *module = device_load(
        KERNEL("", "setp.ne.u32 %p1, %r1, 3;\n@%p1 bra END;\n"
                   "add.u64 %rd6, %rd1, 256;\n"
                   "st.local.u32 [%rd3], %r1;\nst.local.u32 [%rd3+4], -5;\n"
                   "st.local.f64 [%rd3+8], 0d4004000000000000;\n"
                   "st.local.u64 [%rd3+16], %rd6;\n"
                   "st.local.u64 [%rd3+24], 1099511627777;\n" CALL "END:\n"));
    char *text = device_alloc(512);
    int32_t *out = device_alloc(64);
    uint64_t params[2] = {(uint64_t)(uintptr_t)text, (uint64_t)(uintptr_t)out};
    strcpy(text + 256, "text");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        strcpy(text, lines[i].format);
        ck_assert_int_eq(launch(module, 1, 8, params, 16, NULL), SC_EXEC_OK);
        ck_assert_str_eq(printed, lines[i].printed);
        ck_assert_int_eq(out[3], lines[i].count);
    }
    sc_module_unload(module);
}
END_TEST

START_TEST(no_format_gives_minus_one_and_lanes_print_in_order)
{
    struct sc_module *module = device_load(
        KERNEL(".global .align 1 .b8 text[4] = {37, 117, 32, 0};\n",
               "st.local.u32 [%rd3], %r1;\nsetp.ge.u32 %p1, %r1, 40;\n"
               "@%p1 mov.u64 %rd1, 0;\nmov.u64 %rd7, text;\n"
               "@!%p1 mov.u64 %rd1, %rd7;\n" CALL));
    int32_t *out = device_alloc(512);
    uint64_t params[2] = {0, (uint64_t)(uintptr_t)out};
    ck_assert_int_eq(launch(module, 1, 64, params, 16, NULL), SC_EXEC_OK);
    char want[512] = "";
    for (int i = 0; i < 40; i++)
        sprintf(want + strlen(want), "%d ", i);
    ck_assert_str_eq(printed, want);
    for (int i = 0; i < 64; i++)
        ck_assert_int_eq(out[i], i < 40 ? 1 : -1);
    sc_module_unload(module);
}
END_TEST

START_TEST(more_than_32_arguments_print_their_format)
{
    struct sc_module *module = device_load(KERNEL("", CALL));
    char *text = device_alloc(512), want[512] = "";
    int32_t *out = device_alloc(64);
    uint64_t params[2] = {(uint64_t)(uintptr_t)text, (uint64_t)(uintptr_t)out};
    for (int i = 0; i < 34; i++) {
        strcat(text, "%d");
        strcat(want, i < 32 ? "0" : "%d");
    }
    ck_assert_int_eq(launch(module, 1, 1, params, 16, NULL), SC_EXEC_OK);
    ck_assert_str_eq(printed, want);
    ck_assert_int_eq(out[0], 32);
    sc_module_unload(module);
}
END_TEST

START_TEST(unreadable_strings_are_illegal_addresses)
{
    struct sc_module *module =
        device_load(KERNEL("", "ld.global.u64 %rd8, [%rd2];\n"
                               "st.local.u64 [%rd3], %rd8;\n" CALL));
    char *text = device_alloc(16);
    uint64_t *out = device_alloc(64);
    const uint64_t bad[] = {1, device_hole() + 4, UINT64_MAX, 65536};
    struct sc_exec_fault fault;
    strcpy(text, "%s");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t params[2] = {(uint64_t)(uintptr_t)text,
                              (uint64_t)(uintptr_t)out};
        out[0] = bad[i];
        ck_assert_int_eq(launch(module, 1, 1, params, 16, &fault),
                         SC_EXEC_ILLEGAL_ADDRESS);
        params[0] = bad[i];
        ck_assert_int_eq(launch(module, 1, 1, params, 16, &fault),
                         SC_EXEC_ILLEGAL_ADDRESS);
        ck_assert_uint_eq(fault.address, bad[i]);
    }
    sc_module_unload(module);
}
END_TEST

/* ---- assert, trap, brkpt ---- */

START_TEST(failed_assertions_say_where_and_end_the_launch)
{
    struct sc_module *module = device_load(
        PTX_HEAD
        ".extern .func __assertfail(.param .b64 a, .param .b64 b, "
        ".param .b32 c, .param .b64 d, .param .b64 e);\n"
        ".global .align 1 .b8 e[4] = {120, 60, 51, 0};\n"
        ".global .align 1 .b8 f[4] = {97, 46, 99, 0};\n"
        ".global .align 1 .b8 g[3] = {107, 40, 41};\n"
        ".visible .entry k()\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n"
        ".reg .pred %p;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
        "add.u32 %r1, %r1, %r2;\nsetp.lt.u32 %p, %r1, 3;\n@%p ret;\n"
        "mov.u64 %rd1, e;\nmov.u64 %rd2, f;\nmov.u64 %rd3, g;\n"
        "call.uni __assertfail, (%rd1, %rd2, 42, %rd3, 1);\nret;\n}\n");
    struct sc_exec_fault fault;
    ck_assert_int_eq(launch(module, 1, 5, NULL, 0, &fault), SC_EXEC_ASSERT);
    ck_assert_str_eq(printed,
                     "a.c:42: k(): block: [0,0,0], thread: [3,0,0] Assertion "
                     "`x<3` failed.\n"
                     "a.c:42: k(): block: [0,0,0], thread: [4,0,0] Assertion "
                     "`x<3` failed.\n");
    ck_assert_ptr_nonnull(strstr(fault.text, "assert"));
    ck_assert_int_eq(launch(module, 1, 3, NULL, 0, &fault), SC_EXEC_OK);
    ck_assert_uint_eq(printed_bytes, 0);
    sc_module_unload(module);
}
END_TEST

START_TEST(breakpoints_end_the_launch_like_traps)
{
    struct sc_module *module =
        device_load(PTX_HEAD ".visible .entry k()\n{\nbrkpt;\nret;\n}\n");
    ck_assert_int_eq(launch(module, 1, 5, NULL, 0, NULL), SC_EXEC_TRAP);
    sc_module_unload(module);
}
END_TEST

/* ---- malloc, free ---- */

#define HEAP                                                                   \
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"                   \
    ".extern .func free(.param .b64 p);\n"

START_TEST(device_memory_is_allocated_and_given_back)
{
    struct sc_module *module = device_load(KERNEL(
        HEAP, "mad.lo.u32 %r3, %r1, 40, 8;\ncvt.u64.u32 %rd6, %r3;\n"
              "call (%rd7), malloc, (%rd6);\nst.u32 [%rd7], %r1;\n"
              "bar.sync 0;\nld.u32 %r4, [%rd7];\nand.b32 %r5, %r1, 1;\n"
              "setp.eq.u32 %p1, %r5, 0;\n@%p1 call free, (%rd7);\n"
              "mad.wide.u32 %rd8, %r1, 8, %rd2;\n@%p1 mov.u64 %rd7, 0;\n"
              "st.global.u64 [%rd8], %rd7;\nsetp.ne.u32 %p2, %r4, %r1;\n"
              "@%p2 trap;\n@!%p1 call free, (%rd7);\ncall free, (0);\n"));
    uint64_t *out = device_alloc(300 * 8);
    uint64_t params[2] = {0, (uint64_t)(uintptr_t)out};
    for (int round = 0; round < 20; round++)
        ck_assert_int_eq(launch(module, 3, 300, params, 16, NULL), SC_EXEC_OK);
    ck_assert(!sc_exec_set_limit(SC_LIMIT_HEAP, 1 << 20));
    sc_module_unload(module);
    ck_assert_uint_eq(device_held(), 0);
    ck_assert(sc_exec_set_limit(SC_LIMIT_HEAP, 8 << 20));
}
END_TEST

START_TEST(full_heaps_give_null_and_wild_frees_are_faults)
{
    ck_assert(sc_exec_set_limit(SC_LIMIT_HEAP, 1 << 20));
    struct sc_module *module = device_load(
        KERNEL(HEAP, "call (%rd7), malloc, (100000);\n"
                     "mad.wide.u32 %rd8, %r1, 8, %rd2;\n"
                     "st.global.u64 [%rd8], %rd7;\n"
                     "setp.eq.u64 %p1, %rd1, 0;\n@%p1 ret;\n"
                     "add.u64 %rd7, %rd7, 8;\ncall free, (%rd7);\n"));
    uint64_t *out = device_alloc(32 * 8);
    uint64_t params[2] = {0, (uint64_t)(uintptr_t)out};
    ck_assert_int_eq(launch(module, 1, 32, params, 16, NULL), SC_EXEC_OK);
    for (int i = 0; i < 32; i++)
        ck_assert_int_eq(out[i] != 0, i < 10);
    params[0] = 1;
    ck_assert_int_eq(launch(module, 1, 1, params, 16, NULL),
                     SC_EXEC_ILLEGAL_ADDRESS);
    sc_module_unload(module);
    ck_assert(sc_exec_set_limit(SC_LIMIT_HEAP, 8 << 20));
}
END_TEST

/* ---- grids that synchronise ---- */

/* As nvcc writes cooperative_groups' grid.sync(). */
START_TEST(blocks_of_a_grid_wait_for_each_other)
{
    struct sc_module *module = device_load(
        KERNEL("", "mov.u32 %r3, %envreg2;\ncvt.u64.u32 %rd6, %r3;\n"
                   "mov.u32 %r4, %envreg1;\ncvt.u64.u32 %rd7, %r4;\n"
                   "bfi.b64 %rd8, %rd7, %rd6, 32, 32;\n"
                   "setp.eq.u64 %p1, %rd8, 0;\n@%p1 trap;\n"
                   "atom.global.add.u32 %r5, [%rd1], 1;\nbar.sync 0;\n"
                   "setp.ne.u32 %p2, %r1, 0;\n@%p2 bra WAITED;\n"
                   "mov.u32 %r6, %nctaid.x;\nmov.u32 %r7, %ctaid.x;\n"
                   "setp.eq.u32 %p3, %r7, 0;\nmov.u32 %r8, -2147483647;\n"
                   "sub.u32 %r8, %r8, %r6;\nselp.b32 %r9, %r8, 1, %p3;\n"
                   "atom.add.release.gpu.u32 %r10, [%rd8+4], %r9;\n"
                   "SPIN: ld.acquire.gpu.u32 %r11, [%rd8+4];\n"
                   "xor.b32 %r12, %r11, %r10;\nsetp.gt.s32 %p1, %r12, -1;\n"
                   "@%p1 bra SPIN;\n"
                   "WAITED: bar.sync 0;\nld.volatile.global.u32 %r2, [%rd1];\n"
                   "mov.u32 %r7, %ctaid.x;\nmov.u32 %r8, %ntid.x;\n"
                   "mad.lo.u32 %r7, %r7, %r8, %r1;\n"
                   "mad.wide.u32 %rd5, %r7, 4, %rd2;\n"
                   "st.global.u32 [%rd5], %r2;\n"));
    uint32_t *count = device_alloc(4), *out = device_alloc(40 * 100 * 4);
    uint64_t params[2] = {(uint64_t)(uintptr_t)count, (uint64_t)(uintptr_t)out};
    for (uint32_t round = 1; round <= 3; round++) {
        ck_assert_int_eq(launch(module, 40, 100, params, 16, NULL), SC_EXEC_OK);
        for (int i = 0; i < 4000; i++)
            ck_assert_uint_eq(out[i], 4000 * round);
    }
    /* a launch that is none gets no workspace */
    ck_assert_int_eq(device_launch(module, 2, 32, params, 16, NULL),
                     SC_EXEC_TRAP);
    sc_module_unload(module);
    ck_assert_uint_eq(device_held(), 0);
}
END_TEST

DEVICE_MAIN("system", 30, every_conversion_prints_as_the_host_does,
            no_format_gives_minus_one_and_lanes_print_in_order,
            more_than_32_arguments_print_their_format,
            unreadable_strings_are_illegal_addresses,
            failed_assertions_say_where_and_end_the_launch,
            breakpoints_end_the_launch_like_traps,
            device_memory_is_allocated_and_given_back,
            full_heaps_give_null_and_wild_frees_are_faults,
            blocks_of_a_grid_wait_for_each_other)
