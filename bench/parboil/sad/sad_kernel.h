/*
 * Numbers and the layout of results that the kernels of sad and the programs
 * that launch them agree on. Plain macros: device code includes this.
 *
 * Results are unsigned shorts. They lie one partition size behind the other,
 * 4x4 first; within a size macroblock by macroblock in rows, within a
 * macroblock partition by partition in rows, and for each partition one sum
 * for each place of the search window in rows.
 */
#ifndef BENCH_PARBOIL_SAD_KERNEL_H
#define BENCH_PARBOIL_SAD_KERNEL_H

#define SAD_THREADS 64 /* search places of a block */

#define SAD_MACROBLOCK 16 /* edge, in pixels */
#define SAD_PARTITIONS 41 /* of a macroblock, all sizes together */

/* Partitions of a macroblock that come before a size. */
#define SAD_4X4   0
#define SAD_8X4   16
#define SAD_4X8   24
#define SAD_8X8   32
#define SAD_16X8  36
#define SAD_8X16  38
#define SAD_16X16 40

#endif
