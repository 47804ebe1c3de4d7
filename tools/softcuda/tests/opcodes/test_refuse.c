/*
 * Texts the loader must refuse, each with the number of its line and the
 * offending text in the log, and none with a crash or a silent success.
 *
 * The first list is no PTX at all, the second is PTX beyond this machine;
 * which of the two statuses comes back is not distinguished where a reader
 * could see it either way.
 */
#include "common/suite.h"

#include <string.h>

#include "machine.h"
#include "text.h"

/* The statement is on line BODY_LINE. */
enum { BODY_LINE = 14 };

static const char head[] = MACHINE_HEAD
    ".visible .entry good(.param .u64 p)\n{\nret;\n}\n"
    ".visible .entry k(.param .u64 p)\n{\n"
    ".reg .b64 %l<4>;\n.reg .b32 %s<8>;\n.reg .b16 %h<4>; .reg .pred %q<4>;\n"
    "HERE:\n";

struct refusal {
    const char *statement;
    const char *named; /* must appear in the log; NULL: the line is enough */
};

static const struct refusal malformed[] = {
    {"foo.s32 %s0,%s1;", "foo"},
    {"addd.s32 %s0,%s1,%s2;", "addd"},
    {"add.q32 %s0,%s1,%s2;", "q32"},
    {"add.s8 %h0,%h1,%h2;", "add"},
    {"add.rn.s32 %s0,%s1,%s2;", "add"},
    {"add.sat.u32 %s0,%s1,%s2;", "add"},
    {"add.rn.rz.f32 %s0,%s1,%s2;", "add"},
    {"add.ftz.f64 %l0,%l1,%l2;", "add"},
    {"mul.s32 %s0,%s1,%s2;", "mul"},
    {"add.rz.f16 %h0,%h1,%h2;", "add"},
    {"add.relu.f32 %s0,%s1,%s2;", "add"},
    {"min.sat.f32 %s0,%s1,%s2;", "min"},
    {"sin.rn.f32 %s0,%s1;", "sin"},
    {"fma.rn.sat.relu.f16 %h0,%h1,%h2,%h3;", "fma"},
    {"cvt.rn.f32.f16 %s0,%h1;", "cvt"},
    {"cvt.rn.sat.bf16.f32 %h0,%s1;", "cvt"},
    {"cvt.rz.f16x2.s32 %s0,%s1,%s2;", "cvt"},
    {"set.eq.u16.s32 %h0,%s1,%s2;", "set"},
    {"slct.ftz.u32.s32 %s0,%s1,%s2,%s3;", "slct"},
    {"mul.wide.s64 %l0,%l1,%l2;", "mul"},
    {"fma.f32 %s0,%s1,%s2,%s3;", "fma"},
    {"div.f64 %l0,%l1,%l2;", "div"},
    {"shl.s32 %s0,%s1,%s2;", "shl"},
    {"and.s32 %s0,%s1,%s2;", "and"},
    {"popc.u32 %s0,%s1;", "popc"},
    {"setp.lo.s32 %q0,%s1,%s2;", "setp"},
    {"setp.like.s32 %q0,%s1,%s2;", "setp"},
    {"setp.ltu.u32 %q0,%s1,%s2;", "setp"},
    {"setp.lt.b32 %q0,%s1,%s2;", "setp"},
    {"cvt.s32.f32 %s0,%s1;", "cvt"},
    {"cvt.f32.s32 %s0,%s1;", "cvt"},
    {"cvt.rn.s32.f32 %s0,%s1;", "cvt"},
    {"cvt.rni.f32.s32 %s0,%s1;", "cvt"},
    {"add.s32 %s0,%s1;", "add"},
    {"add.s32 %s0,%s1,%s2,%s3;", "add"},
    {"add.s32 %s0,%s1,%l2;", NULL},
    {"add.s64 %s0,%l1,%l2;", NULL},
    {"add.s32 %s0,%q1,%s2;", NULL},
    {"setp.eq.s32 %s0,%s1,%s2;", NULL},
    {"@%s0 add.s32 %s0,%s1,%s2;", NULL},
    {"add.s32 %s0,%s1,%nowhere;", "nowhere"},
    {"add.s32 5,%s1,%s2;", NULL},
    {"mov.u32 %s0,unknown_symbol;", "unknown_symbol"},
    {"bra NOWHERE;", "NOWHERE"},
    {"HERE: ret;", "HERE"},
    {"ld.global.v3.u32 {%s0,%s1,%s2},[%l0];", NULL},
    {"ld.global.v2.u32 {%s0,%s1,%s2},[%l0];", "ld"},
    {"ld.global.v2.u32 %s0,[%l0];", "ld"},
    {"ld.global.u64 %s0,[%l0];", "ld"},
    {"ld.global.u32 %s0,%l0;", "ld"},
    {"ld.nowhere.u32 %s0,[%l0];", "nowhere"},
    {"st.const.u32 [%l0],%s0;", "st"},
    {"atom.global.sub.u32 %s0,[%l0],%s1;", "atom"},
    {"atom.global.add.s64 %l1,[%l0],%l2;", "atom"},
    {"red.global.exch.b32 [%l0],%s1;", "red"},
    {"lop3.b32 %s0,%s1,%s2,%s3,%s4;", "lop3"},
    {"shf.l.b32 %s0,%s1,%s2,%s3;", "shf"},
    {"bar.sync;", "bar"},
    {"tex.1d.v4.f32.f32 {%s0,%s1,%s2},[%l0,{%s4}];", "tex"},
    {"tex.2d.v4.f32.f32 {%s0,%s1,%s2,%s3},[%l0,{%s4}];", "tex"},
    {"tex.2d.v4.f32.f32 {%s0,%s1,%s2,%s3},[%l0];", "tex"},
    {"tex.2d.v4.f32.f32 {%s0,%s1,%s2,%s3},[%s0,{%s4,%s5}];", "tex"},
    {"suld.b.1d.b32 {%s0},[%l0,{%s1}];", "suld"},
    {"suld.b.1d.v4.b64.trap {%l0,%l1,%l2,%l3},[%l0,{%s1}];", "suld"},
    {"txq.b32 %s0,[%l0];", "txq"},
    {"cp.async.ca.shared.global [%s0],[%l0],12;", "cp"},
    {"cp.async.cg.shared.global [%s0],[%l0],8;", "cp"},
    {"cp.async.shared.global [%s0],[%l0],16;", "cp"},
    {"cp.async.ca.shared.global [%s0],[%s1],4;", "cp"},
    {"alloca.u64 %l0,%l1,3;", "alloca"},
    {"vote.ballot.b32 %s0,%q1;", "wants .sync and a mask of lanes in 'vote"},
    {"vote.all.pred %q0,%q1;", "wants .sync and a mask of lanes in 'vote"},
    {"shfl.up.b32 %s0,%s1,3,0;", "wants .sync and a mask of lanes in 'shfl"},
    {"vadd.s32.s32 %s0,%s1,%s2;", "vadd"},
    {"vadd.s32.s32.s32 %s0,%s1,%s2,%s3;", "vadd"},
    {"vadd.s32.s32.s32.add %s0.b0,%s1,%s2,%s3;", "vadd"},
    {"vadd.s32.s32.s32 %s0,%s1.b4,%s2;", "vadd"},
    {"vadd.s32.s32.s32 %s0,%s1.h10,%s2;", "vadd"},
    {"vadd2.s32.s32.s32 %s0,%s1.b10,%s2,%s3;", "vadd2"},
    {"vadd2.s32.s32.s32 %s0.h01,%s1,%s2,%s3;", "vadd2"},
    {"vadd4.s32.s32.s32 %s0,%s1.b10,%s2,%s3;", "vadd4"},
    {"vadd4.s32.s32.s32.sat.add %s0,%s1,%s2,%s3;", "vadd4"},
    {"vadd4.s32.s32.s32 %s0,%s1,%s2;", "vadd4"},
    {"vset.s32.s32 %s0,%s1,%s2;", "vset"},
    {"vshl.u32.u32.u32 %s0,%s1,%s2;", "vshl"},
    {"add.s32 %s0,%s1.b0,%s2;", NULL},
    {"add.s32 %s0 %s1,%s2;", NULL},
    {"add.s32 %s0,%s1,;", NULL},
    {"add.s32 %s0,%s1,0x;", NULL},
    {"mov.f32 %s0,0f3F8;", NULL},
    {"mov.b64 %l0,{%s0,%s1,%s2};", NULL},
    {".reg .b32 %s<2>;", NULL},
    {".reg .b33 %z;", "b33"},
    {"$ 12;", NULL},
};

