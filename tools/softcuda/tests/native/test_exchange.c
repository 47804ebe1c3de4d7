/*
 * Lanes of a warp that hand each other something in memory with no word
 * between, as they may on hardware, which runs a warp in step: interpreter and
 * native code both give what hardware gives.
 */
#include "twice.h"

#define TILE ".shared .align 8 .b8 tile[1024]; .shared .align 8 .b8 more[1024];"
#define END  "st.global.u32 [%d3], %r9; ret;\n}\n"
/* %r12: the thread's word of `tile`, which is 0 */
#define ZERO                                                                   \
    "shl.b32 %r11, %r1, 2; mov.u32 %r12, tile; add.u32 %r12, %r12, %r11;\n"    \
    "mov.u32 %r10, 0; st.shared.u32 [%r12], %r10; bar.sync 0;\n"

/* `n` words of `out` of one block of `threads` are those of `right`. */
static void right(const char *text, uint32_t threads, uint32_t n,
                  uint32_t (*right)(uint32_t thread))
{
    const struct twice t = {.text = text, .block = {threads, 1, 1}};
    struct twice_result got;
    twice_run(&t, "off", "generic", &got);
    ck_assert_msg(got.status == SC_EXEC_OK, "%s", got.why);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, got.out + (size_t)i * 4, 4);
        ck_assert_msg(word == right(i), "interpreter: word %u is %u, not %u", i,
                      word, right(i));
    }
    free(got.out);
    twice(&t);
}

static uint32_t sum_in_0(uint32_t thread)
{
    return thread == 0 ? 136 : 1;
}

static uint32_t sum_in_31(uint32_t thread)
{
    return thread == 31 ? 136 : 1;
}

/* Lane `reader` sums what lanes 0 to 16 wrote in an `if`. */
#define SUM_BEHIND(write, reader)                                              \
    TWICE_HEAD(TILE)                                                           \
    ZERO "setp.ge.u32 %p1, %r1, 17; @%p1 bra J;\n" write                       \
         "J: mov.u32 %r9, 1;\n"                                                \
         "setp.ne.u32 %p2, %r1, " reader "; @%p2 bra E;\n"                     \
         "mov.u32 %r9, 0; mov.u32 %r13, tile; mov.u32 %r14, 0;\n"              \
         "L: ld.shared.u32 %r15, [%r13]; add.u32 %r9, %r9, %r15;\n"            \
         "add.u32 %r13, %r13, 4; add.u32 %r14, %r14, 1;\n"                     \
         "setp.lt.u32 %p3, %r14, 17; @%p3 bra L;\nE: " END

START_TEST(warp_is_together_again_behind_an_if)
{
    right(SUM_BEHIND("st.shared.u32 [%r12], %r1;\n", "0"), 32, 32, sum_in_0);
}
END_TEST

/* Long, and with accesses that others might wait for. */
START_TEST(warp_waits_for_those_that_loop_in_an_if)
{
    right(SUM_BEHIND("mov.u32 %r16, 0;\n"
                     "W: add.u32 %r16, %r16, 1; setp.lt.u32 %p4, %r16, "
                     "4500000; @%p4 bra W; st.shared.u32 [%r12], %r1;\n",
                     "31"),
          32, 32, sum_in_31);
    right(SUM_BEHIND("mov.u32 %r16, 0;\n"
                     "W: ld.volatile.shared.u32 %r17, [%r12];\n"
                     "add.u32 %r17, %r17, 1; st.volatile.shared.u32 [%r12], "
                     "%r17; add.u32 %r16, %r16, 1; setp.lt.u32 %p4, %r16, "
                     "500; @%p4 bra W; st.shared.u32 [%r12], %r1;\n",
                     "31"),
          32, 32, sum_in_31);
    right(SUM_BEHIND("mov.u32 %r16, 0;\n"
                     "W: atom.shared.add.u32 %r17, [%r12], 1;\n"
                     "add.u32 %r16, %r16, 1; setp.lt.u32 %p4, %r16, 500;\n"
                     "@%p4 bra W; st.shared.u32 [%r12], %r1;\n",
                     "31"),
          32, 32, sum_in_31);
}
END_TEST

static uint32_t sum_of_warp(uint32_t thread)
{
    return thread == 0 ? 31 * 32 / 2 : 0;
}

