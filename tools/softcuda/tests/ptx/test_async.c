/*
 * cp.async and its groups, the stack that alloca takes from, and managed
 * variables.
 */
#include "common/suite.h"
#include "device.h"

#include <string.h>

/* Kernel of one output pointer in %l1 (16 bytes a thread) and one input
 * pointer in %l0; `body` ends in %r0-3. */
static enum sc_exec_status run(const char *body, const void *in, uint32_t n,
                               uint32_t (*out)[4])
{
    static char ptx[4096];
    snprintf(ptx, sizeof ptx,
             PTX_HEAD
             ".entry k(.param .u64 pi, .param .u64 po)\n{\n"
             ".reg .b64 %%l<12>;\n.reg .b32 %%r<16>;\n.reg .pred %%q<4>;\n"
             ".shared .align 16 .b8 sh[1024];\n"
             "ld.param.u64 %%l0,[pi];\nld.param.u64 %%l1,[po];\n"
             "mov.u32 %%r8,%%tid.x;\nmul.wide.u32 %%l2,%%r8,16;\n"
             "add.s64 %%l0,%%l0,%%l2;\nadd.s64 %%l1,%%l1,%%l2;\n"
             "mov.u32 %%r9,sh;\nmad.lo.u32 %%r9,%%r8,16,%%r9;\n"
             "mov.b32 %%r0,7;\nmov.b32 %%r1,7;\nmov.b32 %%r2,7;\n"
             "mov.b32 %%r3,7;\nst.shared.v4.u32 [%%r9],{%%r0,%%r0,%%r0,%%r0};\n"
             "%s\n"
             "st.global.v4.b32 [%%l1],{%%r0,%%r1,%%r2,%%r3};\nret;\n}\n",
             body);
    uint32_t(*result)[4] = device_alloc(n * sizeof *result);
    uint64_t params[] = {(uint64_t)(uintptr_t)in, (uint64_t)(uintptr_t)result};
    struct sc_exec_fault fault;
    struct sc_module *module = device_load(ptx);
    enum sc_exec_status status =
        device_launch(module, 1, n, params, sizeof params, &fault);
    sc_module_unload(module);
    memcpy(out, result, n * sizeof *result);
    return status;
}

#define READ "ld.shared.v4.u32 {%r0,%r1,%r2,%r3},[%r9];"

static uint32_t (*input)[4];

static void fill_input(void)
{
    input = device_alloc(64 * sizeof *input);
    for (uint32_t i = 0; i < 256; i++)
        input[i / 4][i % 4] = i * 2654435761u;
}

static const struct copy {
    const char *body;
    uint32_t at, bytes, read; /* in the 16 bytes; the rest keeps 7s */
} copies[] = {
    {"cp.async.cg.shared.global [%r9],[%l0],16;", 0, 16, 16},
    {"cp.async.cg.shared.global [%r9],[%l0],16,16;", 0, 16, 16},
    {"cp.async.cg.shared.global [%r9],[%l0],16,5;", 0, 16, 5},
    {"cp.async.cg.shared.global.L2::128B [%r9],[%l0],16,0;", 0, 16, 0},
    {"cp.async.ca.shared::cta.global [%r9+8],[%l0+8],8;", 8, 8, 8},
    {"add.s64 %l0,%l0,16; cp.async.ca.shared.global [%r9+12],[%l0-4],4,3;", 12,
     4, 3},
    {"cvt.u64.u32 %l3,%r9; cp.async.ca.shared.global [%l3],[%l0],4,99;", 0, 4,
     4},
    {"setp.eq.u32 %q0,%r8,%r8; cp.async.ca.shared.global [%r9],[%l0],8,%q0;", 0,
     8, 0},
    {"setp.ne.u32 %q0,%r8,%r8; cp.async.ca.shared.global [%r9],[%l0],8,%q0;", 0,
     8, 8},
    {"sub.u32 %r9,%r9,4096; cp.async.cg.shared.global [%r9+4096],[%l0],16;"
     "add.u32 %r9,%r9,4096;",
     0, 16, 16},
    /* nothing is read where the size is 0 */
    {"mov.u64 %l0,1; mov.u32 %r4,0;"
     "cp.async.ca.shared.global [%r9],[%l0],8,%r4;",
     0, 8, 0},
};

START_TEST(copy_brings_bytes_and_zeros)
{
    const struct copy *c = &copies[_i];
    char body[512];
    uint32_t got[64][4];
    fill_input();
    snprintf(body, sizeof body,
             "%s cp.async.commit_group; cp.async.wait_group 0;"
             "cp.async.wait_all; %s",
             c->body, READ);
    ck_assert_int_eq(run(body, input, 64, got), SC_EXEC_OK);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t want[4] = {7, 7, 7, 7};
        memset((char *)want + c->at, 0, c->bytes);
        memcpy((char *)want + c->at, (char *)input[i] + c->at, c->read);
        ck_assert_mem_eq(got[i], want, sizeof want);
    }
}
END_TEST

START_TEST(lanes_that_are_off_copy_nothing)
{
    uint32_t got[64][4];
    fill_input();
    ck_assert_int_eq(run("and.b32 %r4,%r8,1; setp.eq.u32 %q0,%r4,0;"
                         "@!%q0 mov.u64 %l0,1; @%q0 cp.async.cg.shared.global "
                         "[%r9],[%l0],16;" READ,
                         input, 64, got),
                     SC_EXEC_OK);
    for (uint32_t i = 0; i < 64; i++)
        ck_assert_uint_eq(got[i][3], i % 2 ? 7 : input[i][3]);
}
END_TEST

