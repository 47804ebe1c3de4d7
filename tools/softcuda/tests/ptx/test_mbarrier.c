/*
 * mbarrier, copies that arrive at one, what a cluster of one block says of
 * itself, and the shared memory of the system.
 */
#include "common/suite.h"
#include "device.h"

#include <string.h>

enum { WORDS = 8 };

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".entry k(.param .u64 po)\n{\n"
    ".reg .b64 %l<16>;\n.reg .b32 %r<16>;\n.reg .pred %q<4>;\n"
    ".shared .align 8 .b8 pad[64];\n.shared .align 8 .b64 bar;\n"
    "ld.param.u64 %l0,[po];\nmov.u32 %r8,%tid.x;\n"
    "mul.wide.u32 %l1,%r8,32;\nadd.s64 %l1,%l0,%l1;\n"
    "mov.u32 %r9,bar;\nmov.u64 %l9,bar;\ncvta.shared.u64 %l10,%l9;\n";

#define FIRST           "setp.eq.u32 %q0,%r8,0;\n"
#define INIT(n)         FIRST "@%q0 mbarrier.init.shared::cta.b64 [%r9]," n ";\n" SYNC
#define SYNC            "bar.sync 0;\n"
#define PUT(w, r)       "st.global.u32 [%l1+" w "]," r ";\n"
#define PUT_TRUTH(w, q) "selp.u32 %r7,1,0," q ";\n" PUT(w, "%r7")

/* Words of each of 64 threads. */
static uint32_t (*out)[WORDS];

static enum sc_exec_status run(const char *body, struct sc_exec_fault *fault)
{
    static char ptx[8192];
    snprintf(ptx, sizeof ptx, "%s%s\nret;\n}\n", head, body);
    out = device_alloc(64 * sizeof *out);
    struct sc_module *module = device_load(ptx);
    uint64_t params[] = {(uint64_t)(uintptr_t)out};
    enum sc_exec_status status =
        device_launch(module, 1, 64, params, sizeof params, fault);
    sc_module_unload(module);
    return status;
}

static void expect_ok(const char *body)
{
    struct sc_exec_fault fault = {0};
    enum sc_exec_status status = run(body, &fault);
    ck_assert_msg(status == SC_EXEC_OK, "%s", fault.text);
}

/* Every thread's word `w`. */
static void expect_word(int w, uint32_t want)
{
    for (int t = 0; t < 64; t++)
        ck_assert_msg(out[t][w] == want, "thread %d word %d: %#x, not %#x", t,
                      w, out[t][w], want);
}

/* One instruction a line. */
/* clang-format off */

START_TEST(phase_ends_with_its_last_arrival)
{
    expect_ok(
        INIT("64")
        "mbarrier.arrive.shared.b64 %l2,[%r9];\n"
        "mbarrier.pending_count.b64 %r1,%l2;\n"
        PUT("0", "%r1")
        "W: mbarrier.test_wait.shared.b64 %q1,[%r9],%l2;\n"
        "@!%q1 bra W;\n"
        SYNC
        "mbarrier.test_wait.parity.shared.b64 %q2,[%r9],0;\n"
        PUT_TRUTH("4", "%q2")
        "mbarrier.try_wait.parity.shared.b64 %q2,[%r9],1,100;\n"
        PUT_TRUTH("8", "%q2"));
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(out[t][0], 64 - t);
    expect_word(1, 1);
    expect_word(2, 0);
}
END_TEST

/* Threads that wait, and threads that come late, in every order of code. */
START_TEST(waiting_lanes_let_others_arrive)
{
    expect_ok(
        INIT("64")
        "and.b32 %r1,%r8,1;\n"
        "setp.eq.u32 %q1,%r1,0;\n"
        "@%q1 bra LATE;\n"
        "mbarrier.arrive.b64 %l2,[%l10];\n"
        "W: mbarrier.try_wait.b64 %q2,[%l10],%l2;\n"
        "@!%q2 bra W;\n"
        "mov.u32 %r2,5;\n"
        "bra.uni END;\n"
        "LATE: mbarrier.arrive.release.cta.shared::cta.b64 _,[bar];\n"
        "mov.u32 %r2,5;\n"
        "END:\n"
        PUT("0", "%r2"));
    expect_word(0, 5);
}
END_TEST

