/*
 * Small kernels run and checked: divergence, barriers, memory spaces,
 * atomics, locks, and every way a launch can die.
 */
#include "common/suite.h"
#include "device.h"

#include <string.h>

#define ENTRY(params, body)                                                    \
    PTX_HEAD ".visible .entry k(" params ")\n{\n"                              \
             ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n"      \
             ".reg .f32 %f<8>;\n.reg .b16 %h<8>;\n" body "}\n"
#define OUT ".param .u64 out"
/* %rd1 = &out[tid], %r1 = tid, %r2 = global index */
#define PROLOGUE                                                               \
    "ld.param.u64 %rd2, [out];\ncvta.to.global.u64 %rd3, %rd2;\n"              \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\n"    \
    "mad.lo.s32 %r2, %r3, %r4, %r1;\nmul.wide.u32 %rd4, %r2, 4;\n"             \
    "add.s64 %rd1, %rd3, %rd4;\n"

static uint32_t *run(const char *ptx, uint32_t blocks, uint32_t threads)
{
    struct sc_module *module = device_load(ptx);
    uint32_t *out = device_alloc((size_t)blocks * threads * 4);
    struct sc_exec_fault fault;
    enum sc_exec_status status =
        device_launch(module, blocks, threads, &out, sizeof out, &fault);
    ck_assert_msg(status == SC_EXEC_OK, "launch: %s", fault.text);
    sc_module_unload(module);
    return out;
}

static enum sc_exec_status run_bad(const char *ptx, uint32_t threads,
                                   uint64_t param, struct sc_exec_fault *fault)
{
    struct sc_module *module = device_load(ptx);
    enum sc_exec_status status =
        device_launch(module, 2, threads, &param, sizeof param, fault);
    ck_assert_str_eq(sc_module_kernel(module, 0)->name, "k");
    sc_module_unload(module);
    return status;
}

START_TEST(divergent_trip_counts_each_lane_counts_its_own)
{
    uint32_t *out = run(ENTRY(OUT, PROLOGUE "mov.u32 %r5, 0;\n"
                                            "and.b32 %r6, %r2, 63;\n"
                                            "LOOP:\n"
                                            "setp.ge.u32 %p1, %r5, %r6;\n"
                                            "@%p1 bra DONE;\n"
                                            "add.u32 %r5, %r5, 1;\n"
                                            "bra LOOP;\n"
                                            "DONE:\n"
                                            "st.global.u32 [%rd1], %r5;\n"
                                            "ret;\n"),
                        3, 300);
    for (uint32_t i = 0; i < 900; i++)
        ck_assert_uint_eq(out[i], i & 63);
}
END_TEST

START_TEST(nested_branches_reconverge_before_a_vote)
{
    /* Lanes part four ways and meet; activemask then holds a whole warp. */
    uint32_t *out =
        run(ENTRY(OUT, PROLOGUE "and.b32 %r5, %r1, 1;\n"
                                "and.b32 %r6, %r1, 2;\n"
                                "setp.eq.u32 %p1, %r5, 0;\n"
                                "setp.eq.u32 %p2, %r6, 0;\n"
                                "mov.u32 %r7, 0;\n"
                                "@%p1 bra A;\n"
                                "@%p2 bra B;\n"
                                "add.u32 %r7, %r7, 1;\n"
                                "bra MEET;\n"
                                "A:\n@%p2 bra C;\n"
                                "add.u32 %r7, %r7, 2;\n"
                                "bra MEET;\n"
                                "B:\nadd.u32 %r7, %r7, 4;\nbra MEET;\n"
                                "C:\nadd.u32 %r7, %r7, 8;\n"
                                "MEET:\nactivemask.b32 %r8;\n"
                                "setp.eq.u32 %p3, %r8, -1;\n"
                                "@%p3 add.u32 %r7, %r7, 100;\n"
                                "st.global.u32 [%rd1], %r7;\n"
                                "ret;\n"),
            1, 64);
    static const uint32_t want[4] = {108, 104, 102, 101};
    for (uint32_t i = 0; i < 64; i++)
        ck_assert_uint_eq(out[i], want[i & 3]);
}
END_TEST

