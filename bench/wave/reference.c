/*
 * The wave scheme on the CPU. See reference.h; built with -ffp-contract=off.
 */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float pairs(const float *cell, size_t stride, float sum)
{
    static const float weight[] = {WAVE_C1, WAVE_C2, WAVE_C3, WAVE_C4};
    for (size_t i = 1; i <= WAVE_RADIUS; i++)
        sum = fmaf(weight[i - 1], cell[i * stride] + *(cell - i * stride), sum);
    return sum;
}

static void row_step(const struct wave *wave, float *before, const float *now,
                     const float *speed, const float *damping, int y, int z)
{
    size_t row = (size_t)wave->nx, plane = row * (size_t)wave->ny;
    const float *loss_y = damping + wave->nx, *loss_z = loss_y + wave->ny;
    for (int x = WAVE_RADIUS; x < wave->nx - WAVE_RADIUS; x++) {
        size_t at = (size_t)z * plane + (size_t)y * row + (size_t)x;
        float laplace = 3.0f * WAVE_C0 * now[at];
        laplace = pairs(now + at, 1, laplace);
        laplace = pairs(now + at, row, laplace);
        laplace = pairs(now + at, plane, laplace);
        float courant = speed[at] * speed[at] * wave->factor;
        float loss = damping[x] + loss_y[y] + loss_z[z];
        float ahead = fmaf(1.0f - loss, now[at] - before[at], now[at]);
        before[at] = fmaf(courant, laplace, ahead);
    }
}

bool reference_run(const struct wave *wave, const float *speed,
                   const float *damping, int steps, float *result)
{
    float *before = calloc(wave->cells, sizeof *before);
    float *now = calloc(wave->cells, sizeof *now);
    bool good = before && now;
    for (int step = 0; good && step < steps; step++) {
        now[wave->source] += wave_wavelet(wave, step);
        for (int z = WAVE_RADIUS; z < wave->nz - WAVE_RADIUS; z++)
            for (int y = WAVE_RADIUS; y < wave->ny - WAVE_RADIUS; y++)
                row_step(wave, before, now, speed, damping, y, z);
        float *next = before;
        before = now;
        now = next;
    }
    if (good)
        memcpy(result, now, wave->cells * sizeof *now);
    free(before);
    free(now);
    return good;
}

/* u_xx + u_yy + u_zz in cells, from the weights of the second derivative that
 * is exact for polynomials of degree nine. */
static double laplace_f64(const double *u, const ptrdiff_t stride[3])
{
    static const double weight[] = {8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
    double sum = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int i = 1; i <= WAVE_RADIUS; i++)
            sum += weight[i - 1] *
                   (u[i * stride[axis]] - 2 * u[0] + u[-i * stride[axis]]);
    return sum;
}

bool reference_run_f64(const struct wave *wave, const float *speed,
                       const float *damping, int steps, double *result)
{
    ptrdiff_t stride[3] = {1, wave->nx, (ptrdiff_t)wave->nx * wave->ny};
    double *u[3] = {0};
    for (int i = 0; i < 3; i++)
        u[i] = calloc(wave->cells, sizeof **u);
    bool good = u[0] && u[1] && u[2];
    for (int step = 0; good && step < steps; step++) {
        double *was = u[step % 3], *is = u[(step + 1) % 3];
        double *next = u[(step + 2) % 3];
        is[wave->source] += (double)wave_wavelet(wave, step);
        for (size_t i = 0; i < wave->cells; i++) {
            int x = (int)(i % (size_t)stride[1]);
            int y = (int)(i % (size_t)stride[2] / (size_t)stride[1]);
            int z = (int)(i / (size_t)stride[2]);
            if (x < WAVE_RADIUS || x >= wave->nx - WAVE_RADIUS ||
                y < WAVE_RADIUS || y >= wave->ny - WAVE_RADIUS ||
                z < WAVE_RADIUS || z >= wave->nz - WAVE_RADIUS)
                continue;
            double loss = (double)damping[x] + (double)damping[wave->nx + y] +
                          (double)damping[wave->nx + wave->ny + z];
            double v = (double)speed[i];
            next[i] =
                is[i] + (1 - loss) * (is[i] - was[i]) +
                v * v * (double)wave->factor * laplace_f64(is + i, stride);
        }
    }
    if (good)
        memcpy(result, u[(steps + 1) % 3], wave->cells * sizeof *result);
    for (int i = 0; i < 3; i++)
        free(u[i]);
    return good;
}
