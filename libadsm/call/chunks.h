/*
 * Into how many chunks a part of a call is best cut.
 *
 * Pure arithmetic. A part goes through three stages: upload, kernel, download,
 * each of which works on one chunk at a time beside the others. With a, b, c for
 * one of n equal chunks,
 *
 *     T(n) = a + b + c + (n - 1) max(a, b, c)
 *     a = U/n + u,  b = K/n + k,  c = D/n + d
 *
 * where U, K, D are the stages of the whole part and u, k, d what each chunk
 * costs besides. Thread: any. Signal: never
 *
 * Paper: Parisi, "Optimization of Parallel Computations on Heterogeneous
 *        GPU-Based Systems", 3.4; differs: exact for equal chunks, where the
 *        thesis leaves the last terms out
 */
#ifndef ADSM_CALL_CHUNKS_H
#define ADSM_CALL_CHUNKS_H

enum { ADSM_CHUNKS = 32 }; /* most of a part */

/** Nanoseconds of a stage for all of a part, and of each chunk besides. */
struct adsm_stage_cost {
    double whole, chunk;
};

/** T(n), in nanoseconds. */
double adsm_chunks_time(const struct adsm_stage_cost stage[3], int n);

/** The least n, from 1 to `most`, whose T(n) is within 1% of the least; 1 where
 *  that gains less than 5% over one. T(n) is flat about its least, and what it
 *  leaves out, as that stages wait for each other's ends, grows with n. */
int adsm_chunks_best(const struct adsm_stage_cost stage[3], int most);

#endif
