/* Sums and scans on the host by all its processors. One caller at a time. */
#ifndef BENCH_FOLD_HOST_H
#define BENCH_FOLD_HOST_H

float host_sum(const float *x, long n);

/** y[i] = x[0] + ... + x[i] */
void host_scan(const float *x, float *y, long n);

#endif
