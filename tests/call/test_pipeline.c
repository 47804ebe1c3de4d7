/* The model of chunks beside a pipeline that is played through step by step. */
#include "common/suite.h"
#include "call/chunks.h"

#include <stdlib.h>

/* Each stage takes a chunk when it and the stage before are ready. */
static double played(const struct adsm_stage_cost stage[3], int n)
{
    double free_at[3] = {0, 0, 0}, ready = 0;
    for (int chunk = 0; chunk < n; chunk++) {
        ready = 0;
        for (int s = 0; s < 3; s++) {
            double one = stage[s].whole / n;
            one += one > 0 ? stage[s].chunk : 0;
            ready = (ready > free_at[s] ? ready : free_at[s]) + one;
            free_at[s] = ready;
        }
    }
    return ready;
}

static double up_to(double most)
{
    return most * rand() / RAND_MAX;
}

static void draw(struct adsm_stage_cost stage[3])
{
    for (int s = 0; s < 3; s++)
        stage[s] =
            (struct adsm_stage_cost){rand() % 4 ? up_to(1e8) : 0, up_to(1e5)};
}

START_TEST(time_is_that_of_a_pipeline_played_through)
{
    struct adsm_stage_cost stage[3];
    srand(7);
    for (int i = 0; i < 3000; i++) {
        draw(stage);
        int n = 1 + rand() % ADSM_CHUNKS;
        ck_assert_double_eq_tol(adsm_chunks_time(stage, n), played(stage, n),
                                1e-3);
    }
}
END_TEST

START_TEST(best_number_is_the_first_near_the_best_of_all_where_it_gains)
{
    struct adsm_stage_cost stage[3];
    srand(8);
    for (int i = 0; i < 3000; i++) {
        draw(stage);
        int most = 1 + rand() % 40, best = adsm_chunks_best(stage, most);
        double one = played(stage, 1), least = one;
        for (int n = 1; n <= most && n <= ADSM_CHUNKS; n++)
            least = played(stage, n) < least ? played(stage, n) : least;
        ck_assert_int_le(best, most);
        if (least >= 0.95 * one) {
            ck_assert_int_eq(best, 1);
            continue;
        }
        ck_assert_double_le(played(stage, best), 1.01 * least + 1e-3);
        for (int n = 1; n < best; n++)
            ck_assert_double_gt(played(stage, n), 1.01 * least - 1e-3);
    }
}
END_TEST

/* Up 38.2 ms, kernel 20.2 and down 19.1 in 16 chunks. A stage alone gains
 * nothing. */
START_TEST(figures_of_the_thesis_follow)
{
    const struct adsm_stage_cost nevmap[3] = {{38.2, 0}, {20.2, 0}, {19.1, 0}};
    const struct adsm_stage_cost alone[3] = {{0, 1}, {50, 0.01}, {0, 1}};
    ck_assert_double_eq_tol(adsm_chunks_time(nevmap, 16), 40.66, 0.01);
    ck_assert_double_eq_tol(adsm_chunks_time(nevmap, 1), 77.5, 0.01);
    ck_assert_int_eq(adsm_chunks_best(alone, ADSM_CHUNKS), 1);
}
END_TEST

SUITE_MAIN("pipeline", 30, time_is_that_of_a_pipeline_played_through,
           best_number_is_the_first_near_the_best_of_all_where_it_gains,
           figures_of_the_thesis_follow)
