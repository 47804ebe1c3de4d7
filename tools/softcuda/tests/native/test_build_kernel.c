/*
 * Native code taking over from the interpreter: when it is built, what a
 * launch does meanwhile, and how it ends when the kernel goes.
 *
 * The generator here is a stand-in with code whose results differ from the
 * kernel's, so that a test sees who ran.
 */
#include "build_test.h"

#include "../ptx/device.h"
#include "native/native.h"

#include <pthread.h>
#include <stdatomic.h>

#define INTERPRETED 7
#define NATIVE      1000

static _Atomic int generated;
static atomic_bool generating;
static int generate_ms;
/* While set, the generator does not get beyond its start. */
static atomic_bool held;
static const char *body; /* of the loop over CTAs */
static bool refuse;

static const char usual[] =
    "((volatile int *)*(int **)(uintptr_t)c->params)[i] = 1000;";

bool sc_native_generate(const struct sc_ir *ir, const struct sc_func *kernel,
                        const uint32_t block[3], enum sc_native_isa isa,
                        struct sc_native_code *code)
{
    (void)ir, (void)isa;
    atomic_fetch_add(&generated, 1);
    atomic_store(&generating, true);
    while (atomic_load(&held))
        usleep(1000);
    usleep((useconds_t)generate_ms * 1000);
    if (refuse) {
        snprintf(code->why, sizeof code->why, "it has odd corners");
    } else if (asprintf(&code->text,
                        "#include <stdint.h>\n"
                        "/* %s %u */\n"
                        "struct services { void (*fail)(void *, uint32_t,\n"
                        "    uint32_t, uint64_t); };\n"
                        "struct cta { const unsigned char *params, *shared,\n"
                        "  *local, *save; uint32_t u[12]; uint64_t v[4];\n"
                        "  const volatile int *cancel;\n"
                        "  const struct services *services; };\n"
                        "void sc_native_run(struct cta *c, uint64_t first,\n"
                        "                   uint64_t count) {\n"
                        "  for (uint64_t i = first; i < first + count; i++) {\n"
                        "    %s } }\n",
                        kernel->name, block[0], body) < 0) {
        code->text = NULL;
    }
    atomic_store(&generating, false);
    return code->text != NULL;
}

static const char text[] =
    PTX_HEAD ".visible .entry mark(.param .u64 p, .param .u32 turns)\n"
             "{\n"
             "  .reg .b64 %d<4>; .reg .b32 %r<5>; .reg .pred %q;\n"
             "  ld.param.u64 %d1, [p];\n"
             "  ld.param.u32 %r1, [turns];\n"
             "again:\n"
             "  sub.u32 %r1, %r1, 1;\n"
             "  setp.ne.u32 %q, %r1, 0;\n"
             "  @%q bra again;\n"
             "  mov.u32 %r2, %ctaid.x;\n"
             "  mul.wide.u32 %d2, %r2, 4;\n"
             "  add.u64 %d1, %d1, %d2;\n"
             "  mov.u32 %r3, 7;\n"
             "  st.global.u32 [%d1], %r3;\n"
             "  ret;\n"
             "}\n";

struct params {
    int *out;
    uint32_t turns;
};

static int *out;
static struct sc_launch_report report;
static struct sc_exec_fault fault;

static void start(const char *mode)
{
    if (!room[0])
        enter_room();
    setenv("SOFTCUDA_NATIVE", mode, 1);
    body = usual;
    device_open();
    out = device_alloc(1 << 20);
}

static enum sc_exec_status launch(const struct sc_module *module,
                                  uint32_t blocks, uint32_t threads,
                                  uint32_t turns)
{
    struct params params = {out, turns};
    struct sc_launch launch = {.grid = {blocks, 1, 1},
                               .block = {threads, 1, 1},
                               .params = &params,
                               .param_bytes = sizeof params,
                               .report = &report};
    memset(out, 0, blocks * sizeof *out);
    return sc_kernel_launch(module, 0, &launch, &fault);
}

static void expect(uint32_t blocks, int value)
{
    for (uint32_t i = 0; i < blocks; i++)
        ck_assert_int_eq(out[i], value);
    ck_assert_uint_eq(report.native, value == NATIVE ? blocks : 0);
    ck_assert_uint_eq(report.interpreted, value == NATIVE ? 0 : blocks);
}

