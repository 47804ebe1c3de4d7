/* The scheme itself, on the CPU: right physics, and two ways that agree. */
#include "common/suite.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>

#define EDGE     57
#define DISTANCE 12 /* cells from source to receiver */
#define COURANT  0.4

static struct wave wave;
static float *speed, *damping;

/* A cube of one speed with the source in its middle; an odd edge has one. */
static void medium_make(void)
{
    wave = (struct wave){
        .nx = EDGE,
        .ny = EDGE,
        .nz = EDGE,
        .model = {EDGE, EDGE, EDGE, .frames = 1, .spacing_m = 10},
        .cells = EDGE * EDGE * EDGE,
        .damping_count = 3 * EDGE,
        .source = (EDGE / 2 * EDGE + EDGE / 2) * EDGE + EDGE / 2,
        .step_s = (float)(COURANT * 10 / 2000),
        .factor = (float)(COURANT * COURANT / (2000.0 * 2000.0)),
        .peak_hz = 2000.0f / (10 * 10),
    };
    speed = malloc(wave.cells * sizeof *speed);
    damping = malloc(wave.damping_count * sizeof *damping);
    ck_assert(speed && damping);
    for (size_t i = 0; i < wave.cells; i++)
        speed[i] = 2000;
    wave_fill_damping(&wave, damping);
}

static void medium_free(void)
{
    free(speed);
    free(damping);
}

START_TEST(pulse_arrives_with_speed_and_spreading_of_the_wave_equation)
{
    /* The source adds w(t) h^3 / dt^2 to p_tt in one cell, so far away
     * p = w(t - r/v) / (4 pi courant^2 r/h). It peaks at 1.2/f + r/v; the
     * value added to `now` counts from one step earlier. */
    medium_make();
    double expected = 1 / (4 * M_PI * COURANT * COURANT * DISTANCE);
    int arrival =
        (int)lround(1.2 / ((double)wave.peak_hz * (double)wave.step_s) +
                    DISTANCE / COURANT);
    float *field = malloc(wave.cells * sizeof *field);
    double peak = 0;
    int at = 0;
    for (int steps = arrival - 3; steps <= arrival + 3; steps++) {
        ck_assert(reference_run(&wave, speed, damping, steps, field));
        double value = (double)field[wave.source + DISTANCE];
        if (value > peak) {
            peak = value;
            at = steps;
        }
    }
    ck_assert_int_ge(at, arrival - 2);
    ck_assert_int_le(at, arrival + 2);
    ck_assert_msg(fabs(peak / expected - 1) < 0.05,
                  "peak %g, the wave equation says %g", peak, expected);
    free(field);
    medium_free();
}
END_TEST

START_TEST(wave_spreads_alike_along_every_axis)
{
    medium_make();
    float *field = malloc(wave.cells * sizeof *field);
    ck_assert(reference_run(&wave, speed, damping, 60, field));
    size_t stride[] = {1, EDGE, EDGE * EDGE};
    float along_x = field[wave.source + DISTANCE];
    for (int axis = 0; axis < 3; axis++) {
        size_t far = DISTANCE * stride[axis];
        ck_assert_float_eq_tol(field[wave.source + far], along_x, 1e-6f);
        ck_assert_float_eq_tol(field[wave.source - far], along_x, 1e-6f);
    }
    free(field);
    medium_free();
}
END_TEST

static double energy(const float *field)
{
    double sum = 0;
    for (size_t i = 0; i < wave.cells; i++)
        sum += (double)field[i] * (double)field[i];
    return sum;
}

START_TEST(border_takes_the_wave_away)
{
    medium_make();
    float *field = malloc(wave.cells * sizeof *field);
    ck_assert(reference_run(&wave, speed, damping, 70, field));
    double early = energy(field);
    ck_assert(reference_run(&wave, speed, damping, 260, field));
    double late = energy(field);
    ck_assert_msg(late < 0.05 * early, "%g of %g is left", late, early);
    free(field);
    medium_free();
}
END_TEST

START_TEST(f32_and_f64_agree_in_a_rough_medium)
{
    medium_make();
    for (size_t i = 0; i < wave.cells; i++)
        speed[i] = 1200 + (float)((i * 7919) % 801);
    float *f32 = malloc(wave.cells * sizeof *f32);
    double *f64 = malloc(wave.cells * sizeof *f64);
    ck_assert(reference_run(&wave, speed, damping, 90, f32));
    ck_assert(reference_run_f64(&wave, speed, damping, 90, f64));
    double peak = 0, error = 0;
    for (size_t i = 0; i < wave.cells; i++) {
        peak = fmax(peak, fabs(f64[i]));
        error = fmax(error, fabs(f64[i] - (double)f32[i]));
    }
    ck_assert(peak > 1e-3);
    ck_assert_msg(error < 2e-5 * peak, "error %g of %g", error, peak);
    free(f32);
    free(f64);
    medium_free();
}
END_TEST

START_TEST(wavelet_begins_from_nothing_and_peaks_at_one)
{
    medium_make();
    float peak = 0;
    for (int step = 0; step < 200; step++)
        peak = fmaxf(peak, wave_wavelet(&wave, step));
    ck_assert(fabsf(wave_wavelet(&wave, 0)) < 1e-4f);
    ck_assert_float_eq_tol(peak, 1.0f, 0.01f);
    ck_assert(fabsf(wave_wavelet(&wave, 1000)) < 1e-6f);
    medium_free();
}
END_TEST

START_TEST(digest_is_fnv_1a)
{
    ck_assert_uint_eq(wave_digest("", 0), 0xcbf29ce484222325u);
    ck_assert_uint_eq(wave_digest("foobar", 6), 0x85944171f73967e8u);
}
END_TEST

SUITE_MAIN("wave reference", 60,
           pulse_arrives_with_speed_and_spreading_of_the_wave_equation,
           wave_spreads_alike_along_every_axis, border_takes_the_wave_away,
           f32_and_f64_agree_in_a_rough_medium,
           wavelet_begins_from_nothing_and_peaks_at_one, digest_is_fnv_1a)
