/*
 * What a kernel may write and reach, read from its PTX: small bodies and the parameters
 * that come out. Parameters: out, in (pointers), n (64 bits), i (32 bits) and
 * s, a structure of two pointers.
 */
#include "interpose/cuda/ptx_writes.h"

#include "common/suite.h"

#include <string.h>

static const char head[] =
    "//\n.version 8.5\n.target sm_90\n.address_size 64\n"
    ".global .align 4 .b8 table[64] = {1, 2, 3, 4};\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".extern .func (.param .b32 result) vprintf (.param .b64 a, .param .b64 "
    "b)\n"
    ";\n"
    ".func (.param .b32 result) helper (.param .b64 a)\n{\n"
    "ld.param.u64 %rd1, [a];\nst.u32 [%rd1], 1;\nret;\n}\n"
    ".visible .entry kernel(\n"
    ".param .u64 out, .param .u64 .ptr .global .align 4 in,\n"
    ".param .u64 n, .param .u32 i, .param .align 8 .b8 s[16])\n"
    ".maxntid 256, 1, 1\n{\n"
    ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<19>, x;\n"
    ".reg .f32 %f<4>;\n.local .align 8 .b8 depot[16];\n"
    ".shared .align 4 .b8 tile[128];\n"
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\n"
    "ld.param.u64 %rd3, [n];\nld.param.u32 %r1, [i];\n"
    "cvta.to.global.u64 %rd1, %rd1;\ncvta.to.global.u64 %rd2, %rd2;\n";

struct body {
    const char *text, *written; /* names, "*": anything */
};

static const struct body bodies[] = {
    /* plain stores */
    {"ret;", ""},
    {"st.global.f32 [%rd1], %f1;", "out"},
    {"st.global.f32 [%rd1+16], %f1; ld.global.f32 %f1, [%rd2];", "out"},
    {"add.s64 x, %rd1, 4; st.global.v2.f32 [x], {%f1, %f2};", "out"},
    {"mul.wide.s32 %rd5, %r1, 4; add.s64 %rd6, %rd2, %rd5;"
     "@!%p1 st.global.u8 [%rd6+-4], %r1;",
     "in"},
    {"mad.lo.s64 %rd4, %rd3, 8, %rd1; st.u64 [%rd4], %rd2;", "out n"},
    {"st.global.u32 [%rd1], 0; red.global.add.u32 [%rd2], 1;", "out in"},
    {"atom.global.cas.b64 %rd7, [%rd2], %rd3, %rd3;", "in"},
    {"ld.param.u64 %rd8, [s+8]; st.u32 [%rd8], 1;", "s8"},
    {"ld.param.v2.u64 {%rd8, %rd9}, [s]; st.u32 [%rd9], 1;", "s8"},
    /* loops and joins, in any order */
    {"L1: st.global.u32 [%rd5], 1; add.s64 %rd5, %rd6, 4; mov.u64 %rd6, %rd1;"
     "setp.ne.s64 %p1|%p2, %rd2, 0; @%p1 bra L1;",
     "out"},
    {"selp.b64 %rd5, %rd1, %rd2, %p1; st.global.u32 [%rd5], 1;", "out in"},
    {"setp.eq.s64 %p1, %rd2, 0; selp.b32 %r2, 1, 2, %p1;"
     "mul.wide.s32 %rd5, %r2, 4; add.s64 %rd5, %rd5, %rd1;"
     "st.global.u32 [%rd5], 1;",
     "out"},
    {"{ .reg .b64 t; mov.b64 t, %rd1; st.u32 [t], 1; }", "out"},
    /* indices from memory are not addresses */
    {"ld.global.u32 %r2, [%rd2]; mul.wide.u32 %rd5, %r2, 4;"
     "add.s64 %rd6, %rd1, %rd5; st.global.f32 [%rd6], %f1;",
     "out"},
    {"ld.global.u32 %r2, [%rd2]; shl.b32 %r3, %r2, %r1;"
     "mul.wide.u32 %rd5, %r3, 4; add.s64 %rd6, %rd1, %rd5;"
     "st.global.f32 [%rd6], %f1;",
     "out"},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f1, %f2}];"
     "st.global.f32 [%rd1], %f1;",
     "out"},
    /* addresses from memory may be any */
    {"ld.global.u64 %rd5, [%rd2]; st.global.f32 [%rd5], %f1;", "*"},
    {"ld.global.v2.u64 {%rd4, %rd5}, [%rd2]; add.s64 %rd5, %rd5, %rd1;"
     "st.global.f32 [%rd5], %f1;",
     "*"},
    {"st.local.u64 [depot], %rd2; ld.local.u64 %rd5, [depot];"
     "st.u32 [%rd5], 1;",
     "*"},
    {"ld.const.u64 %rd5, [table]; st.u32 [%rd5], 1;", "*"},
    {"ld.global.v2.u32 {%r2, %r3}, [%rd2]; mov.b64 %rd5, {%r2, %r3};"
     "st.u32 [%rd5], 1;",
     "*"},
    {"ld.global.u32 %r2, [%rd2]; cvt.u64.u32 %rd5, %r2; shl.b64 %rd5, %rd5, 32;"
     "add.s64 %rd5, %rd5, %rd1; st.u32 [%rd5], 1;",
     "*"},
    {"ld.global.u32 %r2, [%rd2]; mul.wide.u32 %rd5, %r2, 0x10000;"
     "add.s64 %rd5, %rd5, %rd1; st.u32 [%rd5], 1;",
     "*"},
    {"mov.b64 {%r2, %r3}, %rd1; shfl.sync.idx.b32 %r4|%p1, %r2, 0, 31, -1;"
     "mov.b64 %rd5, {%r4, %r3}; st.u32 [%rd5], 1;",
     "out"},
    {"st.u32 [0x7f0000000000], 1;", "*"},
    {"mov.u64 %rd5, %clock64; st.u32 [%rd5], 1;", "*"},
    {"mov.b64 %rd5, s; ld.u64 %rd6, [%rd5]; st.u32 [%rd6], 1;", "*"},
    /* what is the module's own is nobody's object */
    {"st.shared.f32 [tile+4], %f1; st.local.u32 [depot], 1;", ""},
    {"mov.u32 %r2, dynamic; st.shared.u32 [%r2], 1;", ""},
    {"mov.u64 %rd5, depot; cvta.local.u64 %rd6, %rd5;"
     "st.u32 [%rd6], 1; atom.shared.add.u32 %r1, [tile], 1;",
     ""},
    {"mov.u64 %rd5, table; st.global.u32 [%rd5], 1;", ""},
    {"cp.async.ca.shared.global [tile], [%rd2], 16; cp.async.wait_all;", ""},
    /* calls */
    {"{ .param .b64 param0; .param .b32 retval0; st.param.b64 [param0], %rd2;"
     "call.uni (retval0), vprintf, (param0, param0);"
     "ld.param.b32 %r2, [retval0]; } st.global.u32 [%rd1], %r2;",
     "out"},
    {"{ .param .b64 param0; .param .b32 retval0; st.param.b64 [param0], %rd2;"
     "call.uni (retval0), helper, (param0); }",
     "*"},
    {"call (retval0), %rd2, (param0), prototype;", "*"},
    /* what is not known may do anything */
    {"sust.b.2d.b32.trap [image, {%r1, %r2}], {%r3};", "*"},
    {"discard.global.L2 [%rd2], 128;", "*"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 64;", "*"},
    {"frobnicate.u32 %r1, %r2;", "*"},
    {".reg .v2 .b64 %v; add.s64 %rd5, %v.x, %rd1; st.u32 [%rd5], 1;", "*"},
    /* text around it */
    {".loc 1 23 4, function_name $L__info, inlined_at 1 2 3\n"
     "st.global.u32 [%rd1], 1; .pragma \"no;unroll }\"; /* } ; */ // st [in]\n"
     "$L__BB0_2: $L__BB0_3: bra.uni $L__BB0_2;",
     "out"},
};

