/*
 * Addresses: parameters, module variables and their initial values, address
 * arithmetic and conversion between spaces, and accesses that must fail.
 */
#include "common/suite.h"

#include <inttypes.h>
#include <string.h>

#include "machine.h"

/* Load `ptx`, launch one CTA of `threads` with `arguments`; fails the test. */
static void run(const char *ptx, uint32_t threads, const uint64_t *arguments,
                size_t count)
{
    ck_assert_int_eq(machine_run(ptx, 1, threads, arguments, count),
                     SC_EXEC_OK);
}

START_TEST(parameters_of_every_size_arrive)
{
    static const char ptx[] = MACHINE_HEAD
        ".visible .entry k(.param .u8 a, .param .u16 b, .param .u32 c,\n"
        " .param .f32 d, .param .u64 e, .param .u8 f,\n"
        " .param .align 16 .b8 g[20], .param .s16 h, .param .u64 .ptr "
        ".global .align 8 out)\n{\n"
        ".reg .b64 %l<4>;\n.reg .b32 %s<8>;\n.reg .b16 %h<8>;\n"
        "ld.param.u64 %l0,[out];\n"
        "ld.param.u8 %h0,[a]; cvt.u64.u16 %l1,%h0; st.global.u64 [%l0],%l1;\n"
        "ld.param.s8 %h1,[f]; cvt.s64.s16 %l1,%h1; st.global.u64 [%l0+8],%l1;\n"
        "ld.param.u16 %h2,[b]; cvt.u64.u16 %l1,%h2;\n"
        "st.global.u64 [%l0+16],%l1;\n"
        "ld.param.u32 %s0,[c]; cvt.u64.u32 %l1,%s0;\n"
        "st.global.u64 [%l0+24],%l1;\n"
        "ld.param.f32 %s1,[d]; cvt.u64.u32 %l1,%s1;\n"
        "st.global.u64 [%l0+32],%l1;\n"
        "ld.param.u64 %l1,[e]; st.global.u64 [%l0+40],%l1;\n"
        "ld.param.v2.u32 {%s2,%s3},[g+8]; mov.b64 %l1,{%s2,%s3};\n"
        "st.global.u64 [%l0+48],%l1;\n"
        "mov.b64 %l2,g; ld.param.u32 %s4,[%l2+16]; cvt.u64.u32 %l1,%s4;\n"
        "st.global.u64 [%l0+56],%l1;\n"
        "ld.param.s16 %s5,[h]; cvt.s64.s32 %l1,%s5;\n"
        "st.global.u64 [%l0+64],%l1;\nret;\n}\n";
    static const uint32_t offsets[] = {0, 2, 4, 8, 16, 24, 32, 52, 56};
    static const uint32_t sizes[] = {1, 2, 4, 4, 8, 1, 20, 2, 8};
    static const uint64_t want[9] = {0xfe,
                                     (uint64_t)-2,
                                     0xfedc,
                                     0xfedcba98,
                                     0x3f800000,
                                     0x1122334455667788,
                                     0x0f0e0d0c0b0a0908,
                                     0x13121110,
                                     (uint64_t)-3};
    machine_open();
    char log[256];
    struct sc_module *module;
    uint64_t *out = machine_alloc(sizeof want);
    uint8_t params[64] = {0};
    uint64_t address = machine_address(out);
    ck_assert_msg(machine_load(&module, ptx, log, sizeof log) == SC_EXEC_OK,
                  "%s", log);
    const struct sc_kernel_info *info = sc_module_kernel(module, 0);
    ck_assert_uint_eq(info->param_count, 9);
    ck_assert_uint_eq(info->param_bytes, 64);
    for (int i = 0; i < 9; i++) {
        ck_assert_uint_eq(info->params[i].offset, offsets[i]);
        ck_assert_uint_eq(info->params[i].bytes, sizes[i]);
    }
    ck_assert(info->params[8].is_pointer);
    params[0] = params[24] = 0xfe;
    memcpy(params + 2, &(uint16_t){0xfedc}, 2);
    memcpy(params + 4, &(uint32_t){0xfedcba98}, 4);
    memcpy(params + 8, &(float){1}, 4);
    memcpy(params + 16, &want[5], 8);
    for (uint8_t i = 0; i < 20; i++)
        params[32 + i] = i;
    memcpy(params + 52, &(int16_t){-3}, 2);
    memcpy(params + 56, &address, 8);
    struct sc_launch launch = {.grid = {1, 1, 1},
                               .block = {1, 1, 1},
                               .params = params,
                               .param_bytes = sizeof params};
    ck_assert_int_eq(sc_kernel_launch(module, 0, &launch, NULL), SC_EXEC_OK);
    for (int i = 0; i < 9; i++)
        ck_assert_msg(out[i] == want[i], "%d: %#" PRIx64 ", want %#" PRIx64, i,
                      out[i], want[i]);
    sc_module_unload(module);
    machine_close();
}
END_TEST

