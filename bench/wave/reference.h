/*
 * The wave scheme on the CPU, twice, to judge the device by.
 *
 * Owns nothing but arithmetic. reference_run repeats the kernel's operations
 * one by one in f32, so a right device gives the same bits; reference_run_f64
 * computes the same equation in f64 from the formula, so a mistake made in
 * both kernel and first reference shows. Used by tests only.
 */
#ifndef BENCH_WAVE_REFERENCE_H
#define BENCH_WAVE_REFERENCE_H

#include "wave.h"

/**
 * Propagate from rest, injecting the source before each step.
 *
 * @wave    after wave_read_speed; options.steps is not used
 * @speed   wave->cells values; @damping wave->damping_count values
 * @result  receives wave->cells values
 * Return: false when there is not enough memory
 * Thread: any
 * Signal: never
 */
bool reference_run(const struct wave *wave, const float *speed,
                   const float *damping, int steps, float *result);

/** The same in f64 and written independently. */
bool reference_run_f64(const struct wave *wave, const float *speed,
                       const float *damping, int steps, double *result);

#endif
