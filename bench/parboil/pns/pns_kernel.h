/*
 * The layout of a net that the kernel of pns and the programs that launch it
 * agree on. Plain macros: device code includes this.
 *
 * A net is an array of unsigned numbers: the weight of each transition; the
 * first arc of each transition and the number of all arcs; and for each arc
 * PNS_ARC_NUMBERS numbers: its place, the tokens it takes, the tokens it gives.
 */
#ifndef BENCH_PARBOIL_PNS_KERNEL_H
#define BENCH_PARBOIL_PNS_KERNEL_H

#define PNS_THREADS     128
#define PNS_ARC_NUMBERS 3

/* Counters that all runs add to: transitions fired, runs that could not. */
#define PNS_FIRED    0
#define PNS_STUCK    1
#define PNS_COUNTERS 2

#endif
