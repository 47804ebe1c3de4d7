/*
 * Numbers that the kernels of mri-fhd and the programs that launch them agree
 * on. Plain macros: device code includes this.
 */
#ifndef BENCH_PARBOIL_MRI_FHD_KERNEL_H
#define BENCH_PARBOIL_MRI_FHD_KERNEL_H

#define MRI_FHD_THREADS 256

/* Samples of k-space in one call, and the numbers of each: kx, ky, kz and the
 * two parts of rho. */
#define MRI_FHD_CHUNK   256
#define MRI_FHD_NUMBERS 5

#endif
