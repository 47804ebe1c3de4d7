/*
 * The other half of the program rdc.
 */
#include "rdc.h"

__device__ int shared_table[16] = {0,  1,  4,   9,   16,  25,  36,  49,
                                   64, 81, 100, 121, 144, 169, 196, 225};

__device__ int collatz(unsigned n)
{
    int steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}