START_TEST(out_of_line_block_rejoins_the_main_path)
{
    /* SLOW stands behind ret in the text; the layout must bring it forward */
    uint32_t *out = run(ENTRY(OUT, PROLOGUE "mov.u32 %r5, 1;\n"
                                            "setp.lt.u32 %p1, %r1, 7;\n"
                                            "@%p1 bra SLOW;\n"
                                            "BACK:\n"
                                            "activemask.b32 %r6;\n"
                                            "popc.b32 %r6, %r6;\n"
                                            "mad.lo.u32 %r7, %r6, 10, %r5;\n"
                                            "st.global.u32 [%rd1], %r7;\n"
                                            "ret;\n"
                                            "SLOW:\n"
                                            "mov.u32 %r5, 2;\n"
                                            "bra BACK;\n"),
                        1, 32);
    for (uint32_t i = 0; i < 32; i++)
        ck_assert_uint_eq(out[i], 320u + (i < 7 ? 2 : 1));
}
END_TEST

START_TEST(shared_memory_with_barrier_reverses_a_block)
{
    uint32_t *out = run(ENTRY(OUT, ".shared .align 4 .b8 tile[4096];\n" PROLOGUE
                                   "mov.u32 %r5, tile;\n"
                                   "shl.b32 %r6, %r1, 2;\n"
                                   "add.u32 %r7, %r5, %r6;\n"
                                   "st.shared.u32 [%r7], %r1;\n"
                                   "bar.sync 0;\n"
                                   "sub.u32 %r8, %r4, %r1;\n"
                                   "shl.b32 %r8, %r8, 2;\n"
                                   "add.u32 %r8, %r5, %r8;\n"
                                   "ld.shared.u32 %r9, [%r8+-4];\n"
                                   "st.global.u32 [%rd1], %r9;\n"
                                   "ret;\n"),
                        2, 1000);
    for (uint32_t i = 0; i < 2000; i++)
        ck_assert_uint_eq(out[i], 999 - i % 1000);
}
END_TEST

START_TEST(barrier_in_divergent_code_counts_every_lane)
{
    /* Even and odd lanes reach different bar.sync of the same barrier, and
     * the last lanes leave without one. */
    uint32_t *out =
        run(ENTRY(OUT, ".shared .u32 sum;\n" PROLOGUE "mov.u32 %r10, sum;\n"
                       "setp.ne.u32 %p1, %r1, 0;\n"
                       "@!%p1 st.shared.u32 [%r10], 0;\n"
                       "bar.sync 0;\n"
                       "setp.gt.u32 %p2, %r1, 289;\n"
                       "@%p2 ret;\n"
                       "and.b32 %r5, %r1, 1;\n"
                       "setp.eq.u32 %p3, %r5, 0;\n"
                       "@%p3 bra EVEN;\n"
                       "red.shared.add.u32 [%r10], 1;\n"
                       "bar.sync 0;\nbra AFTER;\n"
                       "EVEN:\nred.shared.add.u32 [%r10], 1000;\n"
                       "bar.sync 0;\n"
                       "AFTER:\nld.shared.u32 %r6, [%r10];\n"
                       "st.global.u32 [%rd1], %r6;\nret;\n"),
            1, 300);
    for (uint32_t i = 0; i < 290; i++)
        ck_assert_uint_eq(out[i], 145 * 1000 + 145);
    ck_assert_uint_eq(out[299], 0);
}
END_TEST

START_TEST(barrier_reductions_agree_over_strips)
{
    uint32_t *out =
        run(ENTRY(OUT, PROLOGUE "setp.lt.u32 %p1, %r1, 301;\n"
                                "bar.red.popc.u32 %r5, 0, %p1;\n"
                                "bar.red.and.pred %p2, 1, %p1;\n"
                                "bar.red.or.pred %p3, 2, !%p1;\n"
                                "selp.u32 %r6, 1000, 0, %p2;\n"
                                "selp.u32 %r7, 2000, 0, %p3;\n"
                                "add.u32 %r5, %r5, %r6;\n"
                                "add.u32 %r5, %r5, %r7;\n"
                                "st.global.u32 [%rd1], %r5;\nret;\n"),
            1, 512);
    for (uint32_t i = 0; i < 512; i++)
        ck_assert_uint_eq(out[i], 2301);
}
END_TEST

