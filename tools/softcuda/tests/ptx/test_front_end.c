/*
 * The PTX front end: every directive is taken, every mistake is named with
 * its line and text, and what a failed load held is given back.
 */
#include "common/suite.h"
#include "device.h"

#include <string.h>

static enum sc_exec_status load(const char *ptx, char log[256])
{
    struct sc_module *module;
    enum sc_exec_status status =
        sc_module_load(&module, ptx, strlen(ptx), device_space(), log, 256);
    ck_assert_ptr_eq(status == SC_EXEC_OK ? NULL : module, NULL);
    sc_module_unload(module);
    ck_assert_uint_eq(device_held(), 0);
    return status;
}

static void refused(const char *ptx, enum sc_exec_status want,
                    const char *message)
{
    char log[256];
    enum sc_exec_status status = load(ptx, log);
    ck_assert_msg(strstr(log, message) != NULL, "log is '%s', wanted '%s'", log,
                  message);
    ck_assert_int_eq(status, want);
}

#define BODY(text) PTX_HEAD ".entry k()\n{\n.reg .b32 %r<4>;\n" text "\n}\n"

START_TEST(all_directives_are_taken)
{
    char log[256];
    enum sc_exec_status status = load(
        "// comment\n/* another\n one */ .version 8.3\n"
        ".target sm_80, debug\n.address_size 64\n"
        ".file 1 \"a file.cu\", 1234, 56\n"
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".visible .global .align 8 .b8 bytes[16] = {1, 0x2, 03, 0b100, -5};\n"
        ".global .v4 .f32 quad = {0f3F800000, 1.5, 2e3, -1.0};\n"
        ".weak .const .f64 wide[2] = {0d3FF0000000000000, 2};\n"
        ".global .u64 pointers[2] = {bytes, generic(quad)+4};\n"
        ".global .b8 split[8] = {0xFF(bytes), 0xFF00(bytes), 0, 0, 0, 0, 0, "
        "0};\n"
        ".global .u32 grid[2][3] = {{1, 2, 3}, {4, 5, 6}}, more[] = {7, 8};\n"
        ".extern .shared .align 16 .b8 dynamic[];\n"
        ".shared .align 4 .u32 fixed[8];\n"
        ".global .texref picture;\n.global .surfref plane;\n"
        ".global .samplerref how;\n.tex .u32 old;\n"
        ".func (.param .b32 out) twice(.param .b32 in)\n{\n.reg .b32 %r<2>;\n"
        "ld.param.b32 %r1, [in];\nadd.s32 %r1, %r1, %r1;\n"
        "st.param.b32 [out], %r1;\nret;\n}\n"
        ".visible .entry k(\n.param .u64 .ptr .global .align 4 a,\n"
        ".param .align 8 .b8 s[24],\n.param .f32 f)\n"
        ".maxntid 128, 2, 1\n.minnctapersm 2\n.maxnreg 64\n"
        ".pragma \"nounroll\";\n{\n"
        ".local .align 4 .b8 depot[16];\n.shared .f32 mine[4];\n"
        ".reg .pred %p<2>;\n.reg .v2 .f32 %pair;\n.reg .b64 %rd<4>, %other;\n"
        ".reg .f32 %f<3>;\n"
        ".loc 1 7 3\n.loc 1 8 3, function_name $L__info, inlined_at 1 9 1\n"
        "$L__begin:\nld.param.u64 %rd1, [a];\nld.param.f32 %f1, [s+8];\n"
        "mov.u64 %rd2, dynamic;\nmov.u64 %rd3, mine;\n"
        ".pragma \"nounroll\";\nmov.f32 %pair.x, %f1;\n"
        "{ .reg .b32 t; mov.b32 t, %tid.x; }\n"
        "ret;\n}\n"
        ".section .debug_str\n{\n$L__info:\n.b8 65, 66, 0\n}\n",
        log);
    ck_assert_msg(status == SC_EXEC_OK, "%s", log);
}
END_TEST

START_TEST(kernel_information_matches_the_text)
{
    struct sc_module *module = device_load(
        PTX_HEAD ".const .u32 c[5];\n.global .u32 g;\n"
                 ".entry first(.param .u8 a, .param .u64 p, .param .align 16 "
                 ".b8 s[20], .param .u16 z)\n.reqntid 8, 4\n{\n"
                 ".reg .b64 %rd<3>;\n.shared .align 16 .b8 t[48];\n"
                 ".local .u64 l[3];\n"
                 "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n"
                 "ret;\n}\n.entry second() { ret; }\n");
    ck_assert_uint_eq(sc_module_kernels(module), 2);
    const struct sc_kernel_info *info = sc_module_kernel(module, 0);
    static const uint32_t offsets[] = {0, 8, 16, 36}, bytes[] = {1, 8, 20, 2};
    ck_assert_str_eq(info->name, "first");
    ck_assert_uint_eq(info->param_count, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(info->params[i].offset, offsets[i]);
        ck_assert_uint_eq(info->params[i].bytes, bytes[i]);
        ck_assert_int_eq(info->params[i].is_pointer, i == 1);
    }
    ck_assert_uint_eq(info->param_bytes, 38);
    ck_assert_uint_eq(info->static_shared_bytes, 48);
    ck_assert_uint_eq(info->local_bytes, 24);
    ck_assert_uint_eq(info->const_bytes, 20);
    ck_assert_uint_eq(info->max_threads, 32);
    ck_assert_uint_eq(info->required_block[1], 4);
    ck_assert_str_eq(sc_module_kernel(module, 1)->name, "second");
    ck_assert_ptr_null(sc_module_kernel(module, 2));
    ck_assert_uint_eq(sc_module_variables(module), 2);
    ck_assert(sc_module_variable(module, 0)->is_const);
    ck_assert_uint_eq(sc_module_variable(module, 1)->bytes, 4);
    sc_module_unload(module);
}
END_TEST

