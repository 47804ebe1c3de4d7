/*
 * What the two halves of the program rdc share.
 */
#ifndef TESTS_CUDA_RDC_H
#define TESTS_CUDA_RDC_H

extern __device__ int shared_table[16];

__device__ int collatz(unsigned n);

#endif
