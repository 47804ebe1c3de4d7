/*
 * The table of roots and weights of the Rys polynomials. See rpes_kernel.h.
 *
 * The polynomials are orthogonal in x = u^2 under exp(-t u^2) over u in [0, 1].
 * The weight is sampled densely, the polynomials follow by Stieltjes'
 * procedure, their zeros by bisection between those of the polynomial before,
 * and the weights of the quadrature from Christoffel's formula: all in f64.
 */
#include "rpes/rpes.h"

#include <math.h>
#include <stdlib.h>

#define ROOTS_MAX 3
#define POINTS    8  /* Gauss-Legendre points of a panel */
#define PANELS    16 /* over [0, 1] */
#define SAMPLES   (POINTS * PANELS)

struct samples {
    double x[SAMPLES], weight[SAMPLES];
};

/* Recurrence p[k+1] = (x - a[k]) p[k] - b[k] p[k-1]; h[k] = <p[k], p[k]>. */
struct polynomials {
    double a[ROOTS_MAX + 1], b[ROOTS_MAX + 1], h[ROOTS_MAX + 1];
};

/* Abscissas and weights on [-1, 1], by Newton's method. */
static void legendre(double *at, double *weight)
{
    for (int i = 0; i < POINTS; i++) {
        double z = cos(M_PI * (i + 0.75) / (POINTS + 0.5)), slope = 1;
        for (int round = 0; round < 20; round++) {
            double p = 1, before = 0;
            for (int k = 0; k < POINTS; k++) {
                double next = ((2 * k + 1) * z * p - k * before) / (k + 1);
                before = p;
                p = next;
            }
            slope = POINTS * (z * p - before) / (z * z - 1);
            z -= p / slope;
        }
        at[i] = z;
        weight[i] = 2 / ((1 - z * z) * slope * slope);
    }
}

static void samples_make(double t, struct samples *samples)
{
    double at[POINTS], weight[POINTS];
    legendre(at, weight);
    for (int i = 0; i < SAMPLES; i++) {
        double u = (i / POINTS + 0.5 + 0.5 * at[i % POINTS]) / PANELS;
        samples->x[i] = u * u;
        samples->weight[i] =
            0.5 * weight[i % POINTS] / PANELS * exp(-t * u * u);
    }
}

static double value(const struct polynomials *all, int degree, double x)
{
    double p = 1, before = 0;
    for (int k = 0; k < degree; k++) {
        double next = (x - all->a[k]) * p - all->b[k] * before;
        before = p;
        p = next;
    }
    return p;
}

static void stieltjes(const struct samples *samples, struct polynomials *all)
{
    for (int k = 0; k <= ROOTS_MAX; k++) {
        double h = 0, first = 0;
        for (int i = 0; i < SAMPLES; i++) {
            double p = value(all, k, samples->x[i]);
            h += samples->weight[i] * p * p;
            first += samples->weight[i] * p * p * samples->x[i];
        }
        all->h[k] = h;
        all->a[k] = first / h;
        all->b[k] = k > 0 ? h / all->h[k - 1] : 0;
    }
}

static double zero_between(const struct polynomials *all, int degree,
                           double low, double high)
{
    bool rising = value(all, degree, low) < 0;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if ((value(all, degree, middle) < 0) == rising)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* All RPES_NUMBERS roots and weights at t. */
static void quadrature(double t, double *numbers)
{
    struct samples samples;
    struct polynomials all;
    double zero[ROOTS_MAX + 1][ROOTS_MAX + 2] = {{0, 1}};
    samples_make(t, &samples);
    stieltjes(&samples, &all);
    for (int n = 1; n <= ROOTS_MAX; n++) {
        /* The zeros before, with both ends of the interval around them. */
        zero[n][0] = 0;
        for (int i = 1; i <= n; i++)
            zero[n][i] =
                zero_between(&all, n, zero[n - 1][i - 1], zero[n - 1][i]);
        zero[n][n + 1] = 1;
        for (int i = 1; i <= n; i++) {
            double sum = 0;
            for (int k = 0; k < n; k++) {
                double p = value(&all, k, zero[n][i]);
                sum += p * p / all.h[k];
            }
            *numbers++ = zero[n][i];
            *numbers++ = 1 / sum;
        }
    }
}

/* Coefficients in powers of x, |x| <= 1/2, of the polynomial through values at
 * the Chebyshev points: divided differences, then expanded. */
static void interpolate(const double *x, double *y, float *coefficients)
{
    double power[RPES_COEFFICIENTS] = {0};
    for (int k = 1; k < RPES_COEFFICIENTS; k++)
        for (int i = RPES_COEFFICIENTS - 1; i >= k; i--)
            y[i] = (y[i] - y[i - 1]) / (x[i] - x[i - k]);
    for (int i = RPES_COEFFICIENTS - 1; i >= 0; i--) {
        for (int k = RPES_COEFFICIENTS - 1; k > 0; k--)
            power[k] = power[k - 1] - x[i] * power[k];
        power[0] = y[i] - x[i] * power[0];
    }
    for (int i = 0; i < RPES_COEFFICIENTS; i++)
        coefficients[i] = (float)power[i];
}

static void interval_make(int interval, float *coefficients)
{
    double x[RPES_COEFFICIENTS], y[RPES_COEFFICIENTS];
    double at[RPES_COEFFICIENTS][RPES_NUMBERS];
    for (int i = 0; i < RPES_COEFFICIENTS; i++) {
        x[i] = 0.5 * cos(M_PI * (i + 0.5) / RPES_COEFFICIENTS);
        quadrature((interval + 0.5 + x[i]) / RPES_PER_UNIT, at[i]);
    }
    for (int number = 0; number < RPES_NUMBERS; number++) {
        for (int i = 0; i < RPES_COEFFICIENTS; i++)
            y[i] = at[i][number];
        interpolate(x, y, coefficients + number * RPES_COEFFICIENTS);
    }
}

void rpes_table(float *table)
{
    /* What is done first when the molecule is read and memory is there. */
    bench_work();
    enum bench_phase before = bench_enter(BENCH_CPU);
    double numbers[RPES_NUMBERS];
    for (int i = 0; i < RPES_INTERVALS; i++) {
        interval_make(i, table);
        table += RPES_NUMBERS * RPES_COEFFICIENTS;
    }
    /* Far enough out for the end of the interval not to matter. */
    double far = 60;
    quadrature(far, numbers);
    for (int i = 0; i < RPES_NUMBERS; i++)
        table[i] = (float)(numbers[i] * (i % 2 ? sqrt(far) : far));
    bench_enter(before);
}
