/*
 * Numbers that the kernels of mri-q and the programs that launch them agree
 * on. Plain macros: device code includes this.
 */
#ifndef BENCH_PARBOIL_MRI_Q_KERNEL_H
#define BENCH_PARBOIL_MRI_Q_KERNEL_H

#define MRI_Q_THREADS 256

/* Samples of k-space in one call, and the numbers of each: kx, ky, kz and the
 * weight. */
#define MRI_Q_CHUNK   256
#define MRI_Q_NUMBERS 4

#endif
