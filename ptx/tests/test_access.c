/*
 * What a kernel may write and reach, read from its PTX: small bodies and the
 * parameters that come out, and the bytes a launch of them may touch.
 * Parameters: out, in (pointers), n (64 bits), i (32 bits) and s, a structure
 * of two pointers.
 */
#include "common/access_case.h"
#include "common/suite.h"

#include <stdio.h>
#include <string.h>

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
    {"mov.b64 %rd5, s; mov.u64 %rd7, %rd5; ld.param.u64 %rd8, [%rd7+8];"
     "st.u32 [%rd8], 1;",
     "s8"},
    {"mov.b64 %rd5, s; @%p1 mov.b64 %rd5, out; mov.u64 %rd7, %rd5;"
     "ld.param.u64 %rd8, [%rd7]; st.u32 [%rd8], 1;",
     "*"},
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
    {"ld.global.u64 %rd5, [%rd2]; shr.u64 %rd6, %rd5, 52;"
     "cvt.u32.u64 %r2, %rd6; mul.wide.u32 %rd7, %r2, 4;"
     "add.s64 %rd8, %rd1, %rd7; st.global.f32 [%rd8], %f1;",
     "out"},
    {"ld.global.u32 %r2, [%rd2]; vadd4.u32.u32.u32 %r3, %r2, %r1, %r2;"
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
    {"ld.global.u64 %rd5, [%rd2]; mov.b64 {%r2, %r3}, %rd5;"
     "mov.b64 %rd6, {%r2, %r3}; add.s64 %rd6, %rd6, %rd1;"
     "st.u32 [%rd6], 1;",
     "*"},
    {"mbarrier.arrive.shared.b64 %rd5, [tile]; st.u32 [%rd5], 1;", "*"},
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
    {"mbarrier.init.shared.b64 [tile], 1; mbarrier.arrive.shared.b64 %rd5, "
     "[tile]; mbarrier.test_wait.shared.b64 %p1, [tile], %rd5;",
     ""},
    {"sust.b.2d.b32.trap [image, {%r1, %r2}], {%r3};"
     "sured.b.add.2d.u32.trap [image, {%r1, %r2}], %r3;",
     ""},
    /* or the driver's */
    {"mov.u32 %r2, %envreg1; mov.u32 %r3, %envreg2; mov.b64 %rd5, {%r2, %r3};"
     "atom.add.u32 %r4, [%rd5+4], 1;",
     ""},
    /* calls */
    {"{ .param .b64 param0; .param .b32 retval0; st.param.b64 [param0], %rd2;"
     "call.uni (retval0), vprintf, (param0, param0);"
     "ld.param.b32 %r2, [retval0]; } st.global.u32 [%rd1], %r2;",
     "out"},
    {"{ .param .b64 param0; .param .b32 retval0; st.param.b64 [param0], %rd2;"
     "call.uni (retval0), helper, (param0); }",
     "in"},
    {"{ .param .b64 param0; .param .b32 retval0; st.param.b64 [param0], %rd2;"
     "prototype: .callprototype (.param .b32 _) _ (.param .b64 _);"
     "call (retval0), %rd2, (param0), prototype; }",
     "*"},
    /* what is not known may do anything */
    {"discard.global.L2 [%rd2], 128;", "*"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 64;", "*"},
    {"frobnicate.u32 %r1, %r2;", "*"},
    {".reg .v2 .b64 %v; add.s64 %rd5, %v.x, %rd1; st.u32 [%rd5], 1;", "out"},
    {"mov.u32 %r2, %not_yet; mul.wide.u32 %rd5, %r2, 4;"
     "add.s64 %rd5, %rd5, %rd1; st.u32 [%rd5], 1;",
     "out"},
    {"st.newer.u32 [%rd1], 1;", "*"},
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

static void list(bool anywhere, const struct sc_reach *reach, uint32_t which,
                 char *text)
{
    const char *between = "";
    *text = 0;
    if (anywhere)
        strcpy(text, "*");
    for (unsigned i = 0; i < reach->place_count && !anywhere; i++) {
        const struct sc_place *place = &reach->place[i];
        if (!(which >> i & 1))
            continue;
        text += sprintf(text, "%s%s", between, access_case_names[place->param]);
        if (place->offset)
            text += sprintf(text, "%d", place->offset);
        between = " ";
    }
}

START_TEST(stores_lead_to_parameters)
{
    const struct body *b = &bodies[_i];
    char text[256];
    struct sc_program *program = access_case_read(b->text);
    struct sc_program_kernel *kernel = sc_program_kernel(program, "kernel");
    ck_assert_msg(kernel, "%s", b->text);
    const struct sc_reach *reach = sc_program_reach(kernel);
    list(reach->writes_anywhere, reach, reach->written, text);
    ck_assert_msg(strcmp(text, b->written) == 0, "%s: '%s' and not '%s'",
                  b->text, text, b->written);
    kernel = sc_program_kernel(program, "last");
    ck_assert(kernel && !sc_program_reach(kernel)->writes_anywhere &&
              !sc_program_reach(kernel)->written);
    ck_assert_ptr_null(sc_program_kernel(program, "helper"));
    sc_program_free(program);
}
END_TEST

START_TEST(loads_lead_to_parameters)
{
    const struct body *b = &readers[_i];
    char text[256];
    struct sc_program *program = access_case_read(b->text);
    struct sc_program_kernel *kernel = sc_program_kernel(program, "kernel");
    ck_assert_msg(kernel, "%s", b->text);
    const struct sc_reach *reach = sc_program_reach(kernel);
    list(reach->reaches_anywhere, reach, reach->reached, text);
    ck_assert_msg(strcmp(text, b->written) == 0, "%s: '%s' and not '%s'",
                  b->text, text, b->written);
    sc_program_free(program);
}
END_TEST

/* ---- variables of the module --------------------------------------------- */

#define OF_MODULE(body)                                                        \
    ".version 8.0\n.target sm_80\n.address_size 64\n"                          \
    ".visible .global .u32 v;\n.visible .const .u32 c;\n"                      \
    ".visible .entry kernel(.param .u64 p)\n{\n.reg .b64 %a<3>;\n"             \
    ".reg .b32 %r;\n.local .b32 l[4];\n"                                       \
    "ld.param.u64 %a1, [p];\n" body "ret; }\n"

static const struct {
    const char *text;
    bool reaches, writes;
} of_module[] = {
    {OF_MODULE("ld.global.u32 %r, [%a1]; st.global.u32 [%a1], %r;"), false,
     false},
    {OF_MODULE("ld.global.u32 %r, [v]; st.global.u32 [%a1], %r;"), true, false},
    {OF_MODULE("ld.const.u32 %r, [c]; st.global.u32 [%a1], %r;"), true, false},
    {OF_MODULE("ld.global.u32 %r, [%a1]; st.global.u32 [v], %r;"), true, true},
    {OF_MODULE("mov.u64 %a2, v; red.global.add.u32 [%a2], 1;"), true, true},
    {OF_MODULE("cvta.global.u64 %a2, v; atom.add.u32 %r, [%a2], 1;"), true,
     true},
    {OF_MODULE("st.local.u32 [l], 1; ld.local.u32 %r, [l];"), false, false},
};

START_TEST(variables_are_reached_by_name)
{
    struct sc_program *program = sc_program_new(of_module[_i].text, 80);
    struct sc_program_kernel *kernel = sc_program_kernel(program, "kernel");
    ck_assert_msg(kernel, "%s", of_module[_i].text);
    const struct sc_reach *reach = sc_program_reach(kernel);
    ck_assert_msg(reach->reaches_own == of_module[_i].reaches &&
                      reach->writes_own == of_module[_i].writes,
                  "%s: %d %d", of_module[_i].text, reach->reaches_own,
                  reach->writes_own);
    ck_assert(!reach->reaches_anywhere);
    sc_program_free(program);
}
END_TEST

/* ---- ranges -------------------------------------------------------------- */

/* Four blocks of 64 by 2 threads; i is 100 and n 1000, out lies at 1 << 32 and
 * in behind it, s has both. What it touches is told as "w out+first..end". */
static const struct body launches[] = {
    {"mul.wide.s32 %rd5, %r5, 4; add.s64 %rd6, %rd1, %rd5;"
     "st.global.f32 [%rd6], %f1; ld.global.f32 %f1, [%rd6+8];",
     "w out+0..1024 r out+8..1032"},
    {"mul.wide.s32 %rd5, %r5, 4; add.s64 %rd6, %rd1, %rd5;"
     "add.s64 %rd7, %rd2, %rd5; ld.global.v2.f32 {%f1, %f2}, [%rd7+-4];"
     "red.global.add.f32 [%rd6], %f1;",
     "r in-4..1024 rw out+0..1024"},
    {"mad.wide.u32 %rd6, %r4, 8, %rd1; st.global.u8 [%rd6], 1;",
     "w out+0..505"},
    {"ld.param.u64 %rd8, [s+8]; st.global.u64 [%rd8+16], %rd3;", "w in+16..24"},
    /* guards and branches */
    {"setp.ge.s32 %p1, %r5, %r1; @%p1 bra END; mul.wide.s32 %rd5, %r5, 4;"
     "add.s64 %rd6, %rd1, %rd5; st.global.f32 [%rd6], %f1; END:",
     "w out+0..400"},
    {"setp.lt.s32 %p1, %r5, %r1; mul.wide.s32 %rd5, %r5, 4;"
     "@%p1 add.s64 %rd6, %rd1, %rd5; @%p1 st.global.f32 [%rd6], %f1;",
     "w out+0..1024"},
    {"setp.gt.u32 %p1, %r1, %r5; @!%p1 bra END; @%p1 shl.b32 %r6, %r5, 2;"
     "cvt.u64.u32 %rd5, %r6; add.s64 %rd6, %rd1, %rd5;"
     "st.global.f32 [%rd6], %f1; END:",
     "w out+0..400"},
    {"mov.u32 %r6, %tid.y; setp.ge.s32 %p1, %r5, %r1; setp.gt.u32 %p2, %r6, 0;"
     "or.pred %p3, %p1, %p2; @%p3 bra END; mad.lo.s32 %r7, %r6, 1000, %r5;"
     "mul.wide.s32 %rd5, %r7, 4; add.s64 %rd6, %rd1, %rd5;"
     "st.global.f32 [%rd6], %f1; END:",
     "w out+0..400"},
    {"setp.lt.s32 %p1, %r5, 10; setp.ge.s32 %p2, %r5, 4;"
     "and.pred %p3, %p1, %p2; @%p3 bra IN; ret; IN: mul.wide.s32 %rd5, %r5, 4;"
     "add.s64 %rd6, %rd1, %rd5; st.global.f32 [%rd6], %f1;",
     "w out+16..40"},
    {"setp.ge.s32 %p1, %r1, 100; @%p1 bra END; st.global.f32 [%rd1], %f1; END:",
     ""},
    {"setp.lt.s32 %p1, %r5, %r1; selp.b32 %r6, %r5, 0, %p1;"
     "mul.wide.s32 %rd5, %r6, 4; add.s64 %rd6, %rd1, %rd5;"
     "st.global.f32 [%rd6], %f1;",
     "w out+0..400"},
    {"min.s32 %r6, %r5, 7; max.s32 %r7, %r6, 3; mul.wide.s32 %rd5, %r7, 4;"
     "add.s64 %rd6, %rd1, %rd5; st.global.f32 [%rd6], %f1;",
     "w out+12..32"},
    /* what holds of a register ends where it is set */
    {"setp.ge.s32 %p1, %r5, %r1; add.s32 %r5, %r5, 1000; @%p1 bra END;"
     "mul.wide.s32 %rd5, %r5, 4; add.s64 %rd6, %rd1, %rd5;"
     "st.global.u8 [%rd6], 1; END:",
     "w out-8589934592..8589934589"},
    {"mov.u32 %r6, %r4; setp.ge.s32 %p1, %r6, 8; @%p1 bra END;"
     "add.s32 %r7, %r6, 16; mov.u32 %r6, %r7; mul.wide.s32 %rd5, %r6, 4;"
     "add.s64 %rd6, %rd1, %rd5; st.global.u8 [%rd6], 1; END:",
     "w out+0..253"},
    {"mov.u32 %r6, %r4; setp.lt.s32 %p1, %r6, 8; @!%p1 bra END;"
     "add.s32 %r7, %r6, 16; mov.u32 %r6, %r7; mul.wide.s32 %rd5, %r6, 4;"
     "add.s64 %rd6, %rd1, %rd5; st.global.u8 [%rd6], 1; END:",
     "w out+0..253"},
    {"setp.lt.s32 %p1, %r5, 8; mov.u32 %r6, 0; setp.lt.s32 %p1, %r6, 1;"
     "@%p1 bra IN; ret; IN: mul.wide.s32 %rd5, %r5, 4;"
     "add.s64 %rd6, %rd1, %rd5; st.global.u8 [%rd6], 1;",
     "w out+0..1021"},
    {"mov.u32 %r6, %tid.y; mad.wide.u32 %rd6, %r6, 4096, %rd1;"
     "st.global.v4.f32 [%rd6], {%f1, %f1, %f1, %f1};",
     "w out+0..4112"},
    /* loops */
    {"LOOP: setp.ge.s32 %p1, %r5, %r1; @%p1 bra END; mul.wide.s32 %rd5, %r5, 4;"
     "add.s64 %rd6, %rd1, %rd5; st.global.f32 [%rd6], %f1;"
     "add.s32 %r5, %r5, 256; bra LOOP; END:",
     "w out+0..400"},
    {"mov.u32 %r6, 0; mov.b64 %rd6, %rd1; LOOP: st.global.f32 [%rd6], %f1;"
     "add.s64 %rd6, %rd6, 4; add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r1;"
     "@%p1 bra LOOP;",
     "w out+0..404"},
    {"mov.u32 %r6, %r1; mov.b64 %rd6, %rd1; LOOP: st.global.f32 [%rd6], %f1;"
     "add.s64 %rd7, %rd6, 8; mov.b64 %rd6, %rd7; add.s32 %r6, %r6, -1;"
     "setp.ne.s32 %p1, %r6, 0; @%p1 bra LOOP;",
     "w out+0..804"},
    {"and.b32 %r6, %r1, -8; mov.b64 %rd6, %rd1; LOOP: setp.eq.s32 %p1, %r6, 0;"
     "@%p1 bra END; st.global.f32 [%rd6], %f1; add.s64 %rd6, %rd6, 32;"
     "sub.s32 %r6, %r6, 8; bra LOOP; END:",
     "w out+0..420"},
    {"mov.u64 %rd5, 0; OUTER: mov.b64 %rd6, %rd1; mov.u32 %r6, 0;"
     "INNER: st.global.f32 [%rd6], %f1; add.s64 %rd6, %rd6, 4;"
     "add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, 10; @%p1 bra INNER;"
     "add.s64 %rd5, %rd5, 1; setp.lt.s64 %p1, %rd5, %rd3; @%p1 bra OUTER;",
     "w out+0..44"},
    /* goes on where it was in the next round of the outer loop */
    {"mov.u64 %rd5, 0; mov.b64 %rd6, %rd1; OUTER: mov.u32 %r6, 0;"
     "INNER: st.global.f32 [%rd6], %f1; add.s64 %rd6, %rd6, 4;"
     "add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, 10; @%p1 bra INNER;"
     "add.s64 %rd5, %rd5, 1; setp.lt.s64 %p1, %rd5, %rd3; @%p1 bra OUTER;",
     "w out*"},
    /* counts past its end, or steps over it */
    {"mov.u32 %r6, 101; mov.b64 %rd6, %rd1; LOOP: st.global.u8 [%rd6], 1;"
     "add.s64 %rd6, %rd6, 1; add.s32 %r6, %r6, 2; setp.ne.s32 %p1, %r6, %r1;"
     "@%p1 bra LOOP;",
     "w out*"},
    {"mov.u32 %r6, 0; mov.b64 %rd6, %rd1; LOOP: st.global.u8 [%rd6], 1;"
     "add.s64 %rd6, %rd6, 1; ld.global.u32 %r7, [%rd2];"
     "add.s32 %r6, %r6, %r7; setp.lt.s32 %p1, %r6, %r1; @%p1 bra LOOP;",
     "w out* r in+0..4"},
    {"mov.u32 %r6, 0; mov.b64 %rd6, %rd1; LOOP: st.global.u8 [%rd6], 1;"
     "add.s64 %rd6, %rd6, 1; add.s32 %r6, %r6, 0x7fffffff;"
     "setp.lt.s32 %p1, %r6, %r1; @%p1 bra LOOP;",
     "w out*"},
    {"mov.u32 %r6, 0; mov.b64 %rd6, %rd1; LOOP: st.global.u8 [%rd6], 1;"
     "add.s64 %rd6, %rd6, 1; @%p2 add.s32 %r6, %r6, 1;"
     "setp.lt.s32 %p1, %r6, %r1; @%p1 bra LOOP;",
     "w out*"},
    {"mov.u32 %r6, 0; mov.b64 %rd6, %rd1; LOOP: st.global.u8 [%rd6], 1;"
     "add.s64 %rd6, %rd6, 1; add.s32 %r6, %r6, 1; @%p2 bra LOOP;"
     "setp.lt.s32 %p1, %r6, %r1; @%p1 bra LOOP;",
     "w out*"},
    /* numbers that wrap, or that nobody knows */
    {"mul.lo.s32 %r6, %r5, 0x10000000; mul.wide.s32 %rd5, %r6, 4;"
     "add.s64 %rd6, %rd1, %rd5; st.global.f32 [%rd6], %f1;",
     "w out-8589934592..8589934592"},
    {"sub.s32 %r6, %r5, 1; mul.wide.u32 %rd5, %r6, 4; add.s64 %rd6, %rd1, %rd5;"
     "st.global.u8 [%rd6], 1;",
     "w out+0..17179869181"},
    {"ld.global.u32 %r6, [%rd2]; rem.u32 %r7, %r6, 10; "
     "mul.wide.u32 %rd5, %r7, 4; add.s64 %rd6, %rd1, %rd5;"
     "st.global.u8 [%rd6], %r7;",
     "r in+0..4 w out+0..37"},
    {"ld.global.s8 %r6, [%rd2]; cvt.s64.s32 %rd5, %r6; add.s64 %rd6, %rd1, "
     "%rd5;"
     "st.global.u8 [%rd6], 1;",
     "r in+0..1 w out-128..256"},
    {"ld.global.u64 %rd5, [%rd2]; st.global.u64 [%rd1], %rd5;",
     "r in+0..8 w out+0..8"},
    {"mov.b64 {%r6, %r7}, %rd1; mov.b64 %rd5, {%r6, %r7};"
     "st.global.u64 [%rd5+8], %rd1;",
     "w out+8..16"},
    /* pointers with which more is done than adding to them */
    {"setp.lt.u64 %p1, %rd1, %rd2; @!%p1 bra END; st.global.u8 [%rd1], 1; END:",
     "w out+0..1"},
    {"setp.lt.u64 %p1, %rd2, %rd1; @!%p1 bra END; st.global.u8 [%rd1], 1; END:",
     ""},
    {"add.s64 %rd7, %rd1, 400; mov.b64 %rd6, %rd1; LOOP:"
     "st.global.f32 [%rd6], %f1; add.s64 %rd6, %rd6, 4;"
     "setp.lt.u64 %p1, %rd6, %rd7; @%p1 bra LOOP;",
     "w out+0..404"},
    {"and.b64 %rd6, %rd1, -256; st.global.u8 [%rd6+3], 1;", "w out+3..4"},
    {"shl.b64 %rd6, %rd1, 1; sub.s64 %rd7, %rd6, %rd1; st.global.u8 [%rd7], 1;",
     "w out+0..1"},
    {"cvt.u32.u64 %r6, %rd1; mul.wide.u32 %rd5, %r6, 1;"
     "add.s64 %rd6, %rd1, %rd5; st.global.u8 [%rd6+1], 1;",
     "w out+1..2"},
    {"sub.s64 %rd6, %rd2, %rd1; shr.u64 %rd8, %rd6, 32; add.s64 %rd7, %rd1, "
     "%rd8; st.global.u8 [%rd7], 1;",
     "w out+60..61"},
    {"selp.b64 %rd6, %rd1, %rd2, %p2; st.global.u8 [%rd6], 1;",
     "w out+0..257698037761"},
    {"mov.b64 %rd6, %rd1; @%p2 mov.b64 %rd6, %rd2; st.global.u8 [%rd6], 1;",
     "w out+0..257698037761"},
    {"mov.b64 %rd6, %rd2; LOOP: st.global.u8 [%rd1], 1; sub.s64 %rd6, %rd6, "
     "%rd1; setp.gt.s64 %p1, %rd6, %rd1; @%p1 bra LOOP;",
     "w out+0..1"},
};

START_TEST(launches_touch_ranges)
{
    const struct body *b = &launches[_i];
    const struct {
        uint64_t out, in, n;
        uint32_t i, pad;
        uint64_t s[2];
    } params = {access_case_base[OUT],
                access_case_base[IN],
                1000,
                100,
                0,
                {access_case_base[OUT], access_case_base[IN]}};
    const struct sc_geometry geometry = {.grid = {4, 1, 1},
                                         .block = {64, 2, 1}};
    struct sc_touched touched;
    char body[4096], text[512];
    snprintf(body, sizeof body, "%s%s", access_case_numbered, b->text);
    struct sc_program *program = access_case_read(body);
    struct sc_program_kernel *kernel = sc_program_kernel(program, "kernel");
    ck_assert_msg(kernel, "%s", b->text);
    ck_assert(sc_program_touched(kernel, &geometry, (const uint8_t *)&params,
                                 sizeof params, &touched));
    access_case_tell(sc_program_reach(kernel), &touched, text);
    ck_assert_msg(strcmp(text, b->written) == 0, "%s: '%s' and not '%s'",
                  b->text, text, b->written);
    sc_program_free(program);
}
END_TEST

/* ---- some blocks of a launch ---------------------------------------------- */

#define EACH_STORES                                                            \
    "mul.wide.s32 %rd5, %r5, 4; add.s64 %rd6, %rd1, %rd5;"                     \
    "st.global.f32 [%rd6], %f1;"
#define ROWS_OF_100                                                            \
    "mov.u32 %r6, %ctaid.y; mad.lo.s32 %r7, %r6, 100, %r5;"                    \
    "mul.wide.s32 %rd5, %r7, 4; add.s64 %rd6, %rd1, %rd5;"                     \
    "st.global.f32 [%rd6], %f1;"

static const struct access_part parts[] = {
    {EACH_STORES, {{4, 1, 1}, {64, 1, 1}, {0}, {0}}, "w out+0..1024"},
    {EACH_STORES, {{4, 1, 1}, {64, 1, 1}, {1}, {3}}, "w out+256..768"},
    {EACH_STORES, {{4, 1, 1}, {64, 1, 1}, {3}, {0}}, "w out+768..1024"},
    {EACH_STORES, {{4, 1, 1}, {64, 1, 1}, {3}, {9}}, "w out+768..1024"},
    /* none */
    {EACH_STORES, {{4, 1, 1}, {64, 1, 1}, {2}, {2}}, ""},
    {EACH_STORES, {{4, 1, 1}, {64, 1, 1}, {4}, {0}}, ""},
    {EACH_STORES, {{4, 1, 1}, {64, 1, 1}, {0, 1}, {0}}, ""},
    {EACH_STORES, {{4, 1, 1}, {64, 1, 1}, {UINT32_MAX}, {1}}, ""},
    /* in other dimensions */
    {ROWS_OF_100, {{1, 8, 1}, {4, 1, 1}, {0, 2}, {0, 5}}, "w out+800..1616"},
    {ROWS_OF_100, {{2, 8, 1}, {4, 1, 1}, {1, 7}, {0}}, "w out+2816..2832"},
    /* the size of the grid stays */
    {"mov.u32 %r6, %nctaid.x; mul.wide.u32 %rd5, %r6, 4;"
     "add.s64 %rd6, %rd1, %rd5; st.global.u32 [%rd6], 1;",
     {{4, 1, 1}, {64, 1, 1}, {1}, {2}},
     "w out+16..20"},
    /* the first block alone does it */
    {"setp.ne.u32 %p1, %r2, 0; @%p1 bra END; st.global.u32 [%rd1], 1; END:",
     {{4, 1, 1}, {64, 1, 1}, {1}, {0}},
     ""},
    {"setp.ne.u32 %p1, %r2, 0; @%p1 bra END; st.global.u32 [%rd1], 1; END:",
     {{4, 1, 1}, {64, 1, 1}, {0}, {1}},
     "w out+0..4"},
};

START_TEST(some_blocks_touch_their_part)
{
    access_case_check(&parts[_i]);
}
END_TEST

/* ---- launches one after the other ---------------------------------------- */

struct launch {
    struct {
        uint64_t out, in, n;
        uint32_t i, pad;
        uint64_t s[2];
    } params;
    struct sc_geometry geometry;
};

/* Not much differs from the launch before. */
static void change(struct launch *l)
{
    static const uint64_t pointers[] = {UINT64_C(4) << 32, UINT64_C(8) << 32,
                                        (UINT64_C(64) << 32) + 12};
    static const uint32_t numbers[] = {0, 1, 7, 100, 0x80000000, UINT32_MAX};
    uint64_t pointer = pointers[rand() % 3];
    uint32_t number = numbers[rand() % 6];
    switch (rand() % 10) {
    case 0:
        l->params.out = pointer;
        break;
    case 1:
        l->params.in = pointer;
        break;
    case 2:
        l->params.n = number;
        break;
    case 3:
        l->params.i = number;
        break;
    case 4:
        l->params.s[rand() % 2] = pointer;
        break;
    case 5:
        l->geometry.grid[rand() % 3] = 1 + rand() % 3;
        break;
    case 6:
        l->geometry.block[rand() % 3] = 1 + rand() % 3;
        break;
    case 7:
        l->geometry.from[rand() % 3] = rand() % 2;
        break;
    case 8:
        l->geometry.to[rand() % 3] = rand() % 4;
        break;
    default: /* the same */
        break;
    }
}

static void touch(struct sc_program *program, const struct launch *l, bool rows,
                  struct sc_touched *touched)
{
    struct sc_program_kernel *kernel = sc_program_kernel(program, "kernel");
    const uint8_t *params = (const uint8_t *)&l->params;
    size_t bytes = sizeof l->params;
    ck_assert(
        rows
            ? sc_program_rows(kernel, &l->geometry, params, bytes, touched)
            : sc_program_touched(kernel, &l->geometry, params, bytes, touched));
}

/* Is all that blocks touch in what all of their launch do? */
static bool is_within(const struct sc_touched *some,
                      const struct sc_touched *all)
{
    bool within = true;
    for (unsigned i = 0; i < some->count; i++) {
        const struct sc_range *x = &some->range[i];
        bool found = false;
        for (unsigned k = 0; k < all->count; k++) {
            const struct sc_range *y = &all->range[k];
            found |= x->places == y->places && x->reads <= y->reads &&
                     x->writes <= y->writes &&
                     (!y->known ||
                      (x->known && x->first >= y->first && x->last <= y->last));
        }
        within &= found;
    }
    return within;
}

static bool is_same(const struct sc_touched *a, const struct sc_touched *b)
{
    bool same = a->count == b->count;
    for (unsigned i = 0; same && i < a->count; i++) {
        const struct sc_range *x = &a->range[i], *y = &b->range[i];
        same = x->first == y->first && x->last == y->last &&
               x->places == y->places && x->reads == y->reads &&
               x->writes == y->writes && x->known == y->known &&
               x->row == y->row && x->stride_count == y->stride_count &&
               memcmp(x->stride, y->stride,
                      x->stride_count * sizeof *x->stride) == 0;
    }
    return same;
}

START_TEST(launches_touch_what_they_would_alone)
{
    char body[4096];
    struct sc_touched then, alone;
    struct launch l = {
        .params =
            {access_case_base[OUT], access_case_base[IN], 10, 10, 0, {1, 2}},
        .geometry = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
    srand(1 + (unsigned)_i);
    snprintf(body, sizeof body, "%s%s", access_case_numbered,
             launches[_i].text);
    struct sc_program *program = access_case_read(body);
    for (int round = 0; round < 100; round++) {
        struct sc_program *fresh = access_case_read(body);
        bool rows = round >= 50;
        touch(program, &l, rows, &then);
        touch(fresh, &l, rows, &alone);
        ck_assert_msg(is_same(&then, &alone), "%s: launch %d", body, round);
        sc_program_free(fresh);
        struct launch whole = l;
        memset(whole.geometry.from, 0, sizeof whole.geometry.from);
        memset(whole.geometry.to, 0, sizeof whole.geometry.to);
        touch(program, &whole, rows, &alone);
        ck_assert_msg(is_within(&then, &alone), "%s: blocks %d", body, round);
        change(&l);
    }
    sc_program_free(program);
}
END_TEST

START_TEST(places_lie_where_the_list_has_them)
{
    struct sc_program *program = access_case_read(
        "ld.param.u64 %rd8, [s+8]; st.u32 [%rd8], 1; st.u32 [%rd1], 1;");
    struct sc_program_kernel *kernel = sc_program_kernel(program, "kernel");
    const struct sc_reach *reach = sc_program_reach(kernel);
    struct sc_parameter list[8];
    ck_assert_uint_eq(reach->written, 1 | 1 << 3);
    ck_assert_uint_eq(reach->place[0].at, 0);
    ck_assert_uint_eq(reach->place[3].at, 40); /* 8 + 8 + 8 + 4, rounded, + 8 */
    ck_assert_int_eq(sc_program_parameters(program, "kernel", list, 8), 5);
    ck_assert_uint_eq(list[4].bytes, 16);
    ck_assert_uint_eq(list[4].offset, 32);
    sc_program_free(program);
}
END_TEST

START_TEST(other_text_is_refused)
{
    static const char *const texts[] = {
        "",
        " ",
        "// nothing",
        ".version 8.5 .target sm_90 .address_size 32 .entry k() { ret; }",
        ".entry k() { ret; }",
        "\177ELF",
        "{{{{",
        "\"",
        "/*"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sc_program *program = sc_program_new(texts[i], 90);
        for (int k = 0; program && k < 2; k++)
            ck_assert_ptr_null(sc_program_kernel(program, "k"));
        sc_program_free(program);
    }
}
END_TEST

static void look(const char *text)
{
    struct sc_program *program = sc_program_new(text, 90);
    sc_program_kernel(program, "kernel");
    sc_program_free(program);
}

/* Cut anywhere or with any byte another one. */
START_TEST(broken_text_is_survived)
{
    static const char signs[] = "{}[]();,.@%:\"/*|=-x0 ";
    char text[4096], broken[4096];
    unsigned state = 20261;
    snprintf(text, sizeof text, "%s%s\nret;\n}\n", access_case_head,
             bodies[_i].text);
    size_t length = strlen(text);
    for (size_t cut = 0; cut < length; cut += 7) {
        memcpy(broken, text, cut);
        broken[cut] = 0;
        look(broken);
    }
    for (int round = 0; round < 300; round++) {
        memcpy(broken, text, length + 1);
        for (int i = 0; i < 3; i++) {
            state = state * 1103515245 + 12345;
            broken[state / 7 % length] =
                signs[(state >> 24) % (sizeof signs - 1)];
        }
        look(broken);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("what PTX reaches");
    TCase *one = tcase_create("bodies");
    int count = sizeof bodies / sizeof *bodies;
    tcase_add_loop_test(one, stores_lead_to_parameters, 0, count);
    tcase_add_loop_test(one, variables_are_reached_by_name, 0,
                        sizeof of_module / sizeof *of_module);
    tcase_add_loop_test(one, loads_lead_to_parameters, 0,
                        sizeof readers / sizeof *readers);
    tcase_add_loop_test(one, launches_touch_ranges, 0,
                        sizeof launches / sizeof *launches);
    tcase_add_loop_test(one, some_blocks_touch_their_part, 0,
                        sizeof parts / sizeof *parts);
    tcase_add_loop_test(one, launches_touch_what_they_would_alone, 0,
                        sizeof launches / sizeof *launches);
    tcase_add_test(one, places_lie_where_the_list_has_them);
    tcase_add_test(one, other_text_is_refused);
    tcase_add_loop_test(one, broken_text_is_survived, 0, count);
    suite_add_tcase(suite, one);
    return suite_finish(suite);
}
