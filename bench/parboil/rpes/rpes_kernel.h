/*
 * The layout of data that the kernel of rpes and the programs that launch it
 * agree on. Plain types: device code includes this.
 */
#ifndef BENCH_PARBOIL_RPES_KERNEL_H
#define BENCH_PARBOIL_RPES_KERNEL_H

#define RPES_THREADS 64

/* Axis of a function: x, y or z of a p shell; none for an s shell. */
#define RPES_NO_AXIS 3

/* Two shells, the first at A, the second at B. */
struct rpes_pair {
    int axes_a, axes_b; /* functions of each: 1 or 3 */
    int first, count;   /* its products of primitives */
    float a[3], ab[3];  /* A, and A - B */
};

/* Two primitives: the sum of their exponents, their common centre, and all
 * their factors. */
struct rpes_product {
    float exponent, centre[3], factor;
};

/* Two functions: number of the pair, and axes as axis_a + 4 * axis_b. */
struct rpes_ket {
    int pair, axes;
};

/* Roots and weights of the Rys polynomials, for one, two and three roots one
 * behind the other, each root before its weight. Below RPES_LIMIT every one is
 * a polynomial per interval; above, a root is c / t and a weight is
 * c / sqrt(t). Interval by interval, then the c. */
#define RPES_LIMIT        32
#define RPES_PER_UNIT     2 /* intervals */
#define RPES_INTERVALS    (RPES_LIMIT * RPES_PER_UNIT)
#define RPES_COEFFICIENTS 7
#define RPES_NUMBERS      12
#define RPES_TABLE                                                             \
    (RPES_INTERVALS * RPES_NUMBERS * RPES_COEFFICIENTS + RPES_NUMBERS)

#endif