START_TEST(vector_loads_and_local_arrays_keep_components)
{
    uint32_t *out =
        run(ENTRY(OUT, ".local .align 16 .b8 depot[64];\n" PROLOGUE
                       "mov.u64 %rd5, depot;\ncvta.local.u64 %rd6, %rd5;\n"
                       "add.u32 %r10, %r1, 1;\nadd.u32 %r11, %r1, 2;\n"
                       "add.u32 %r12, %r1, 3;\n"
                       "st.local.v4.u32 [%rd5+16], {%r1, %r10, %r11, %r12};\n"
                       "and.b32 %r13, %r1, 3;\nmul.wide.u32 %rd7, %r13, 4;\n"
                       "add.s64 %rd8, %rd6, %rd7;\n"
                       "ld.u32 %r14, [%rd8+16];\n"
                       "ld.local.v2.u32 {%r15, _}, [%rd5+24];\n"
                       "mad.lo.u32 %r16, %r15, 1000, %r14;\n"
                       "st.global.u32 [%rd1], %r16;\nret;\n"),
            1, 70);
    for (uint32_t i = 0; i < 70; i++)
        ck_assert_uint_eq(out[i], (i + 2) * 1000 + i + (i & 3));
}
END_TEST

START_TEST(constants_and_pointers_are_initialised)
{
    uint32_t *out =
        run(PTX_HEAD ".const .align 4 .u32 table[2][2] = {{10, 20}, {30}};\n"
                     ".global .align 8 .u64 where = generic(table)+8;\n"
                     ".global .f32 half = 0f3F000000;\n"
                     ".visible .entry k(.param .u64 out)\n{\n"
                     ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<3>;\n"
                     "ld.param.u64 %rd1, [out];\n"
                     "ld.global.u64 %rd2, [where];\n"
                     "ld.u32 %r1, [%rd2];\n"
                     "ld.const.u32 %r2, [table+4];\n"
                     "ld.global.f32 %f1, [half];\n"
                     "mul.f32 %f1, %f1, 0f41000000;\n"
                     "cvt.rzi.u32.f32 %r3, %f1;\n"
                     "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\n"
                     "st.global.u32 [%rd1], %r1;\nret;\n}\n",
            1, 1);
    ck_assert_uint_eq(out[0], 54);
}
END_TEST

START_TEST(atomics_from_all_workers_lose_nothing)
{
    struct sc_module *module =
        device_load(ENTRY(OUT, "ld.param.u64 %rd1, [out];\n"
                               "mov.u32 %r1, %tid.x;\n"
                               "atom.global.add.u32 %r2, [%rd1], 1;\n"
                               "red.global.add.f32 [%rd1+4], 0f3F800000;\n"
                               "atom.global.inc.u32 %r3, [%rd1+8], 9;\n"
                               "red.global.max.s32 [%rd1+12], %r1;\n"
                               "red.global.min.s32 [%rd1+16], %r1;\n"
                               "atom.add.u64 %rd2, [%rd1+24], 3;\n"
                               "ret;\n"));
    uint32_t *out = device_alloc(64);
    out[4] = 5;
    struct sc_exec_fault fault;
    ck_assert_int_eq(device_launch(module, 2000, 500, &out, 8, &fault), 0);
    float sum;
    uint64_t wide;
    memcpy(&sum, &out[1], 4);
    memcpy(&wide, &out[6], 8);
    ck_assert_uint_eq(out[0], 1000000);
    ck_assert(sum == 1000000.0f);
    ck_assert_uint_eq(out[2], 0);
    ck_assert_uint_eq(out[3], 499);
    ck_assert_uint_eq(out[4], 0);
    ck_assert_uint_eq(wide, 3000000);
    sc_module_unload(module);
}
END_TEST

