/*
 * The product of two matrices in tiles that a block of 32 x 8 threads has in
 * shared memory, one thread per element. Sums go along the rows of A in order;
 * matmul.c repeats them and expects the same bits.
 */
#include "adsm_device.h"

#define WIDE 32
#define HIGH 8

/*
 * a  the part's rows of `inner`; b  all of it, `inner` rows of `columns`; c  the
 * part's rows of `columns`
 */
extern "C" __global__ void matmul(long i0, long i1, long j0, long j1,
                                  const float *__restrict__ a,
                                  const float *__restrict__ b,
                                  float *__restrict__ c, long inner,
                                  long columns)
{
    static __shared__ float of_a[HIGH][WIDE], of_b[WIDE][WIDE];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    long i = i0 + adsm_thread_y(), j = j0 + adsm_thread_x();
    float sum = 0.0f;
    for (long k = 0; k < inner; k += WIDE) {
        of_a[y][x] = i < i1 && k + x < inner ? a[i * inner + k + x] : 0.0f;
        for (int t = y; t < WIDE; t += HIGH)
            of_b[t][x] =
                j < j1 && k + t < inner ? b[(k + t) * columns + j] : 0.0f;
        __syncthreads();
        int end = inner - k < WIDE ? (int)(inner - k) : WIDE;
        for (int t = 0; t < end; t++)
            sum = adsm_fma(of_a[y][t], of_b[t][x], sum);
        __syncthreads();
    }
    if (i < i1 && j < j1)
        c[i * columns + j] = sum;
}