/* Correct PTX that only has to be named when it is refused. */
static const struct refusal beyond[] = {
    {"wgmma.fence.sync.aligned;", "no tensor cores for 'wgmma.fence"},
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%s0},[%l0];",
     "no tensor cores for 'wmma.load"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
     "{%s0},{%s1},{%s2},{%s3};",
     "no tensor cores for 'mma.sync"},
    {"tex.2dms.v4.f32.s32 {%s0,%s1,%s2,%s3},[%l0,{%s4,%s4,%s4,%s4}];", "tex"},
    {"tex.2d.v4.f32.f32 {%s0,%s1,%s2,%s3},[%l0,%l1,{%s4,%s5}];", "tex"},
    {"tex.2d.v4.f32.f32 {%s0,%s1,%s2,%s3},[%l0,{%s4,%s5}],%s6;", "tex"},
    {"sust.p.1d.b32.trap [%l0,{%s0}],{%s1};", "sust"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%s0},[%s1];",
     "no tensor cores for 'ldmatrix"},
    {"cp.async.bulk.commit_group;", "no bulk copy (TMA) for 'cp.async.bulk"},
    {"@%q0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
     "[%s0],[%l0],16,[%s1];",
     "no bulk copy (TMA) for '@%q0 cp.async.bulk.shared"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
     "complete_tx::bytes [%s0],[%l0,{%s1,%s2}],[%s3];",
     "no bulk copy (TMA) for 'cp.async.bulk.tensor"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
     "[%l0],[%s0],16;",
     "no bulk copy (TMA) for 'cp.reduce.async.bulk"},
    {"alloca.u32 %s0,%s1,8;", "alloca"},
    {"cp.async.mbarrier.shared.b64 [%s0];", "cp.async.mbarrier"},
    {"mbarrier.shared.b64 [%s0];", "mbarrier"},
    {"barrier.cluster.arrive.aligned;", "clusters have no barriers"},
    {"barrier.cluster.wait.aligned;", "clusters have no barriers"},
    {"mbarrier.init.shared.b32 [%s0],1;", "mbarrier"},
    {"mbarrier.init.global.b64 [%l0],1;", "mbarrier"},
    {"mbarrier.test_wait.shared.b64 %q0,[%s0],%s1;", "mbarrier"},
    {"vmad.s32.s32.s32 %s0,%s1,%s2,%s3;", "vmad"},
    {"tcgen05.wait::ld.sync.aligned;", "tcgen05"},
};