static const char variables[] = MACHINE_HEAD
    ".const .align 4 .u32 words[4] = {1, 0xffffffff, 3};\n"
    ".const .align 8 .f64 real = 0d3FF8000000000000;\n"
    ".const .s16 shorts[2][2] = {{-1, 2}, {3, -4}};\n"
    ".global .align 1 .b8 text[6] = {104, 101, 108, 108, 111, 0};\n"
    ".visible .global .align 4 .f32 floats[2] = {1.5, 0fC0000000};\n"
    ".global .align 8 .u64 pointer = floats;\n"
    ".global .align 8 .u64 inner = generic(words)+4;\n"
    ".global .u32 zeroed[3];\n"
    ".global .align 8 .u64 table[2] = {zeroed, text+2};\n"
    ".visible .entry k(.param .u64 p)\n{\n"
    ".reg .b64 %l<8>;\n.reg .b32 %s<8>;\n.reg .b16 %h<4>;\n"
    "ld.param.u64 %l0,[p];\n"
    "ld.const.u32 %s0,[words+4]; st.global.u32 [%l0],%s0;\n"
    "ld.const.u32 %s0,[words+12]; st.global.u32 [%l0+4],%s0;\n"
    "ld.const.f64 %l1,[real]; st.global.f64 [%l0+8],%l1;\n"
    "ld.const.s16 %s0,[shorts+6]; st.global.u32 [%l0+16],%s0;\n"
    "ld.global.s8 %s0,[text+4]; st.global.u32 [%l0+20],%s0;\n"
    "ld.global.f32 %s0,[floats]; st.global.f32 [%l0+24],%s0;\n"
    "ld.global.u64 %l1,[pointer]; ld.global.f32 %s0,[%l1+4];\n"
    "st.global.f32 [%l0+28],%s0;\n"
    "ld.global.u64 %l1,[inner]; ld.u32 %s0,[%l1];\n"
    "st.global.u32 [%l0+32],%s0;\n"
    "ld.global.u32 %s0,[zeroed+8]; st.global.u32 [%l0+36],%s0;\n"
    "ld.global.u64 %l1,[table+8]; ld.global.u8 %s0,[%l1];\n"
    "st.global.u32 [%l0+40],%s0;\n"
    "mov.u64 %l2,words; mov.u32 %s1,%tid.x; and.b32 %s1,%s1,3;\n"
    "mad.wide.u32 %l2,%s1,4,%l2; ld.const.u32 %s2,[%l2];\n"
    "mad.wide.u32 %l3,%s1,4,%l0; st.global.u32 [%l3+44],%s2;\n"
    "st.global.u32 [zeroed],7;\nret;\n}\n";

START_TEST(module_variables_start_with_their_values)
{
    static const uint32_t want[] = {
        0xffffffff, 0, 0,   0x3ff80000, 0xfffffffc, 111, 0x3fc00000, 0xc0000000,
        0xffffffff, 0, 108, 1,          0xffffffff, 3,   0};
    machine_open();
    uint32_t *out = machine_alloc(sizeof want);
    uint64_t argument = machine_address(out);
    run(variables, 4, &argument, 1);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        ck_assert_msg(out[i] == want[i], "word %zu: %#x, want %#x", i, out[i],
                      want[i]);
    machine_close();
}
END_TEST