/* One block writes equal components, another counts unequal ones. */
START_TEST(vectors_that_are_watched_move_at_once)
{
    enum { LANES = 32 };
    struct sc_module *module = device_load(
        ENTRY(OUT, "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"
                   "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n"
                   "mul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd2, %rd1, %rd2;\n"
                   "mul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd3, %rd1, %rd3;\n"
                   "setp.ne.u32 %p1, %r2, 0;\n"
                   "LOOP:\nadd.u32 %r3, %r3, 1;\n@%p1 bra LOOK;\n"
                   "st.relaxed.gpu.v4.u32 [%rd2], {%r3,%r3,%r3,%r3};\n"
                   "st.relaxed.gpu.v2.u32 [%rd3+512], {%r3,%r3};\nbra NEXT;\n"
                   "LOOK:\nld.relaxed.gpu.v4.u32 {%r5,%r6,%r7,%r8}, [%rd2];\n"
                   "ld.relaxed.gpu.v2.u32 {%r9,%r10}, [%rd3+512];\n"
                   "xor.b32 %r5, %r5, %r8;\nxor.b32 %r6, %r6, %r7;\n"
                   "xor.b32 %r9, %r9, %r10;\nor.b32 %r5, %r5, %r6;\n"
                   "or.b32 %r5, %r5, %r9;\nsetp.ne.u32 %p2, %r5, 0;\n"
                   "@%p2 add.u32 %r4, %r4, 1;\n"
                   "NEXT:\nsetp.lt.u32 %p3, %r3, 20000;\n@%p3 bra LOOP;\n"
                   "red.global.add.u32 [%rd1+768], %r4;\nret;\n"));
    uint32_t *out = device_alloc(1024);
    struct sc_exec_fault fault;
    ck_assert_int_eq(device_launch(module, 2, LANES, &out, 8, &fault), 0);
    ck_assert_uint_eq(out[0], 20000);
    ck_assert_uint_eq(out[768 / 4], 0);
    sc_module_unload(module);
}
END_TEST

START_TEST(spin_lock_between_lanes_of_a_warp_makes_progress)
{
    struct sc_module *module = device_load(
        ENTRY(OUT, "ld.param.u64 %rd1, [out];\n"
                   "AGAIN:\natom.global.cas.b32 %r1, [%rd1], 0, 1;\n"
                   "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra AGAIN;\n"
                   "ld.volatile.global.u32 %r2, [%rd1+4];\n"
                   "add.u32 %r2, %r2, 1;\n"
                   "st.volatile.global.u32 [%rd1+4], %r2;\n"
                   "membar.gl;\n"
                   "atom.global.exch.b32 %r3, [%rd1], 0;\nret;\n"));
    uint32_t *out = device_alloc(64);
    struct sc_exec_fault fault;
    ck_assert_int_eq(device_launch(module, 4, 288, &out, 8, &fault), 0);
    ck_assert_uint_eq(out[1], 4 * 288);
    sc_module_unload(module);
}
END_TEST

START_TEST(shuffles_wait_for_lanes_that_come_later)
{
    /* Odd lanes take a longer way to the same kind of instruction. */
    uint32_t *out =
        run(ENTRY(OUT, PROLOGUE "and.b32 %r5, %r1, 1;\n"
                                "setp.eq.u32 %p1, %r5, 0;\n"
                                "mov.u32 %r6, %r1;\n"
                                "@%p1 bra SHORT;\n"
                                "add.u32 %r6, %r6, 100;\n"
                                "SHORT:\n"
                                "shfl.sync.bfly.b32 %r7|%p2, %r6, 1, 31, -1;\n"
                                "@!%p2 mov.u32 %r7, 0;\n"
                                "vote.sync.ballot.b32 %r8, %p1, -1;\n"
                                "popc.b32 %r8, %r8;\n"
                                "mad.lo.u32 %r7, %r8, 1000, %r7;\n"
                                "st.global.u32 [%rd1], %r7;\nret;\n"),
            1, 64);
    for (uint32_t i = 0; i < 64; i++)
        ck_assert_uint_eq(out[i], 16000 + (i ^ 1) + (i & 1 ? 0 : 100));
}
END_TEST

