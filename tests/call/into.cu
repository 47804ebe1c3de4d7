/*
 * Kernels that accumulate, for the suite of adsmInto.
 *
 * Built into into.ptx by tools/ptx.sh.
 */
#include "adsm_device.h"

/* As ADSM_OPERATOR(chain, ...) of operators.cu has it. */
struct line {
    int a, b, unused;
};

/* bins[x mod n] += 1, where threads meet. */
extern "C" __global__ void histogram(long i0, long i1, const int *x,
                                     unsigned *bins, unsigned n)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        __nvvm_atom_add_gen_i((int *)&bins[(unsigned)x[i] % n], 1);
}

/* The same of the two halves of x, in an array of two dimensions. */
extern "C" __global__ void square(long i0, long i1, const int *x,
                                  adsm_view2<unsigned> bins, unsigned n)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    unsigned v = (unsigned)x[i];
    __nvvm_atom_add_gen_i((int *)&bins(v / n % n, v % n), 1);
}

/* The largest of each class, and how many there are. */
extern "C" __global__ void largest(long i0, long i1, const int *x, int *most,
                                   unsigned *bins, unsigned n)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    unsigned bin = (unsigned)x[i] % n;
    __nvvm_atom_max_gen_i(&most[bin], x[i]);
    __nvvm_atom_add_gen_i((int *)&bins[bin], 1);
}

/* What the part's bodies do to each of n places: rounded, in their order. */
extern "C" __global__ void pull(long i0, long i1, const float *x, float *force,
                                long n)
{
    for (long k = adsm_thread_x(); k < n; k += (long)gridDim.x * blockDim.x)
        for (long i = i0; i < i1; i++)
            force[k] += x[i] * (float)(k + 1);
}

/* All of the part's lines, one behind the other. */
extern "C" __global__ void compose(long i0, long i1, const line *x, line *all)
{
    for (long i = i0; adsm_thread_x() == 0 && i < i1; i++) {
        all->a = (int)((unsigned)all->a * (unsigned)x[i].a);
        all->b = (int)((unsigned)all->b * (unsigned)x[i].a + (unsigned)x[i].b);
    }
}

/* out[at[i]] = what[i] */
template <typename T>
static __device__ void place(long i0, long i1, const int *at, const T *what,
                             T *out)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        out[at[i]] = what[i];
}

extern "C" __global__ void place1(long i0, long i1, const int *at,
                                  const char *what, char *out)
{
    place(i0, i1, at, what, out);
}

extern "C" __global__ void place4(long i0, long i1, const int *at,
                                  const int *what, int *out)
{
    place(i0, i1, at, what, out);
}

extern "C" __global__ void place8(long i0, long i1, const int *at,
                                  const double *what, double *out)
{
    place(i0, i1, at, what, out);
}

/* The same in an array of two dimensions, of nx columns. */
extern "C" __global__ void place2(long i0, long i1, const int *at,
                                  const int *what, adsm_view2<int> out, int nx)
{
    long i = i0 + adsm_thread_x();
    if (i < i1)
        out(at[i] / nx, at[i] % nx) = what[i];
}

/* out[at[i]] += what[i], and then out[at[i]] *= 2: it reads what it writes. */
extern "C" __global__ void change(long i0, long i1, const int *at,
                                  const int *what, int *out)
{
    long i = i0 + adsm_thread_x();
    if (i >= i1)
        return;
    out[at[i]] += what[i];
    out[at[i]] *= 2;
}