/* Launch until native code runs. Return: milliseconds. */
static double launch_until_native(const struct sc_module *module)
{
    double begin = now_ms();
    do {
        ck_assert_int_eq(launch(module, 64, 32, 2000), SC_EXEC_OK);
        ck_assert_double_lt(now_ms() - begin, 10000);
    } while (report.native != 64);
    return now_ms() - begin;
}

START_TEST(waiting_launch_is_native)
{
    start("wait");
    struct sc_module *module = device_load(text);
    for (uint32_t threads = 1; threads < 4; threads++) {
        ck_assert_int_eq(launch(module, 100, threads, 1), SC_EXEC_OK);
        expect(100, NATIVE);
        ck_assert_ptr_null(report.why);
    }
    ck_assert_int_eq(atomic_load(&generated), 3);
    ck_assert_int_eq(launch(module, 100, 1, 1), SC_EXEC_OK);
    ck_assert_int_eq(atomic_load(&generated), 3);
    sc_module_unload(module);
    device_close();
}
END_TEST

START_TEST(off_is_off)
{
    start("off");
    struct sc_module *module = device_load(text);
    ck_assert_int_eq(launch(module, 100, 32, 20000), SC_EXEC_OK);
    expect(100, INTERPRETED);
    ck_assert_str_eq(report.why, "native code is off");
    ck_assert_int_eq(atomic_load(&generated), 0);
    sc_module_unload(module);
    device_close();
}
END_TEST

START_TEST(small_kernels_start_no_compiler)
{
    start("on");
    struct sc_module *module = device_load(text);
    for (uint32_t i = 0; i < 20; i++) {
        ck_assert_int_eq(launch(module, 4, 1 + i % 4, 1), SC_EXEC_OK);
        expect(4, INTERPRETED);
        ck_assert_ptr_null(report.why);
    }
    usleep(20000);
    ck_assert_int_eq(atomic_load(&generated), 0);
    sc_module_unload(module);
    device_close();
}
END_TEST

START_TEST(hot_kernel_becomes_native)
{
    start("on");
    struct sc_module *module = device_load(text);
    double ms = launch_until_native(module);
    printf("native after %.0f ms\n", ms);
    ck_assert_int_eq(atomic_load(&generated), 1);
    sc_module_unload(module);
    device_close();
}
END_TEST

START_TEST(native_code_takes_over_a_running_launch)
{
    enum { BLOCKS = 100000 };
    start("on");
    struct sc_module *module = device_load(text);
    ck_assert_int_eq(launch(module, BLOCKS, 256, 300), SC_EXEC_OK);
    ck_assert_uint_gt(report.interpreted, 0);
    ck_assert_uint_gt(report.native, 0);
    ck_assert_uint_eq(report.interpreted + report.native, BLOCKS);
    uint64_t native = 0;
    for (int i = 0; i < BLOCKS; i++) {
        ck_assert(out[i] == NATIVE || out[i] == INTERPRETED);
        native += out[i] == NATIVE;
    }
    ck_assert_uint_eq(native, report.native);
    sc_module_unload(module);
    device_close();
}
END_TEST

START_TEST(ninth_block_size_is_interpreted)
{
    start("wait");
    struct sc_module *module = device_load(text);
    for (uint32_t threads = 1; threads <= 8; threads++) {
        ck_assert_int_eq(launch(module, 10, threads, 1), SC_EXEC_OK);
        expect(10, NATIVE);
    }
    ck_assert_int_eq(launch(module, 10, 9, 1), SC_EXEC_OK);
    expect(10, INTERPRETED);
    ck_assert_str_eq(report.why, "launched with too many block sizes");
    ck_assert_int_eq(launch(module, 10, 8, 1), SC_EXEC_OK);
    expect(10, NATIVE);
    sc_module_unload(module);
    device_close();
}
END_TEST

