/*
 * What the rounds of a case come to, and what it is compared with.
 *
 * A case is compared with the better of those with copies by hand that ran
 * beside it, or with the first case where none did; round by round, so that
 * what disturbs a round disturbs both. Pure functions of results. One thread.
 */
#ifndef BENCH_PARBOIL_COMPARE_H
#define BENCH_PARBOIL_COMPARE_H

#include "runner/plan.h"
#include "runner/result.h"

struct show_case;

/** One time of a case over all rounds, s. */
struct compare_time {
    double median, min, max;
    const struct show_case *against; /* NULL: nothing to compare with */
    double ratio; /* median of what each round has over that one's */
};

struct summary {
    struct compare_time seconds; /* main() until the result is there */
    struct compare_time work;    /* without set-up */
    struct compare_time whole;   /* the process, without verification */
    double before, after;        /* medians */

    double used_min;            /* s of processor time */
    double paired, used_paired; /* medians of what each round has over the first
                                    case's, time and processor time; 0: none */
    const struct result *result; /* of the median, or the first that failed */
    bool same;                   /* every repetition gave the first's result */
    bool bytes_add_up;
};

/** Of `cases[which]`, one of `count`. */
struct summary compare_case(const struct plan *plan,
                            const struct show_case *cases, int count,
                            int which);

#endif
