/* The kernels in C with OpenMP, as a good C programmer would write them. */
#ifndef BENCH_KERNELS_HOST_H
#define BENCH_KERNELS_HOST_H

#include "sizes.h"

void host_vecadd(const float *a, const float *b, float *c, int n);
void host_sgemm(const float *a, const float *b, float *c, int n);
void host_mriq(const float4_ *points, int count, const float *x, const float *y,
               const float *z, float *qr, float *qi, int n);
void host_mandelbrot(int *out, int width, int height, float left, float top,
                     float step, int most);
void host_reduction(const int *in, int n, int *sum);
void host_scan(const int *in, int *out, int n);
void host_histogram(const unsigned *in, int words, int *bins);
void host_stencil(const float *in, float *out, int n);
void host_spmv(const int *rows, const int *columns, const float *values,
               const float *x, float *y, int n);
void host_bitonic(int *data, int n);
void host_nbody(const float4_ *bodies, float4_ *force, int n);
void host_blackscholes(const float *price, const float *strike,
                       const float *years, float *call, float *put, int n);
/** Two steps. */
void host_heat(const float *in, const float *power, float *between, float *out,
               int n);
/** Costs from node 0. */
void host_bfs(const int *rows, const int *edges, unsigned char *frontier,
              unsigned char *reached, unsigned char *seen, int *cost, int n);

#endif