START_TEST(arrivals_count_and_drop)
{
    expect_ok(
        INIT("6")
        "@!%q0 bra END;\n"
        "mbarrier.arrive.noComplete.shared.b64 %l2,[%r9],2;\n"
        "mbarrier.arrive_drop.shared.b64 %l3,[%r9];\n"
        "mbarrier.arrive.shared.b64 %l4,[%r9],3;\n"
        "mbarrier.arrive.shared.b64 %l5,[%r9];\n"
        "mbarrier.pending_count.b64 %r1,%l2;\n"
        PUT("0", "%r1")
        "mbarrier.pending_count.b64 %r1,%l3;\n"
        PUT("4", "%r1")
        "mbarrier.pending_count.b64 %r1,%l4;\n"
        PUT("8", "%r1")
        "mbarrier.pending_count.b64 %r1,%l5;\n"
        PUT("12", "%r1")
        "mbarrier.test_wait.shared.b64 %q1,[%r9],%l4;\n"
        PUT_TRUTH("16", "%q1")
        "mbarrier.test_wait.shared.b64 %q1,[%r9],%l5;\n"
        PUT_TRUTH("20", "%q1")
        "mbarrier.inval.shared.b64 [%r9];\n"
        "END:\n");
    static const uint32_t want[] = {6, 4, 3, 5, 1, 0};
    for (int i = 0; i < 6; i++)
        ck_assert_uint_eq(out[0][i], want[i]);
}
END_TEST

START_TEST(phase_waits_for_bytes)
{
    expect_ok(
        INIT("1")
        "@!%q0 bra END;\n"
        "mbarrier.arrive.expect_tx.shared.b64 %l2,[%r9],24;\n"
        "mbarrier.test_wait.shared.b64 %q1,[%r9],%l2;\n"
        PUT_TRUTH("0", "%q1")
        "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r9],16;\n"
        "mbarrier.test_wait.shared.b64 %q1,[%r9],%l2;\n"
        PUT_TRUTH("4", "%q1")
        "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r9],8;\n"
        "mbarrier.test_wait.acquire.cta.shared.b64 %q1,[%r9],%l2;\n"
        PUT_TRUTH("8", "%q1")
        "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r9],4;\n"
        "mbarrier.arrive.shared.b64 %l3,[%r9];\n"
        "mbarrier.test_wait.shared.b64 %q1,[%r9],%l3;\n"
        PUT_TRUTH("12", "%q1")
        "END:\n");
    static const uint32_t want[] = {0, 0, 1, 0};
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(out[0][i], want[i]);
}
END_TEST

START_TEST(copies_arrive_when_they_are_done)
{
    expect_ok(
        INIT("64")
        "cp.async.mbarrier.arrive.shared.b64 [%r9];\n"
        SYNC
        "mbarrier.test_wait.parity.shared.b64 %q1,[%r9],0;\n"
        PUT_TRUTH("0", "%q1")
        "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r9];\n"
        SYNC
        "mbarrier.test_wait.parity.shared.b64 %q1,[%r9],0;\n"
        PUT_TRUTH("4", "%q1"));
    expect_word(0, 0);
    expect_word(1, 1);
}
END_TEST

START_TEST(addresses_of_barriers_go_round)
{
    expect_ok(
        "sub.u32 %r9,%r9,4096;\n"
        FIRST
        "@%q0 mbarrier.init.shared.b64 [%r9+4096],64;\n"
        SYNC
        "mbarrier.arrive.shared.b64 %l2,[%r9+4096];\n"
        SYNC
        "mbarrier.test_wait.shared.b64 %q1,[%r9+4096],%l2;\n"
        PUT_TRUTH("0", "%q1"));
    expect_word(0, 1);
}
END_TEST