/* Whether `ptx` is refused with the line (0: any) and the text in the log. */
static bool is_refused(const char *ptx, unsigned line, const char *named)
{
    char log[512] = "", number[32];
    struct sc_module *module = NULL;
    enum sc_exec_status status = machine_load(&module, ptx, log, sizeof log);
    bool refused =
        status == SC_EXEC_INVALID_PTX || status == SC_EXEC_UNSUPPORTED;
    snprintf(number, sizeof number, "line %u:", line);
    bool explained = log[0] && (!line || strstr(log, number)) &&
                     (!named || strstr(log, named));
    if (refused && explained && !module)
        return true;
    printf("%s\n    %s: \"%s\"\n", ptx,
           refused ? "refused without line or text" : "accepted", log);
    fflush(stdout);
    sc_module_unload(module);
    return false;
}

static size_t count_accepted(const struct refusal *list, size_t n)
{
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        struct text *t = text_begin();
        text_put(t, "%s%s\nret;\n}\n", head, list[i].statement);
        wrong += !is_refused(t->buffer, BODY_LINE, list[i].named);
    }
    return wrong;
}

START_TEST(malformed_instructions_are_refused_by_line)
{
    machine_open();
    ck_assert_uint_eq(
        count_accepted(malformed, sizeof malformed / sizeof *malformed), 0);
    machine_close();
}
END_TEST

START_TEST(instructions_beyond_the_machine_are_refused_by_name)
{
    machine_open();
    ck_assert_uint_eq(count_accepted(beyond, sizeof beyond / sizeof *beyond),
                      0);
    machine_close();
}
END_TEST

START_TEST(malformed_modules_are_refused)
{
    static const struct {
        const char *ptx;
        unsigned line; /* 0: any */
        const char *named;
    } modules[] = {
        {"", 0, NULL},
        {"hello world\n", 1, NULL},
        {".target sm_90\n.address_size 64\n", 1, ".version"},
        {".version 8.5\n.visible .entry k()\n{\nret;\n}\n", 0, ".target"},
        {".version 8.5\n.target sm_120\n.address_size 64\n", 0, "sm_120"},
        {".version 1.4\n.target sm_13\n", 2, "one of PTX 1.x"},
        {".version 1.4\n.target sm_10, map_f64_to_f32\n", 2, "one of PTX 1.x"},
        {".version 8.5\n.target sm_nine\n", 0, "target"},
        {".version 8.5\n.target sm_90\n.address_size 32\n", 3, NULL},
        {MACHINE_HEAD "/* never closed\n", 0, NULL},
        {MACHINE_HEAD ".visible .entry k()\n{\nret;\n", 0, NULL},
        {MACHINE_HEAD ".visible .entry k()\n{\nret;\n}\n}\n", 8, NULL},
        {MACHINE_HEAD ".visible .entry k()\n{\nret;\n}\n"
                      ".visible .entry k()\n{\nret;\n}\n",
         8, "k"},
        {MACHINE_HEAD ".global .u32 a;\n.global .u32 a;\n", 5, "a"},
        {MACHINE_HEAD ".global .u32 a[2] = {1,2,3};\n", 4, NULL},
        {MACHINE_HEAD ".global .nothing a;\n", 4, "nothing"},
        {MACHINE_HEAD ".global .align 3 .u32 a;\n", 4, NULL},
        {MACHINE_HEAD ".global .u64 a = missing;\n", 4, "missing"},
        {MACHINE_HEAD ".strange 4\n", 4, "strange"},
        {MACHINE_HEAD ".visible .entry k(.param .u64 p,)\n{\nret;\n}\n", 4,
         NULL},
        {MACHINE_HEAD ".visible .entry k(.param .u64 p, .param .u64 p)\n"
                      "{\nret;\n}\n",
         4, "p"},
        {MACHINE_HEAD ".visible .entry k()\n{\n"
                      ".shared .b8 big[400000];\nret;\n}\n",
         0, NULL},
    };
    machine_open();
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        wrong += !is_refused(modules[i].ptx, modules[i].line, modules[i].named);
    ck_assert_uint_eq(wrong, 0);
    machine_close();
}
END_TEST