START_TEST(module_variables_are_listed)
{
    static const struct {
        const char *name;
        uint64_t bytes;
        bool is_const;
    } want[] = {
        {"words", 16, true}, {"real", 8, true},     {"shorts", 8, true},
        {"text", 6, false},  {"floats", 8, false},  {"pointer", 8, false},
        {"inner", 8, false}, {"zeroed", 12, false}, {"table", 16, false}};
    machine_open();
    char log[256];
    struct sc_module *module;
    ck_assert_msg(machine_load(&module, variables, log, sizeof log) ==
                      SC_EXEC_OK,
                  "%s", log);
    ck_assert_uint_eq(sc_module_variables(module), 9);
    for (size_t i = 0; i < 9; i++) {
        const struct sc_variable_info *v = sc_module_variable(module, i);
        ck_assert_str_eq(v->name, want[i].name);
        ck_assert_uint_eq(v->bytes, want[i].bytes);
        ck_assert_int_eq(v->is_const, want[i].is_const);
    }
    const float *floats =
        (const float *)(uintptr_t)sc_module_variable(module, 4)->address;
    ck_assert(floats[0] == 1.5f && floats[1] == -2);
    ck_assert_ptr_null(sc_module_variable(module, 9));
    sc_module_unload(module);
    machine_close();
}
END_TEST

START_TEST(spaces_are_told_apart)
{
    static const char ptx[] = MACHINE_HEAD
        ".visible .entry k(.param .u64 p)\n{\n"
        ".shared .align 8 .b8 sh[64];\n.local .align 8 .b8 lo[64];\n"
        ".reg .b64 %l<8>;\n.reg .b32 %s<8>;\n.reg .pred %q<8>;\n"
        "ld.param.u64 %l0,[p];\ncvta.to.global.u64 %l1,%l0;\n"
        "mov.u64 %l2,sh; cvta.shared.u64 %l2,%l2; add.s64 %l2,%l2,8;\n"
        "mov.u64 %l3,lo; cvta.local.u64 %l3,%l3; add.s64 %l3,%l3,8;\n"
        "mov.u32 %s1,0;\n"
#define PROBE(space, reg)                                                      \
    "isspacep." space " %q0," reg "; selp.u32 %s0,1,0,%q0;\n"                  \
    "shl.b32 %s1,%s1,1; or.b32 %s1,%s1,%s0;\n"
        PROBE("global", "%l1") PROBE("shared", "%l1") PROBE(
            "local", "%l1") PROBE("global", "%l2") PROBE("shared",
                                                         "%l2") PROBE("local",
                                                                      "%l2")
            PROBE("global", "%l3") PROBE("shared", "%l3") PROBE(
                "local",
                "%l3") "st.global.u32 [%l1],%s1;\n"
                       "mov.u32 %s2,77; st.u32 [%l2],%s2;\n"
                       "cvta.to.shared.u64 %l4,%l2; ld.shared.u32 %s3,[%l4];\n"
                       "st.global.u32 [%l1+4],%s3;\nld.shared.u32 %s3,[sh+8];\n"
                       "st.global.u32 [%l1+8],%s3;\n"
                       "mov.u32 %s2,78; st.u32 [%l3],%s2;\n"
                       "cvta.to.local.u64 %l4,%l3; ld.local.u32 %s3,[%l4];\n"
                       "st.global.u32 [%l1+12],%s3;\nld.local.u32 %s3,[lo+8];\n"
                       "st.global.u32 [%l1+16],%s3;\n"
                       "cvta.global.u64 %l5,%l1; ld.u32 %s3,[%l5+16];\n"
                       "st.global.u32 [%l1+20],%s3;\n"
                       "cvta.shared.u64 %l6,sh; cvta.to.shared.u64 %l6,%l6;\n"
                       "ld.shared.u32 %s3,[%l6+8]; st.global.u32 "
                       "[%l1+24],%s3;\nret;\n}\n";
    machine_open();
    uint32_t *out = machine_alloc(64);
    uint64_t argument = machine_address(out);
    run(ptx, 1, &argument, 1);
    ck_assert_uint_eq(out[0], 0421); /* global, shared, local */
    ck_assert_uint_eq(out[1], 77);
    ck_assert_uint_eq(out[2], 77);
    ck_assert_uint_eq(out[3], 78);
    ck_assert_uint_eq(out[4], 78);
    ck_assert_uint_eq(out[5], 78);
    ck_assert_uint_eq(out[6], 77);
    machine_close();
}
END_TEST