static const struct {
    const char *ptx;
    enum sc_exec_status status;
    const char *message;
} mistakes[] = {
    {"", SC_EXEC_INVALID_PTX, ".version"},
    {"hello", SC_EXEC_INVALID_PTX, "before 'hello'"},
    {".version 99.0\n", SC_EXEC_UNSUPPORTED, "99.0"},
    {".version 7.0\n.target sm_100\n.address_size 64\n", SC_EXEC_UNSUPPORTED,
     "sm_100"},
    {".version 7.0\n.target sm_70\n.address_size 32\n", SC_EXEC_UNSUPPORTED,
     "line 3: .address_size 32"},
    {PTX_HEAD ".surprise x;", SC_EXEC_UNSUPPORTED,
     "line 4: unknown directive '.surprise'"},
    {PTX_HEAD ".global t;", SC_EXEC_INVALID_PTX, "type such as .u32"},
    {PTX_HEAD ".global .attribute(.unified(1, 2)) .u32 m;", SC_EXEC_UNSUPPORTED,
     "unified"},
    {PTX_HEAD ".shared .attribute(.managed) .u32 m;", SC_EXEC_INVALID_PTX,
     "line 4: .managed"},
    {PTX_HEAD ".global .attribute(.managed) .u32 m;", SC_EXEC_UNSUPPORTED,
     "managed"},
    {PTX_HEAD ".extern .global .u32 e;", SC_EXEC_UNSUPPORTED,
     "modules are not linked"},
    {PTX_HEAD ".global .u32 g[2] = {1, 2, 3};", SC_EXEC_INVALID_PTX,
     "more values"},
    {PTX_HEAD ".global .u64 g = nothing;", SC_EXEC_UNSUPPORTED, "nothing"},
    {BODY("foo.s32 %r1, %r2;"), SC_EXEC_UNSUPPORTED,
     "line 7: unknown opcode 'foo.s32 %r1, %r2'"},
    {BODY("add.s32.bar %r1, %r2, %r3;"), SC_EXEC_UNSUPPORTED,
     "line 7: unknown modifier '.bar' in 'add.s32.bar %r1, %r2, %r3'"},
    {BODY("add.s32.rn %r1, %r2, %r3;"), SC_EXEC_UNSUPPORTED,
     "modifier '.rn' is not supported in 'add.s32.rn"},
    {BODY("add.s32 %r1, %r2;"), SC_EXEC_INVALID_PTX, "operands"},
    {BODY("add.s64 %r1, %r2, %r3;"), SC_EXEC_INVALID_PTX, "wrong size"},
    {BODY("add.s32 %r1, %r2, %r4;"), SC_EXEC_UNSUPPORTED,
     "unknown register '%r4'"},
    {BODY("mov.u32 %r1, %envreg32;"), SC_EXEC_UNSUPPORTED, "'%envreg32'"},
    {BODY("bra NOWHERE;"), SC_EXEC_INVALID_PTX,
     "line 7: nothing is called 'NOWHERE'"},
    {BODY("A: A: ret;"), SC_EXEC_INVALID_PTX, "'A' stands twice"},
    {BODY("@%r1 bra A; A: ret;"), SC_EXEC_INVALID_PTX, "no predicate"},
    {BODY("call.uni twice, (%r1);"), SC_EXEC_INVALID_PTX,
     "line 7: call of something that is no function"},
    {BODY("call.uni (%r1), %r2, (%r1);"), SC_EXEC_INVALID_PTX,
     "line 7: call by address without a prototype"},
    {PTX_HEAD ".func f(.param .b32 x) { ret; }\n.entry k()\n{\n"
              ".reg .b32 %r<2>;\ncall f, (%r1, %r1);\nret;\n}\n",
     SC_EXEC_INVALID_PTX, "line 8: call of 'f' with another number"},
    {PTX_HEAD ".func f(.param .b32 x) { ret; }\n.entry k()\n{\n"
              ".param .b16 a;\ncall f, (a);\nret;\n}\n",
     SC_EXEC_INVALID_PTX, "line 8: call of 'f' with a parameter of another"},
    {PTX_HEAD ".func f(.param .b32 x)\n{\n.reg .b64 %rd<2>;\n"
              "ld.param.b64 %rd1, [x];\nret;\n}\n.entry k()\n{\n"
              ".param .b32 a;\ncall f, (a);\nret;\n}\n",
     SC_EXEC_INVALID_PTX, "line 7: access outside 'a'"},
    {PTX_HEAD ".func f();\n.func g();\n.alias f, g;\n.alias g, f;\n"
              ".entry k()\n{\ncall f;\nret;\n}\n",
     SC_EXEC_INVALID_PTX, "is an alias of itself"},
    {PTX_HEAD ".entry e() { ret; }\n.entry k()\n{\ncall e;\nret;\n}\n",
     SC_EXEC_INVALID_PTX, "call of the kernel 'e'"},
    {PTX_HEAD ".func f() { ret; }\n.func f() { ret; }\n", SC_EXEC_INVALID_PTX,
     "'f' is defined twice"},
    {BODY("mov.u32 %r1, 0xZZ;"), SC_EXEC_INVALID_PTX, "bad number '0xZZ'"},
    {BODY("mov.u32 %r1, 99999999999999999999;"), SC_EXEC_INVALID_PTX,
     "bad number"},
    {BODY("mov.f32 %r1, 0f12;"), SC_EXEC_INVALID_PTX, "bad number '0f12'"},
    {BODY("mov.u32 %r1, `;"), SC_EXEC_INVALID_PTX, "unexpected character"},
    {BODY(".reg .b32 %r<4>;"), SC_EXEC_INVALID_PTX, "declared twice"},
    {BODY(".reg .b32 %big<99999999>;"), SC_EXEC_UNSUPPORTED, "registers"},
    {BODY(".shared .b8 s[300000]; mov.u32 %r1, s;"), SC_EXEC_UNSUPPORTED,
     "does not fit"},
    {BODY("/* never closed"), SC_EXEC_INVALID_PTX,
     "line 7: comment without end"},
    {PTX_HEAD ".entry k() { ret;", SC_EXEC_INVALID_PTX, "end of the text"},
    {PTX_HEAD ".global .b8 x[][0] = {{1, 2}};", SC_EXEC_INVALID_PTX,
     "dimension"},
    {PTX_HEAD ".global .b8 x[][4294967296][4294967296] = {1};",
     SC_EXEC_INVALID_PTX, "dimension"},
    {PTX_HEAD ".entry k() { ret; }\n.entry k();\n.entry k() { ret; }",
     SC_EXEC_INVALID_PTX, "defined twice"},
    {BODY("tex.2d.v4.f32.f32 {%r1}, [%r2];"), SC_EXEC_INVALID_PTX, "line 7: "},
    {PTX_HEAD ".entry k(.param .u32 p)\n{\n.reg .b32 %r<4>;\n"
              "txq.width.b32 %r1, [p];\nret;\n}\n",
     SC_EXEC_INVALID_PTX, "line 7: variable that holds no handle"},
    {PTX_HEAD ".global .u64 g;\n.entry k()\n{\n.reg .b32 %r<4>;\n"
              "txq.width.b32 %r1, [g];\nret;\n}\n",
     SC_EXEC_INVALID_PTX, "line 8: variable that holds no handle"},
    {BODY("st.const.u32 [%r1], %r2;"), SC_EXEC_UNSUPPORTED, "read-only"},
};

