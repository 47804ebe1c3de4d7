/*
 * What programs on the containers of bench/ranges move is what the formulas
 * behind the paper's Table 1 say; their results are compared on the way.
 */
#include "common/suite.h"
#include "run.h"
#include "start.h"

static struct container_moved moved_by(const struct program *program,
                                       int devices, enum container_rules rules,
                                       bool peer)
{
    containers_set(rules, peer);
    run_program(program, devices, false, true);
    return *containers_moved();
}

static void moved(const struct container_moved *m, uint64_t up, uint64_t local,
                  uint64_t peer, uint64_t down)
{
    ck_assert_uint_eq(m->up, up);
    ck_assert_uint_eq(m->local, local);
    ck_assert_uint_eq(m->peer, peer);
    ck_assert_uint_eq(m->down, down);
}

START_TEST(one_vector_takes_two_copies_instead_of_seven)
{
    struct program p = program_fig2(1000, false);
    start("1", "64M");
    struct container_moved m = moved_by(&p, 1, RULES_BACK_AND_FORTH, false);
    ck_assert_uint_eq(m.copies, 7);
    m = moved_by(&p, 1, RULES_INITIAL, false);
    ck_assert_uint_eq(m.copies, 2);
    m = moved_by(&p, 1, RULES_NEW, false);
    ck_assert_uint_eq(m.copies, 2);
    moved(&m, 0, 0, 0, 2 * 4000);
    program_free(&p);
}
END_TEST

/* The paper's Table 1 for NBody is these with R = 47.3 and cN = 1040.6 MB. */
START_TEST(nbody_moves_what_the_paper_measured)
{
    static const struct {
        long n;
        int calls;
    } sizes[] = {{2, 1}, {64, 1}, {64, 7}, {500, 2}, {1000, 22}, {4096, 13}};
    start("2", "64M");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct program p = program_nbody(sizes[i].n, sizes[i].calls);
        uint64_t r = program_bytes(&p, 0), cn = r * (uint64_t)sizes[i].calls;
        struct container_moved m = moved_by(&p, 2, RULES_INITIAL, false);
        moved(&m, 3 * cn, 0, 0, cn + 2 * r);
        ck_assert_uint_eq(m.allocated, 4 * cn + 2 * r);
        m = moved_by(&p, 2, RULES_NEW, false);
        moved(&m, cn, cn, 0, cn + r);
        ck_assert_uint_eq(m.allocated, sizes[i].calls > 1 ? 6 * r : 4 * r);
        m = moved_by(&p, 2, RULES_NEW, true);
        moved(&m, 0, cn, cn, r);
        program_free(&p);
    }
}
END_TEST

START_TEST(lu_moves_what_the_paper_measured)
{
    start("2", "64M");
    for (long n = 4; n <= 64; n *= 4) {
        struct program p = program_lu(n, (int)n - 1);
        uint64_t r = program_bytes(&p, 0), cn = r * (uint64_t)(n - 1);
        struct container_moved m = moved_by(&p, 2, RULES_INITIAL, false);
        moved(&m, 2 * cn, 0, 0, cn);
        m = moved_by(&p, 2, RULES_NEW, false);
        moved(&m, cn + r, cn - r, 0, cn);
        m = moved_by(&p, 2, RULES_NEW, true);
        moved(&m, 2 * r, cn - r, cn - r, r);
        ck_assert_uint_eq(m.allocated, 6 * r);
        program_free(&p);
    }
}
END_TEST

SUITE_MAIN("table1", 120, one_vector_takes_two_copies_instead_of_seven,
           nbody_moves_what_the_paper_measured,
           lu_moves_what_the_paper_measured)
