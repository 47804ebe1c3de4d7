/* What a C programmer would write with OpenMP. */
#include "host.h"

#include <omp.h>

enum { MOST = 256 };

float host_sum(const float *x, long n)
{
    float sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (long i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* Each thread sums its part, and goes through it again from what is before. */
void host_scan(const float *x, float *y, long n)
{
    static float sums[MOST];
#pragma omp parallel num_threads(                                              \
    omp_get_max_threads() < MOST ? omp_get_max_threads() : MOST)
    {
        int me = omp_get_thread_num(), all = omp_get_num_threads();
        long lo = n * me / all, hi = n * (me + 1) / all;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (long i = lo; i < hi; i++)
            sum += x[i];
        sums[me] = sum;
#pragma omp barrier
        sum = 0;
        for (int t = 0; t < me; t++)
            sum += sums[t];
        for (long i = lo; i < hi; i++)
            y[i] = sum += x[i];
    }
}