/* What bodies may touch at all: what they write, and what they read. */
static const struct body readers[] = {
    {"ret;", ""},
    {"ld.global.f32 %f1, [%rd2];", "in"},
    {"ld.global.nc.v2.f32 {%f1, %f2}, [%rd2+8]; st.global.f32 [%rd1], %f1;",
     "out in"},
    {"mul.wide.s32 %rd5, %r1, 4; add.s64 %rd6, %rd2, %rd5;"
     "@%p1 ld.volatile.u8 %r1, [%rd6+-4];",
     "in"},
    {"ld.param.u64 %rd8, [s+8]; ldu.global.u32 %r2, [%rd8];", "s8"},
    {"cp.async.ca.shared.global [tile], [%rd2], 16; cp.async.wait_all;", "in"},
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r2, %r3}, [%rd2], "
     "%r1;",
     "in"},
    {"ld.shared.u32 %r2, [tile]; ld.local.u32 %r3, [depot];"
     "ld.const.u32 %r4, [table]; ld.global.u32 %r5, [table];",
     ""},
    {"ld.global.u32 %r2, [%rd2]; mul.wide.u32 %rd5, %r2, 4;"
     "add.s64 %rd6, %rd1, %rd5; ld.global.f32 %f1, [%rd6];",
     "out in"},
    {"atom.global.add.u32 %r2, [%rd2], 1;", "in"},
    /* addresses that nobody knows */
    {"ld.global.u64 %rd5, [%rd2]; ld.global.f32 %f1, [%rd5];", "*"},
    {"ld.global.u64 %rd5, [table]; st.global.u32 [%rd5], 1;", "*"},
    {"ld.global.u32 %r2, [%rd7];", "*"},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f1, %f2}];", "*"},
    {"tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f1, %f2}];", "*"},
    {"{ .param .b64 param0; .param .b32 retval0; st.param.b64 [param0], %rd2;"
     "call.uni (retval0), vprintf, (param0, param0); }",
     "*"},
    {"frobnicate.u32 %r1, %r2;", "*"},
};