START_TEST(bad_copies_fault)
{
    static const struct {
        const char *body;
        enum sc_exec_status status;
    } cases[] = {
        {"cp.async.cg.shared.global [%r9],[%l0+8],16;", SC_EXEC_MISALIGNED},
        {"cp.async.cg.shared.global [%r9+4],[%l0],16;", SC_EXEC_MISALIGNED},
        {"cp.async.cg.shared.global [%r9+4096],[%l0],16;",
         SC_EXEC_ILLEGAL_ADDRESS},
        {"mov.u64 %l0,0; cp.async.cg.shared.global [%r9],[%l0],16;",
         SC_EXEC_ILLEGAL_ADDRESS},
        {"mov.u64 %l0,-16; cp.async.cg.shared.global [%r9],[%l0],16;",
         SC_EXEC_ILLEGAL_ADDRESS},
    };
    uint32_t got[4][4];
    fill_input();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(run(cases[i].body, input, 4, got) == cases[i].status,
                      "%s", cases[i].body);
    ck_assert_int_eq(run("cp.async.ca.shared.global [%r9],[%l0],16;",
                         (void *)(uintptr_t)device_hole(), 4, got),
                     SC_EXEC_ILLEGAL_ADDRESS);
}
END_TEST

/* Every lane takes room of its own size twice, and keeps both. */
START_TEST(stack_memory_is_the_lanes_own)
{
    static const char body[] =
        "cvt.u64.u32 %l3,%r8; add.s64 %l3,%l3,4;"
        "alloca.u64 %l4,%l3,4; alloca.u64 %l5,16,64;"
        "st.local.u32 [%l4],%r8; st.local.u32 [%l5+12],%r9;"
        "stacksave.u64 %l6; alloca.u64 %l7,32; st.local.u32 [%l7+28],1;"
        "stackrestore.u64 %l6; alloca.u64 %l8,32;"
        "sub.s64 %l9,%l8,%l7; cvt.u32.u64 %r3,%l9;"
        "cvta.local.u64 %l4,%l4; ld.u32 %r0,[%l4];"
        "ld.local.u32 %r1,[%l5+12]; sub.u32 %r1,%r1,%r9;"
        "and.b64 %l5,%l5,63; cvt.u32.u64 %r2,%l5;";
    uint32_t got[64][4];
    fill_input();
    ck_assert_int_eq(run(body, input, 64, got), SC_EXEC_OK);
    for (uint32_t i = 0; i < 64; i++) {
        const uint32_t want[4] = {i, 0, 0, 0};
        ck_assert_mem_eq(got[i], want, sizeof want);
    }
}
END_TEST

START_TEST(stack_that_runs_out_faults)
{
    static const char *const bodies[] = {
        "mov.u64 %l3,1073741824; alloca.u64 %l4,%l3,8;",
        "mov.u64 %l3,-1; alloca.u64 %l4,%l3,8;",
        "LOOP: alloca.u64 %l4,64,16; bra LOOP;",
        "mov.u64 %l3,1048576; stackrestore.u64 %l3;",
    };
    uint32_t got[4][4];
    fill_input();
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        ck_assert_int_eq(run(bodies[i], input, 4, got), SC_EXEC_STACK_OVERFLOW);
}
END_TEST

static size_t managed_bytes;

static uint64_t alloc_managed(void *ctx, size_t bytes, size_t align)
{
    managed_bytes += bytes;
    return device_space()->alloc(ctx, bytes, align);
}

START_TEST(managed_variables_come_from_their_own_place)
{
    static const char ptx[] = PTX_HEAD
        ".visible .global .attribute(.managed) .align 4 .u32 m[3] = {5, 6};\n"
        ".global .u32 g;\n.entry k() { ret; }\n";
    struct sc_space space = *device_space();
    struct sc_module *module;
    char log[256];
    ck_assert_int_eq(
        sc_module_load(&module, ptx, sizeof ptx - 1, &space, log, sizeof log),
        SC_EXEC_UNSUPPORTED);
    ck_assert_msg(strstr(log, "line 4: managed variable 'm'"), "%s", log);
    space.alloc_managed = alloc_managed;
    ck_assert_int_eq(
        sc_module_load(&module, ptx, sizeof ptx - 1, &space, log, sizeof log),
        SC_EXEC_OK);
    const struct sc_variable_info *m = sc_module_variable(module, 0);
    static const uint32_t want[3] = {5, 6, 0};
    ck_assert(m->is_managed && !sc_module_variable(module, 1)->is_managed);
    ck_assert_uint_eq(managed_bytes, 12);
    ck_assert_mem_eq((void *)(uintptr_t)m->address, want, sizeof want);
    sc_module_unload(module);
    ck_assert_uint_eq(device_held(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("copies and stacks");
    TCase *tcase = tcase_create("copies and stacks");
    tcase_set_timeout(tcase, 30);
    tcase_add_checked_fixture(tcase, device_open, device_close);
    tcase_add_loop_test(tcase, copy_brings_bytes_and_zeros, 0,
                        sizeof copies / sizeof *copies);
    tcase_add_test(tcase, lanes_that_are_off_copy_nothing);
    tcase_add_test(tcase, bad_copies_fault);
    tcase_add_test(tcase, stack_memory_is_the_lanes_own);
    tcase_add_test(tcase, stack_that_runs_out_faults);
    tcase_add_test(tcase, managed_variables_come_from_their_own_place);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