START_TEST(dynamic_shared_memory_follows_the_static)
{
    static const char ptx[] = MACHINE_HEAD
        ".extern .shared .align 16 .b8 dynamic[];\n"
        ".visible .entry k(.param .u64 p)\n{\n"
        ".shared .align 4 .b8 fixed[256];\n"
        ".reg .b64 %l<8>;\n.reg .b32 %s<8>;\n"
        "ld.param.u64 %l0,[p];\nmov.u32 %s0,%tid.x;\nshl.b32 %s1,%s0,2;\n"
        "mov.u32 %s2,dynamic; add.s32 %s2,%s2,%s1;\n"
        "mov.u32 %s3,fixed; add.s32 %s3,%s3,%s1;\n"
        "st.shared.u32 [%s2],%s0;\nnot.b32 %s4,%s0;\n"
        "st.shared.u32 [%s3],%s4;\nbar.sync 0;\n"
        "xor.b32 %s5,%s1,252;\nmov.u32 %s2,dynamic; add.s32 %s2,%s2,%s5;\n"
        "mov.u32 %s3,fixed; add.s32 %s3,%s3,%s5;\n"
        "ld.shared.u32 %s6,[%s2]; ld.shared.u32 %s7,[%s3];\n"
        "mul.wide.u32 %l1,%s0,8; add.s64 %l1,%l0,%l1;\n"
        "st.global.v2.u32 [%l1],{%s6,%s7};\nmov.u32 %s1,%dynamic_smem_size;\n"
        "st.global.u32 [%l0+512],%s1;\nret;\n}\n";
    machine_open();
    char log[256];
    struct sc_module *module;
    uint32_t *out = machine_alloc(1024);
    uint64_t argument = machine_address(out);
    ck_assert_msg(machine_load(&module, ptx, log, sizeof log) == SC_EXEC_OK,
                  "%s", log);
    ck_assert_uint_eq(sc_module_kernel(module, 0)->static_shared_bytes, 256);
    struct sc_launch launch = {.grid = {1, 1, 1},
                               .block = {64, 1, 1},
                               .dynamic_shared_bytes = 256,
                               .params = &argument,
                               .param_bytes = 8};
    ck_assert_int_eq(sc_kernel_launch(module, 0, &launch, NULL), SC_EXEC_OK);
    for (uint32_t i = 0; i < 64; i++) {
        ck_assert_uint_eq(out[2 * i], 63 - i);
        ck_assert_uint_eq(out[2 * i + 1], ~(63 - i));
    }
    ck_assert_uint_eq(out[128], 256);
    sc_module_unload(module);
    machine_close();
}
END_TEST

/* One access of `text` by lane 5 of 64 to the address in %l0. */
static void expect_fault(const char *text, uint64_t address,
                         enum sc_exec_status want, uint64_t fault_address)
{
    char ptx[1024], log[256];
    struct sc_module *module;
    struct sc_exec_fault fault = {0};
    snprintf(ptx, sizeof ptx,
             MACHINE_HEAD ".visible .entry bad(.param .u64 p)\n{\n"
                          ".reg .b64 %%l<4>;\n.reg .b32 %%s<8>;\n"
                          ".reg .pred %%q;\n.shared .align 8 .b8 sh[64];\n"
                          "ld.param.u64 %%l0,[p];\nmov.u32 %%s0,%%tid.x;\n"
                          "setp.eq.u32 %%q,%%s0,5;\n@%%q %s;\nret;\n}\n",
             text);
    ck_assert_msg(machine_load(&module, ptx, log, sizeof log) == SC_EXEC_OK,
                  "%s", log);
    enum sc_exec_status status =
        machine_launch(module, 2, 64, &address, 1, &fault);
    ck_assert_msg(status == want, "%s: status %d, want %d (%s)", text, status,
                  want, fault.text);
    ck_assert_msg(fault.line == 13, "%s: line %u: %s", text, fault.line,
                  fault.text);
    ck_assert_str_eq(fault.kernel, "bad");
    ck_assert_str_ne(fault.text, "");
    if (fault_address)
        ck_assert_uint_eq(fault.address, fault_address);
    sc_module_unload(module);
}