START_TEST(indexed_branch_goes_through_its_table)
{
    uint32_t *out =
        run(ENTRY(OUT, PROLOGUE "and.b32 %r5, %r1, 3;\nmov.u32 %r6, 9;\n"
                                "setp.eq.u32 %p1, %r5, 3;\n@%p1 bra END;\n"
                                "TABLE: .branchtargets L0, L1, L2;\n"
                                "brx.idx %r5, TABLE;\n"
                                "L0:\nmov.u32 %r6, 5;\nbra END;\n"
                                "L1:\nmov.u32 %r6, 6;\nbra END;\n"
                                "L2:\nmov.u32 %r6, 7;\n"
                                "END:\nst.global.u32 [%rd1], %r6;\nret;\n"),
            1, 40);
    static const uint32_t want[4] = {5, 6, 7, 9};
    for (uint32_t i = 0; i < 40; i++)
        ck_assert_uint_eq(out[i], want[i & 3]);
}
END_TEST

START_TEST(inner_scopes_have_registers_of_their_own)
{
    uint32_t *out = run(ENTRY(OUT, PROLOGUE "mov.u32 %r5, 1;\n"
                                            "{\n.reg .b32 %r<9>;\n"
                                            "mov.u32 %r5, 70;\n}\n"
                                            "st.global.u32 [%rd1], %r5;\n"
                                            "ret;\n"),
                        1, 32);
    ck_assert_uint_eq(out[31], 1);
}
END_TEST

#define STORE_AT_PARAM                                                         \
    ENTRY(".param .u64 at", "ld.param.u64 %rd1, [at];\n"                       \
                            "mov.u32 %r1, %tid.x;\n"                           \
                            "\n"                                               \
                            "st.global.u32 [%rd1], %r1;\nret;\n")
#define STORE_LINE 14

START_TEST(store_outside_the_window_is_an_illegal_address)
{
    struct sc_exec_fault fault;
    ck_assert_int_eq(run_bad(STORE_AT_PARAM, 33, 0x1000, &fault),
                     SC_EXEC_ILLEGAL_ADDRESS);
    ck_assert_uint_eq(fault.address, 0x1000);
    ck_assert_uint_eq(fault.line, STORE_LINE);
    ck_assert_ptr_nonnull(strstr(fault.text, "'k'"));
}
END_TEST

START_TEST(store_into_a_hole_faults_and_the_next_launch_runs)
{
    struct sc_exec_fault fault;
    uint64_t hole = device_hole() + 64;
    ck_assert_int_eq(run_bad(STORE_AT_PARAM, 33, hole, &fault),
                     SC_EXEC_ILLEGAL_ADDRESS);
    ck_assert_uint_eq(fault.address, hole);
    ck_assert_uint_eq(fault.line, STORE_LINE);
    uint64_t good = (uint64_t)(uintptr_t)device_alloc(64);
    ck_assert_int_eq(run_bad(STORE_AT_PARAM, 33, hole, &fault),
                     SC_EXEC_ILLEGAL_ADDRESS);
    ck_assert_int_eq(run_bad(STORE_AT_PARAM, 33, good, &fault), SC_EXEC_OK);
}
END_TEST

START_TEST(misaligned_store_says_so)
{
    struct sc_exec_fault fault;
    uint64_t at = (uint64_t)(uintptr_t)device_alloc(64) + 2;
    ck_assert_int_eq(run_bad(STORE_AT_PARAM, 1, at, &fault),
                     SC_EXEC_MISALIGNED);
    ck_assert_uint_eq(fault.address, at);
}
END_TEST

START_TEST(vector_store_must_be_aligned_as_a_whole)
{
    struct sc_exec_fault fault;
    uint64_t at = (uint64_t)(uintptr_t)device_alloc(64) + 8;
    ck_assert_int_eq(
        run_bad(ENTRY(".param .u64 at",
                      "ld.param.u64 %rd1, [at];\nmov.u32 %r1, 1;\n"
                      "st.global.v4.u32 [%rd1], {%r1, %r1, %r1, %r1};\nret;\n"),
                1, at, &fault),
        SC_EXEC_MISALIGNED);
}
END_TEST

START_TEST(trap_ends_the_launch_with_its_line)
{
    struct sc_exec_fault fault;
    ck_assert_int_eq(
        run_bad(ENTRY(".param .u64 at", "mov.u32 %r1, %tid.x;\n"
                                        "setp.eq.u32 %p1, %r1, 5;\n"
                                        "@%p1 trap;\nret;\n"),
                32, 0, &fault),
        SC_EXEC_TRAP);
    ck_assert_uint_eq(fault.line, 13);
}
END_TEST

