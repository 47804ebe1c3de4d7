/*
 * Numbers that the kernel of cp and the programs that launch it agree on.
 * Plain macros: device code includes this.
 */
#ifndef BENCH_PARBOIL_CP_KERNEL_H
#define BENCH_PARBOIL_CP_KERNEL_H

/* Threads of a block along x and y. */
#define CP_BLOCK_X 32
#define CP_BLOCK_Y 8

/* Least square of a distance: a lattice point may lie on an atom. */
#define CP_SQUARE_MIN 1e-6f

#endif