START_TEST(barriers_outside_of_shared_memory_fault)
{
    struct sc_exec_fault fault = {0};
    ck_assert_int_eq(run("mbarrier.init.shared.b64 [%r9+4],1;\n", &fault),
                     SC_EXEC_MISALIGNED);
    ck_assert_int_eq(run("mbarrier.init.shared.b64 [%r9+4096],1;\n", &fault),
                     SC_EXEC_ILLEGAL_ADDRESS);
    ck_assert_int_eq(
        run("mbarrier.test_wait.shared.b64 %q1,[%r9+4096],%l2;\n", &fault),
        SC_EXEC_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(clusters_are_single_blocks)
{
    expect_ok(
        "st.shared.u32 [pad],77;\n"
        "mov.u32 %r1,pad;\n"
        "mov.u32 %r2,0;\n"
        "mapa.shared::cluster.u32 %r3,%r1,%r2;\n"
        "ld.shared::cluster.u32 %r4,[%r3];\n"
        PUT("0", "%r4")
        "mapa.u64 %l2,%l10,%r2;\n"
        "sub.s64 %l2,%l2,%l10;\n"
        "cvt.u32.u64 %r4,%l2;\n"
        PUT("4", "%r4")
        "getctarank.shared::cluster.u32 %r4,%r1;\n"
        PUT("8", "%r4")
        "getctarank.u64 %r4,%l10;\n"
        PUT("12", "%r4")
        "fence.mbarrier_init.release.cluster;\n"
        "fence.proxy.async;\n");
    expect_word(0, 77);
    expect_word(1, 0);
    expect_word(2, 0);
    expect_word(3, 0);
}
END_TEST

START_TEST(system_has_shared_memory_of_its_own)
{
    expect_ok(
        "st.shared.u32 [pad],1;\n"
        "st.shared.u64 [bar],0;\n"
        SYNC
        "mov.u32 %r1,%reserved_smem_offset_begin;\n"
        "mov.u32 %r2,%reserved_smem_offset_end;\n"
        "sub.u32 %r3,%r2,%r1;\n"
        PUT("0", "%r3")
        "mov.u32 %r3,%reserved_smem_offset_cap;\n"
        PUT("4", "%r3")
        "mov.u32 %r4,%reserved_smem_offset_1;\n"
        "shl.b32 %r5,%r8,2;\n"
        "add.u32 %r5,%r4,%r5;\n"
        "st.shared.u32 [%r5],%r8;\n"
        SYNC
        "ld.shared.u32 %r6,[pad];\n"
        PUT("8", "%r6")
        "cvt.u64.u32 %l2,%r5;\n"
        "cvta.shared.u64 %l2,%l2;\n"
        "ld.u32 %r6,[%l2];\n"
        "sub.u32 %r6,%r6,%r8;\n"
        PUT("12", "%r6")
        "sub.u32 %r6,%r2,%r4;\n"
        PUT("16", "%r" "6"));
    expect_word(0, 1024);
    expect_word(1, 1024);
    expect_word(2, 1);
    expect_word(3, 0);
    expect_word(4, 512);
}
END_TEST
/* clang-format on */

int main(void)
{
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, device_open, device_close);
    const TTest *const cases[] = {
        phase_ends_with_its_last_arrival,
        waiting_lanes_let_others_arrive,
        arrivals_count_and_drop,
        phase_waits_for_bytes,
        copies_arrive_when_they_are_done,
        addresses_of_barriers_go_round,
        barriers_outside_of_shared_memory_fault,
        clusters_are_single_blocks,
        system_has_shared_memory_of_its_own,
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tcase_add_test(tcase, cases[i]);
    Suite *suite = suite_create("barriers in shared memory");
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