static void list(bool anywhere, const struct ptx_place *place, unsigned count,
                 char *text)
{
    static const char *const names[] = {"out", "in", "n", "i", "s"};
    *text = 0;
    if (anywhere)
        strcpy(text, "*");
    for (unsigned i = 0; i < count && !anywhere; i++) {
        if (i)
            strcat(text, " ");
        strcat(text, names[place[i].param]);
        if (place[i].offset)
            sprintf(text + strlen(text), "%d", place[i].offset);
    }
}

static void written(const struct ptx_kernel *k, char *text)
{
    list(k->anywhere, k->place, k->count, text);
}

static void reached(const struct ptx_kernel *k, char *text)
{
    list(k->reaches_anywhere, k->reach, k->reach_count, text);
}

static struct ptx_module *read_body(const char *body)
{
    char text[4096];
    snprintf(text, sizeof text,
             "%s%s\nret;\n}\n.visible .entry last()\n{ ret; }", head, body);
    return ptx_module_read(text);
}

START_TEST(stores_lead_to_parameters)
{
    const struct body *b = &bodies[_i];
    char text[256];
    struct ptx_module *module = read_body(b->text);
    ck_assert_ptr_nonnull(module);
    const struct ptx_kernel *kernel = ptx_module_kernel(module, "kernel");
    ck_assert_ptr_nonnull(kernel);
    written(kernel, text);
    ck_assert_msg(strcmp(text, b->written) == 0, "%s: '%s' and not '%s'",
                  b->text, text, b->written);
    kernel = ptx_module_kernel(module, "last");
    ck_assert(kernel && !kernel->anywhere && kernel->count == 0);
    ck_assert_ptr_null(ptx_module_kernel(module, "helper"));
    ptx_module_free(module);
}
END_TEST

START_TEST(loads_lead_to_parameters)
{
    const struct body *b = &readers[_i];
    char text[256];
    struct ptx_module *module = read_body(b->text);
    const struct ptx_kernel *kernel = ptx_module_kernel(module, "kernel");
    reached(kernel, text);
    ck_assert_msg(strcmp(text, b->written) == 0, "%s: '%s' and not '%s'",
                  b->text, text, b->written);
    ptx_module_free(module);
}
END_TEST

START_TEST(places_lie_where_the_list_has_them)
{
    struct ptx_module *module = read_body(
        "ld.param.u64 %rd8, [s+8]; st.u32 [%rd8], 1; st.u32 [%rd1], 1;");
    const struct ptx_kernel *kernel = ptx_module_kernel(module, "kernel");
    ck_assert_uint_eq(kernel->count, 2);
    ck_assert_uint_eq(kernel->place[0].at, 0);
    ck_assert_uint_eq(kernel->place[1].at,
                      40); /* 8 + 8 + 8 + 4, rounded, + 8 */
    ptx_module_free(module);
}
END_TEST

START_TEST(other_text_is_refused)
{
    static const char *const texts[] = {
        "",
        " ",
        "// nothing",
        ".version 8.5 .target sm_90 .address_size 32",
        ".entry k() { ret; }",
        "\177ELF",
        "{{{{",
        "\"",
        "/*"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_ptr_null(ptx_module_read(texts[i]));
}
END_TEST

/* Cut anywhere or with any byte another one, it neither crashes nor says that
 * a store which is still there writes less. */
START_TEST(broken_text_is_survived)
{
    static const char signs[] = "{}[]();,.@%:\"/*|=-x0 ";
    char text[4096], broken[4096];
    unsigned state = 20261;
    snprintf(text, sizeof text, "%s%s\nret;\n}\n", head, bodies[_i].text);
    size_t length = strlen(text);
    for (size_t cut = 0; cut < length; cut += 7) {
        memcpy(broken, text, cut);
        broken[cut] = 0;
        ptx_module_free(ptx_module_read(broken));
    }
    for (int round = 0; round < 300; round++) {
        memcpy(broken, text, length + 1);
        for (int i = 0; i < 3; i++) {
            state = state * 1103515245 + 12345;
            broken[state / 7 % length] =
                signs[(state >> 24) % (sizeof signs - 1)];
        }
        ptx_module_free(ptx_module_read(broken));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("what PTX writes");
    TCase *one = tcase_create("bodies");
    int count = sizeof bodies / sizeof *bodies;
    tcase_add_loop_test(one, stores_lead_to_parameters, 0, count);
    tcase_add_loop_test(one, loads_lead_to_parameters, 0,
                        sizeof readers / sizeof *readers);
    tcase_add_test(one, places_lie_where_the_list_has_them);
    tcase_add_test(one, other_text_is_refused);
    tcase_add_loop_test(one, broken_text_is_survived, 0, count);
    suite_add_tcase(suite, one);
    return suite_finish(suite);
}
