/*
 * The coefficients of the eighth-order second derivative, for the kernel and
 * for the programs that launch it. Plain macros: device code includes this.
 */
#ifndef BENCH_WAVE_STENCIL_H
#define BENCH_WAVE_STENCIL_H

#define WAVE_RADIUS 4

/* Central differences, cell size 1: the centre and the pairs at distance
 * one to four. */
#define WAVE_C0 (-205.0f / 72.0f)
#define WAVE_C1 (8.0f / 5.0f)
#define WAVE_C2 (-1.0f / 5.0f)
#define WAVE_C3 (8.0f / 315.0f)
#define WAVE_C4 (-1.0f / 560.0f)

/* Threads of one block along x and y; grids have one block per z plane. */
#define WAVE_BLOCK_X 64
#define WAVE_BLOCK_Y 8

#endif