START_TEST(wild_accesses_are_reported_and_survived)
{
    machine_open();
    const struct sc_space *space = machine_space();
    uint64_t hole = space->window_base + MACHINE_MAPPED + 4096;
    uint64_t past = space->window_base + space->window_bytes;
    uint64_t *good = machine_alloc(256);
    int host = 0;
    const enum sc_exec_status illegal = SC_EXEC_ILLEGAL_ADDRESS;
    expect_fault("ld.global.u32 %s1,[%l0]", 0, illegal, 0);
    expect_fault("ld.global.u32 %s1,[%l0]", hole, illegal, hole);
    expect_fault("st.global.u32 [%l0],%s1", hole, illegal, hole);
    expect_fault("ld.global.u64 %l1,[%l0]", past, illegal, past);
    expect_fault("st.u32 [%l0],%s1", machine_address(&host) & ~3ull, illegal,
                 0);
    expect_fault("atom.global.add.u32 %s1,[%l0],1", hole, illegal, hole);
    expect_fault("red.global.add.u32 [%l0],1", past, illegal, past);
    expect_fault("ld.shared.u32 %s1,[%l0]", 1 << 20, illegal, 0);
    expect_fault("st.shared.u32 [%l0],%s1", 64, illegal, 0);
    expect_fault("ld.local.u32 %s1,[%l0]", 1 << 20, illegal, 0);
    expect_fault("ld.u32 %s1,[%l0]", space->shared_base + SC_SHARED_WINDOW - 4,
                 illegal, 0);
    expect_fault("ld.u32 %s1,[%l0]", space->local_base + SC_LOCAL_WINDOW - 4,
                 illegal, 0);
    const enum sc_exec_status odd = SC_EXEC_MISALIGNED;
    uint64_t address = machine_address(good);
    expect_fault("ld.global.u32 %s1,[%l0]", address + 2, odd, address + 2);
    expect_fault("st.global.u64 [%l0],%l1", address + 4, odd, address + 4);
    expect_fault("ld.global.v4.u32 {%s1,%s2,%s3,%s4},[%l0]", address + 8, odd,
                 address + 8);
    expect_fault("ld.shared.u16 %s1,[%l0]", 1, odd, 0);
    expect_fault("atom.global.add.u64 %l1,[%l0],%l2", address + 4, odd,
                 address + 4);
    expect_fault("trap", 0, SC_EXEC_TRAP, 0);
    /* Other lanes and later launches go on. */
    uint32_t *out = machine_alloc(256);
    uint64_t argument = machine_address(out);
    run(variables, 4, &argument, 1);
    ck_assert_uint_eq(out[0], 0xffffffff);
    machine_close();
}
END_TEST

START_TEST(masked_lanes_do_not_fault)
{
    static const char ptx[] =
        MACHINE_HEAD ".visible .entry k(.param .u64 p)\n{\n"
                     ".reg .b64 %l<8>;\n.reg .b32 %s<8>;\n.reg .pred %q;\n"
                     "ld.param.u64 %l0,[p];\nmov.u32 %s0,%tid.x;\n"
                     "setp.lt.u32 %q,%s0,8;\nmul.wide.u32 %l1,%s0,0x10000000;\n"
                     "mul.wide.u32 %l2,%s0,4;\nselp.b64 %l1,%l2,%l1,%q;\n"
                     "add.s64 %l1,%l0,%l1;\n"
                     "@%q ld.global.u32 %s1,[%l1];\n@%q add.u32 %s1,%s1,1;\n"
                     "@%q st.global.u32 [%l1],%s1;\n"
                     "@%q atom.global.add.u32 %s2,[%l1],1;\n"
                     "@%q red.global.max.u32 [%l1],%s1;\nret;\n}\n";
    machine_open();
    uint32_t *out = machine_alloc(256);
    uint64_t argument = machine_address(out);
    run(ptx, 64, &argument, 1);
    for (int i = 0; i < 16; i++)
        ck_assert_uint_eq(out[i], i < 8 ? 2 : 0);
    machine_close();
}
END_TEST

SUITE_MAIN("softcuda addresses", 30, parameters_of_every_size_arrive,
           module_variables_start_with_their_values,
           module_variables_are_listed, spaces_are_told_apart,
           dynamic_shared_memory_follows_the_static,
           wild_accesses_are_reported_and_survived, masked_lanes_do_not_fault)