START_TEST(refused_kernel_is_interpreted_and_says_why)
{
    char why[64] = "";
    enter_room();
    setenv("SOFTCUDA_KEEP", in_room("keep"), 1);
    start("wait");
    refuse = true;
    struct sc_module *module = device_load(text);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(launch(module, 10, 32, 1), SC_EXEC_OK);
        expect(10, INTERPRETED);
        ck_assert_str_eq(report.why, "it has odd corners");
    }
    ck_assert_int_eq(atomic_load(&generated), 1);
    FILE *file = fopen(in_room("keep/mark.32x1x1.why"), "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(why, sizeof why, file));
    fclose(file);
    ck_assert_str_eq(why, "it has odd corners.\n");
    refuse = false;
    ck_assert_int_eq(launch(module, 10, 16, 1), SC_EXEC_OK);
    expect(10, NATIVE);
    ck_assert_int_eq(access(in_room("keep/mark.16x1x1.c"), R_OK), 0);
    sc_module_unload(module);
    device_close();
}
END_TEST

START_TEST(failing_compiler_leaves_the_interpreter)
{
    enter_room();
    setenv("SOFTCUDA_CC", "/bin/false", 1);
    start("wait");
    struct sc_module *module = device_load(text);
    ck_assert_int_eq(launch(module, 10, 32, 1), SC_EXEC_OK);
    expect(10, INTERPRETED);
    ck_assert_ptr_nonnull(strstr(report.why, "failed with status 1"));
    sc_module_unload(module);
    device_close();
}
END_TEST

/* Start a build in the background and return while it is under way. */
static struct sc_module *begin_build(void)
{
    struct sc_module *module = device_load(text);
    ck_assert_int_eq(launch(module, 64, 256, 20000), SC_EXEC_OK);
    for (int i = 0; i < 2000 && !atomic_load(&generated); i++)
        usleep(1000);
    ck_assert_int_gt(atomic_load(&generated), 0);
    return module;
}

START_TEST(unload_while_generating_waits)
{
    start("on");
    generate_ms = 300;
    atomic_store(&held, true);
    struct sc_module *module = begin_build();
    ck_assert(atomic_load(&generating));
    atomic_store(&held, false);
    sc_module_unload(module);
    ck_assert(!atomic_load(&generating));
    device_close();
}
END_TEST

START_TEST(unload_while_compiling_does_not_wait)
{
    enter_room();
    use_script("sleep 1; exec cc \"$@\"");
    start("on");
    struct sc_module *module = begin_build();
    usleep(100000);
    double begin = now_ms();
    sc_module_unload(module);
    ck_assert_double_lt(now_ms() - begin, 500);
    /* the next module has to wait for its turn, not for ever */
    module = device_load(text);
    launch_until_native(module);
    sc_module_unload(module);
    device_close();
}
END_TEST

START_TEST(unload_of_queued_kernels_drops_them)
{
    struct sc_module *modules[6];
    start("on");
    generate_ms = 200;
    atomic_store(&held, true);
    for (int i = 0; i < 6; i++)
        modules[i] = begin_build();
    atomic_store(&held, false);
    double begin = now_ms();
    for (int i = 5; i >= 0; i--)
        sc_module_unload(modules[i]);
    ck_assert_double_lt(now_ms() - begin, 900);
    ck_assert_int_lt(atomic_load(&generated), 6);
    device_close();
}
END_TEST

START_TEST(end_while_compiling_ends_the_compiler)
{
    enter_room();
    use_script("echo $$ >$(dirname $0)/pid; sleep 30");
    start("on");
    struct sc_module *module = begin_build();
    for (int i = 0; i < 2000 && access(in_room("pid"), F_OK) != 0; i++)
        usleep(1000);
    double begin = now_ms();
    device_close();
    ck_assert_double_lt(now_ms() - begin, 5000);
    device_open();
    sc_module_unload(module);
    device_close();
}
END_TEST

static volatile int cancelled;

static void *cancel_later(void *unused)
{
    (void)unused;
    usleep(200000);
    cancelled = 1;
    return NULL;
}

START_TEST(waiting_for_a_compiler_can_be_cancelled)
{
    pthread_t thread;
    enter_room();
    use_script("sleep 30");
    start("wait");
    struct sc_module *module = device_load(text);
    struct params params = {out, 1};
    struct sc_launch launch = {.grid = {1, 1, 1},
                               .block = {1, 1, 1},
                               .params = &params,
                               .param_bytes = sizeof params,
                               .cancel = &cancelled};
    pthread_create(&thread, NULL, cancel_later, NULL);
    double begin = now_ms();
    ck_assert_int_eq(sc_kernel_launch(module, 0, &launch, &fault),
                     SC_EXEC_TIMEOUT);
    ck_assert_double_lt(now_ms() - begin, 5000);
    pthread_join(thread, NULL);
    sc_module_unload(module);
    device_close();
}
END_TEST