START_TEST(mistake_is_refused_with_line_and_text)
{
    refused(mistakes[_i].ptx, mistakes[_i].status, mistakes[_i].message);
}
END_TEST

START_TEST(deep_nesting_is_refused_not_recursed_into)
{
    static char text[70000];
    strcpy(text, PTX_HEAD ".entry k() {");
    memset(text + strlen(text), '{', 60000);
    refused(text, SC_EXEC_INVALID_PTX, "nested");
    strcpy(text, PTX_HEAD ".global .u32 a[2] = ");
    memset(text + strlen(text), '{', 60000);
    refused(text, SC_EXEC_INVALID_PTX, "fewer braces");
}
END_TEST

START_TEST(device_memory_running_out_is_said)
{
    refused(PTX_HEAD ".global .b8 small[64];\n"
                     ".global .b8 huge[1073741824];\n",
            SC_EXEC_NO_MEMORY, "huge");
}
END_TEST

START_TEST(log_of_no_bytes_is_left_alone)
{
    struct sc_module *module;
    ck_assert_int_eq(sc_module_load(&module, "x", 1, device_space(), NULL, 0),
                     SC_EXEC_INVALID_PTX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("front end");
    TCase *tcase = tcase_create("front end");
    tcase_set_timeout(tcase, 30);
    tcase_add_checked_fixture(tcase, device_open, device_close);
    tcase_add_test(tcase, all_directives_are_taken);
    tcase_add_test(tcase, kernel_information_matches_the_text);
    tcase_add_loop_test(tcase, mistake_is_refused_with_line_and_text, 0,
                        sizeof mistakes / sizeof *mistakes);
    tcase_add_test(tcase, deep_nesting_is_refused_not_recursed_into);
    tcase_add_test(tcase, device_memory_running_out_is_said);
    tcase_add_test(tcase, log_of_no_bytes_is_left_alone);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