START_TEST(endless_loop_stops_when_cancelled)
{
    struct sc_module *module =
        device_load(ENTRY(OUT, "L:\nadd.u32 %r1, %r1, 1;\nbra L;\n"));
    uint64_t param = 0;
    volatile int cancel = 1;
    struct sc_launch launch = {.grid = {1, 1, 1},
                               .block = {8, 1, 1},
                               .params = &param,
                               .param_bytes = 8,
                               .cancel = &cancel};
    ck_assert_int_eq(sc_kernel_launch(module, 0, &launch, NULL),
                     SC_EXEC_TIMEOUT);
    sc_module_unload(module);
}
END_TEST

START_TEST(barrier_nobody_can_open_is_reported)
{
    struct sc_exec_fault fault;
    ck_assert_int_eq(run_bad(ENTRY(".param .u64 at", "bar.sync 1, 64;\nret;\n"),
                             32, 0, &fault),
                     SC_EXEC_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(fault.text, "barrier"));
}
END_TEST

START_TEST(shared_access_past_the_block_is_illegal)
{
    struct sc_exec_fault fault;
    ck_assert_int_eq(
        run_bad(ENTRY(".param .u64 at", ".shared .b32 s[4];\nmov.u32 %r1, s;\n"
                                        "st.shared.u32 [%r1+16], %r1;\nret;\n"),
                1, 0, &fault),
        SC_EXEC_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(bad_launches_are_refused_before_they_run)
{
    struct sc_module *module = device_load(STORE_AT_PARAM);
    struct sc_exec_fault fault;
    uint64_t at = 0;
    struct sc_launch good = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &at, .param_bytes = 8};
    struct sc_launch bad = good;
    bad.block[0] = 1025;
    ck_assert_int_eq(sc_kernel_launch(module, 0, &bad, &fault),
                     SC_EXEC_BAD_LAUNCH);
    bad = good;
    bad.grid[1] = 0;
    ck_assert_int_eq(sc_kernel_launch(module, 0, &bad, &fault),
                     SC_EXEC_BAD_LAUNCH);
    bad = good;
    bad.param_bytes = 4;
    ck_assert_int_eq(sc_kernel_launch(module, 0, &bad, &fault),
                     SC_EXEC_BAD_LAUNCH);
    bad = good;
    bad.dynamic_shared_bytes = SC_MAX_SHARED_BYTES + 1;
    ck_assert_int_eq(sc_kernel_launch(module, 0, &bad, &fault),
                     SC_EXEC_BAD_LAUNCH);
    ck_assert_int_eq(sc_kernel_launch(module, 1, &good, &fault),
                     SC_EXEC_BAD_LAUNCH);
    ck_assert_ptr_nonnull(strstr(fault.text, "no kernel"));
    sc_module_unload(module);
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        divergent_trip_counts_each_lane_counts_its_own,
        nested_branches_reconverge_before_a_vote,
        out_of_line_block_rejoins_the_main_path,
        shared_memory_with_barrier_reverses_a_block,
        barrier_in_divergent_code_counts_every_lane,
        barrier_reductions_agree_over_strips,
        vector_loads_and_local_arrays_keep_components,
        constants_and_pointers_are_initialised,
        atomics_from_all_workers_lose_nothing,
        vectors_that_are_watched_move_at_once,
        spin_lock_between_lanes_of_a_warp_makes_progress,
        shuffles_wait_for_lanes_that_come_later,
        indexed_branch_goes_through_its_table,
        inner_scopes_have_registers_of_their_own,
        store_outside_the_window_is_an_illegal_address,
        store_into_a_hole_faults_and_the_next_launch_runs,
        misaligned_store_says_so,
        vector_store_must_be_aligned_as_a_whole,
        trap_ends_the_launch_with_its_line,
        endless_loop_stops_when_cancelled,
        barrier_nobody_can_open_is_reported,
        shared_access_past_the_block_is_illegal,
        bad_launches_are_refused_before_they_run,
    };
    Suite *suite = suite_create("execute");
    TCase *tcase = tcase_create("execute");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, device_open, device_close);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tcase_add_test(tcase, cases[i]);
    suite_add_tcase(suite, tcase);
    return suite_finish(suite);
}