START_TEST(hole_in_native_code_is_an_illegal_address)
{
    char access_hole[128];
    start("wait");
    snprintf(access_hole, sizeof access_hole,
             "if (i == 5) *(volatile int *)%lluu = 1;",
             (unsigned long long)device_hole() + 64);
    body = access_hole;
    struct sc_module *module = device_load(text);
    for (int again = 0; again < 3; again++) {
        ck_assert_int_eq(launch(module, 100, 32, 1), SC_EXEC_ILLEGAL_ADDRESS);
        ck_assert_uint_eq(fault.address, device_hole() + 64);
        ck_assert_str_eq(fault.kernel, "mark");
        ck_assert_msg(strstr(fault.text, "illegal address in kernel 'mark', "
                                         "address 0x"),
                      "%s", fault.text);
    }
    sc_module_unload(module);
    device_close();
}
END_TEST

START_TEST(native_code_reports_its_own_faults)
{
    start("wait");
    body = "if (i == 70) c->services->fail(c, 6, 12, 0x1234);";
    struct sc_module *module = device_load(text);
    for (int again = 0; again < 3; again++) {
        ck_assert_int_eq(launch(module, 100, 32, 1), SC_EXEC_MISALIGNED);
        ck_assert_uint_eq(fault.address, 0x1234);
        ck_assert_uint_eq(fault.line, 12);
        ck_assert_str_eq(fault.text, "misaligned address in kernel 'mark', "
                                     "line 12, address 0x1234");
    }
    sc_module_unload(module);
    device_close();
}
END_TEST

/* Every block adds 1, then waits until all have. */
static const char meeting[] =
    PTX_HEAD ".visible .entry meet(.param .u64 p, .param .u32 blocks)\n"
             "{\n"
             "  .reg .b64 %d<2>; .reg .b32 %r<5>; .reg .pred %q;\n"
             "  ld.param.u64 %d1, [p];\n"
             "  ld.param.u32 %r1, [blocks];\n"
             "  mov.u32 %r2, %tid.x;\n"
             "  setp.ne.u32 %q, %r2, 0;\n"
             "  @%q bra all;\n"
             "  atom.global.add.u32 %r3, [%d1], 1;\n"
             "again:\n"
             "  ld.volatile.global.u32 %r4, [%d1];\n"
             "  setp.lt.u32 %q, %r4, %r1;\n"
             "  @%q bra again;\n"
             "all:\n"
             "  bar.sync 0;\n"
             "  ret;\n"
             "}\n";

START_TEST(blocks_of_a_cooperative_launch_meet)
{
    start("wait");
    struct sc_module *module = device_load(meeting);
    for (uint32_t blocks = 2; blocks <= 128; blocks *= 4) {
        struct params params = {out, blocks};
        struct sc_launch launch = {.grid = {blocks, 1, 1},
                                   .block = {64, 1, 1},
                                   .params = &params,
                                   .param_bytes = sizeof params,
                                   .cooperative = true,
                                   .report = &report};
        out[0] = 0;
        ck_assert_int_eq(sc_kernel_launch(module, 0, &launch, &fault),
                         SC_EXEC_OK);
        ck_assert_int_eq(out[0], (int)blocks);
        ck_assert_uint_eq(report.interpreted, blocks);
        ck_assert_ptr_nonnull(report.why);
    }
    sc_module_unload(module);
    device_close();
}
END_TEST

SUITE_MAIN("softcuda native: background builds", 60, waiting_launch_is_native,
           off_is_off, small_kernels_start_no_compiler,
           hot_kernel_becomes_native, native_code_takes_over_a_running_launch,
           ninth_block_size_is_interpreted,
           refused_kernel_is_interpreted_and_says_why,
           failing_compiler_leaves_the_interpreter,
           unload_while_generating_waits, unload_while_compiling_does_not_wait,
           unload_of_queued_kernels_drops_them,
           end_while_compiling_ends_the_compiler,
           waiting_for_a_compiler_can_be_cancelled,
           hole_in_native_code_is_an_illegal_address,
           native_code_reports_its_own_faults,
           blocks_of_a_cooperative_launch_meet)
