/*
 * Two-electron repulsion integrals over Gaussian functions by Rys quadrature:
 * one pair of shells against all pairs up to it. Along y the functions of the
 * one, along x those of the others, one thread per integral.
 */
#include "adsm_device.h"
#include "rpes_kernel.h"

/* Number `number` of the table at t. */
static __device__ inline float lookup(const float *table, int number, float t)
{
    if (t >= (float)RPES_LIMIT) {
        float c =
            table[RPES_INTERVALS * RPES_NUMBERS * RPES_COEFFICIENTS + number];
        return number % 2 ? c / adsm_sqrt(t) : c / t;
    }
    int interval = (int)(t * RPES_PER_UNIT);
    float x = t * RPES_PER_UNIT - (float)interval - 0.5f;
    const float *c =
        table + (interval * RPES_NUMBERS + number) * RPES_COEFFICIENTS;
    float sum = c[RPES_COEFFICIENTS - 1];
    for (int i = RPES_COEFFICIENTS - 2; i >= 0; i--)
        sum = adsm_fma(sum, x, c[i]);
    return sum;
}

/* What does not depend on the axis, for one root. */
struct root {
    float b00, b10, b01;  /* coefficients of the recurrence */
    float to_bra, to_ket; /* shares of the distance of the centres */
};

/* Lift one unit from the second function of a pair to the first. */
static __device__ inline float shift(bool a, bool b, float ab, float i0,
                                     float i1, float i2)
{
    if (a && b)
        return adsm_fma(ab, i1, i2);
    if (b)
        return adsm_fma(ab, i0, i1);
    return a ? i1 : i0;
}

/*
 * The integral along one axis: a, b, c, d say which functions point along it.
 * pa, qc  from A and C to the centres P and Q; pq from P to Q
 */
static __device__ inline float along(const struct root *root, float pa,
                                     float qc, float pq, float ab, float cd,
                                     bool a, bool b, bool c, bool d)
{
    float bra = adsm_fma(root->to_bra, pq, pa);
    float ket = adsm_fma(-root->to_ket, pq, qc);
    float i10 = bra, i20 = adsm_fma(bra, bra, root->b10);
    float i01 = ket, i02 = adsm_fma(ket, ket, root->b01);
    float i11 = adsm_fma(ket, i10, root->b00);
    float i21 = adsm_fma(ket, i20, 2.0f * root->b00 * i10);
    float i12 = adsm_fma(bra, i02, 2.0f * root->b00 * i01);
    float i22 =
        adsm_fma(ket, i21, adsm_fma(root->b01, i20, 2.0f * root->b00 * i11));
    return shift(c, d, cd, shift(a, b, ab, 1.0f, i10, i20),
                 shift(a, b, ab, i01, i11, i21),
                 shift(a, b, ab, i02, i12, i22));
}

/* One product of primitives against another, all roots. */
static __device__ float quartet(const rpes_pair *bra, const rpes_pair *ket,
                                const rpes_product *p, const rpes_product *q,
                                const float *table, int bra_axes, int ket_axes,
                                int roots)
{
    float both = p->exponent + q->exponent, square = 0.0f;
    for (int i = 0; i < 3; i++) {
        float d = q->centre[i] - p->centre[i];
        square = adsm_fma(d, d, square);
    }
    float t = p->exponent / both * q->exponent * square, sum = 0.0f;
    for (int r = 0; r < roots; r++) {
        int number = roots * (roots - 1) + 2 * r;
        float u = lookup(table, number, t);
        float product = lookup(table, number + 1, t);
        struct root root;
        root.to_bra = q->exponent / both * u;
        root.to_ket = p->exponent / both * u;
        root.b00 = 0.5f * u / both;
        root.b10 = (0.5f - 0.5f * root.to_bra) / p->exponent;
        root.b01 = (0.5f - 0.5f * root.to_ket) / q->exponent;
        for (int i = 0; i < 3; i++)
            product *=
                along(&root, p->centre[i] - bra->a[i], q->centre[i] - ket->a[i],
                      q->centre[i] - p->centre[i], bra->ab[i], ket->ab[i],
                      bra_axes % 4 == i, bra_axes / 4 == i, ket_axes % 4 == i,
                      ket_axes / 4 == i);
        sum += product;
    }
    return sum * p->factor * q->factor /
           (p->exponent * q->exponent * adsm_sqrt(both));
}

/*
 * integrals  out: for each function of the pair `bra` a row of `kets`
 * kets       functions of all pairs up to and with `bra`
 */
extern "C" __global__ void rpes_row(float *__restrict__ integrals,
                                    const rpes_pair *__restrict__ pairs,
                                    const rpes_product *__restrict__ products,
                                    const rpes_ket *__restrict__ kets,
                                    const float *__restrict__ table, int bra,
                                    int count)
{
    long at = adsm_thread_x();
    int row = (int)blockIdx.y;
    if (at >= count)
        return;
    const rpes_pair *one = pairs + bra, *other = pairs + kets[at].pair;
    int axis_a = one->axes_a == 1 ? RPES_NO_AXIS : row / one->axes_b;
    int axis_b = one->axes_b == 1 ? RPES_NO_AXIS : row % one->axes_b;
    int units = one->axes_a / 3 + one->axes_b / 3 + other->axes_a / 3 +
                other->axes_b / 3;
    float sum = 0.0f;
    for (int i = one->first; i < one->first + one->count; i++)
        for (int k = other->first; k < other->first + other->count; k++)
            sum += quartet(one, other, products + i, products + k, table,
                           axis_a + 4 * axis_b, kets[at].axes, units / 2 + 1);
    integrals[(long)row * count + at] = sum;
}