#define ADD(kind, distance)                                                    \
    "ld" kind ".shared.u32 %r13, [%r12];\n"                                    \
    "ld" kind ".shared.u32 %r14, [%r12+" distance "];\n"                       \
    "add.u32 %r13, %r13, %r14; st" kind ".shared.u32 [%r12], %r13;\n"
#define FOLD(kind)                                                             \
    TWICE_HEAD(TILE)                                                           \
    ZERO "st" kind ".shared.u32 [%r12], %r1;\n" ADD(kind, "64")                \
        ADD(kind, "32") ADD(kind, "16") ADD(kind, "8")                         \
            ADD(kind, "4") "mov.u32 %r9, 0; setp.eq.u32 %p1, %r1, 0;\n"        \
                           "@%p1 mov.u32 %r9, %r13;\n" END

START_TEST(warp_folds_an_array_without_a_word)
{
    right(FOLD(".volatile"), 32, 32, sum_of_warp);
    right(FOLD(""), 32, 32, sum_of_warp);
}
END_TEST

static uint32_t one_before(uint32_t thread)
{
    return thread ? thread * 5 - 5 : 7;
}

/* a[t + 1] = a[t], where groups that go ahead hand a[0] to all. */
START_TEST(warp_shifts_an_array)
{
    right(TWICE_HEAD(TILE) "mul.lo.u32 %r9, %r1, 5; mov.u32 %r10, 7;\n"
                           "st.global.u32 [%d3], %r9; bar.sync 0;\n"
                           "ld.global.u32 %r11, [%d3];\n"
                           "st.global.u32 [%d3+4], %r11;\n"
                           "setp.eq.u32 %p1, %r1, 0;\n"
                           "@%p1 st.global.u32 [%d0], %r10; ret;\n}\n",
          32, 32, one_before);
    right(TWICE_HEAD(TILE) ZERO
          "mul.lo.u32 %r9, %r1, 5; st.shared.u32 [%r12], %r9;\n"
          "bar.sync 0; ld.shared.u32 %r13, [%r12];\n"
          "mov.u32 %r14, tile; add.u32 %r14, %r14, %r11;\n"
          "st.shared.u32 [%r14+4], %r13; ld.shared.u32 %r9, [%r12];\n"
          "setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r9, 7;\n" END,
          32, 32, one_before);
}
END_TEST

static uint32_t four(uint32_t thread)
{
    return thread == 32 ? 4 : 0;
}

/* Of those that write one word each finds itself or another there: one of
 * each four words wins, and all count the winners. */
START_TEST(warp_elects_by_writing)
{
    right(TWICE_HEAD(TILE) ZERO
          "and.b32 %r13, %r1, 3; shl.b32 %r13, %r13, 2; mov.u32 %r14, tile;\n"
          "add.u32 %r13, %r13, %r14; st.shared.u32 [%r13], %r1;\n"
          "ld.shared.u32 %r15, [%r13]; setp.eq.u32 %p1, %r15, %r1;\n"
          "mov.u32 %r9, 0; st.global.u32 [%d3], %r9;\n"
          "@%p1 red.global.add.u32 [%d0+4096], 1;\n"
          "setp.ne.u32 %p2, %r1, 0; @%p2 bra E; mov.u32 %r16, 0xa5a5a5a5;\n"
          "ld.global.u32 %r15, [%d0+4096]; sub.u32 %r15, %r15, %r16;\n"
          "st.global.u32 [%d0+128], %r15;\nE: ret;\n}\n",
          32, 33, four);
}
END_TEST

static uint32_t only_20(uint32_t thread)
{
    return thread == 20 ? 9 : 3;
}

START_TEST(lane_writes_over_what_all_wrote)
{
    right(TWICE_HEAD(TILE) ZERO
          "mov.u32 %r13, 3; mov.u32 %r14, 9; mov.u32 %r15, tile;\n"
          "st.shared.u32 [%r12], %r13; setp.eq.u32 %p1, %r1, 0;\n"
          "@%p1 st.shared.u32 [%r15+80], %r14; bar.sync 0;\n"
          "ld.shared.u32 %r9, [%r12];\n" END,
          64, 64, only_20);
}
END_TEST

SUITE_MAIN("softcuda: lanes that exchange", 120,
           warp_is_together_again_behind_an_if,
           warp_waits_for_those_that_loop_in_an_if,
           warp_folds_an_array_without_a_word, warp_shifts_an_array,
           warp_elects_by_writing, lane_writes_over_what_all_wrote)
