/*
 * In which order the cases of a benchmark run.
 *
 * A round runs every case once. Who runs first, last, or behind a certain other
 * one may have it better or worse, so the order changes from round to round: in
 * `count` rounds each case has had each place once, and where `count` is even
 * has come behind each other one once; where it is odd, within twice as many
 * rounds twice (the squares of Williams). Pure functions.
 */
#ifndef BENCH_PARBOIL_ROUNDS_H
#define BENCH_PARBOIL_ROUNDS_H

/** Number of the case that is at `place` of a round, all counted from 0. */
int rounds_case(int round, int place, int count);

#endif
