/* The model of chunks; see chunks.h. */
#include "call/chunks.h"

double adsm_chunks_time(const struct adsm_stage_cost stage[3], int n)
{
    double sum = 0, most = 0;
    for (int i = 0; i < 3; i++) {
        double one = stage[i].whole / n;
        if (stage[i].whole > 0)
            one += stage[i].chunk; /* a stage without work has no chunks */
        sum += one;
        most = one > most ? one : most;
    }
    return sum + (n - 1) * most;
}

int adsm_chunks_best(const struct adsm_stage_cost stage[3], int most)
{
    double one = adsm_chunks_time(stage, 1), least = one;
    int best = 1;
    if (most > ADSM_CHUNKS)
        most = ADSM_CHUNKS;
    for (int n = 2; n <= most; n++) {
        double time = adsm_chunks_time(stage, n);
        least = time < least ? time : least;
    }
    if (least >= 0.95 * one)
        return 1;
    while (adsm_chunks_time(stage, best) > 1.01 * least)
        best++;
    return best;
}
