/*
 * Numbers that the kernel of tpacf and the programs that launch it agree on.
 * Plain macros: device code includes this.
 */
#ifndef BENCH_PARBOIL_TPACF_KERNEL_H
#define BENCH_PARBOIL_TPACF_KERNEL_H

#define TPACF_THREADS 128

/* Numbers of a point: right ascension, declination and red shift in the file,
 * x, y and z for the kernel. */
#define TPACF_NUMBERS 3

/* Edges between bins, and so counters of a histogram less one. */
#define TPACF_EDGES_MAX 63

#endif