START_TEST(calls_out_of_the_module_are_refused_by_name)
{
    static const char ptx[] = MACHINE_HEAD
        ".extern .func (.param .b32 r) elsewhere (.param .b32 x);\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %s<2>;\n{\n"
        ".param .b32 a;\n.param .b32 r;\nst.param.b32 [a],%s0;\n"
        "call.uni (r), elsewhere, (a);\nld.param.b32 %s1,[r];\n}\nret;\n}\n";
    machine_open();
    ck_assert(is_refused(ptx, 0, "elsewhere"));
    machine_close();
}
END_TEST

/* Every prefix of a module is refused or loaded, never worse. */
START_TEST(truncated_modules_do_no_harm)
{
    struct text *t = text_begin();
    machine_open();
    text_put(t, "%s%s", head,
             "mad.wide.u32 %l0,%s0,4,%l1;\n@!%q1 ld.global.v2.f32 "
             "{%s0,%s1},[%l0+16];\nmov.b64 %l2,0d3FF0000000000000;\n"
             "setp.lt.and.f32 %q0|%q1,%s0,0f3F800000,!%q2; // end\nret;\n}\n");
    for (unsigned n = 0; n < t->length; n++) {
        char log[256];
        struct sc_module *module = NULL;
        enum sc_exec_status status = sc_module_load(
            &module, t->buffer, n, machine_space(), log, sizeof log);
        ck_assert(status == SC_EXEC_OK || status == SC_EXEC_INVALID_PTX ||
                  status == SC_EXEC_UNSUPPORTED);
        ck_assert((status == SC_EXEC_OK) == (module != NULL));
        sc_module_unload(module);
    }
    machine_close();
}
END_TEST

START_TEST(bad_launches_are_refused)
{
    static const char ptx[] = MACHINE_HEAD
        ".visible .entry k(.param .u64 p)\n.reqntid 32\n{\nret;\n}\n";
    machine_open();
    char log[256];
    struct sc_module *module;
    uint64_t argument = 0;
    ck_assert_int_eq(machine_load(&module, ptx, log, sizeof log), SC_EXEC_OK);
    ck_assert_uint_eq(sc_module_kernel(module, 0)->required_block[0], 32);
    const struct sc_launch good = {.grid = {1, 1, 1},
                                   .block = {32, 1, 1},
                                   .params = &argument,
                                   .param_bytes = 8};
    ck_assert_int_eq(sc_kernel_launch(module, 0, &good, NULL), SC_EXEC_OK);
    struct sc_launch bad[6];
    for (int i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].grid[1] = 0;
    bad[1].block[0] = 33;
    bad[2].block[2] = 2000;
    bad[3].param_bytes = 4;
    bad[4].dynamic_shared_bytes = 1 << 20;
    bad[5].grid[2] = 70000;
    for (int i = 0; i < 6; i++)
        ck_assert_msg(sc_kernel_launch(module, 0, &bad[i], NULL) ==
                          SC_EXEC_BAD_LAUNCH,
                      "launch %d was accepted", i);
    ck_assert_int_eq(sc_kernel_launch(module, 1, &good, NULL),
                     SC_EXEC_BAD_LAUNCH);
    sc_module_unload(module);
    machine_close();
}
END_TEST

SUITE_MAIN("softcuda refusals", 30, malformed_instructions_are_refused_by_line,
           instructions_beyond_the_machine_are_refused_by_name,
           malformed_modules_are_refused,
           calls_out_of_the_module_are_refused_by_name,
           truncated_modules_do_no_harm, bad_launches_are_refused)
