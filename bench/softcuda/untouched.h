/*
 * What preloading costs a program that never touches device memory from the CPU:
 * one call of each kind, preloaded against bare.
 */
#ifndef BENCH_SOFTCUDA_UNTOUCHED_H
#define BENCH_SOFTCUDA_UNTOUCHED_H

/** The argument with which the bench runs itself as such a program. */
#define UNTOUCHED_CHILD "--untouched"

/** That program: prints the microseconds of a call of each kind. */
int untouched_child(void);

/**
 * Run both in turn and report. PRELOAD names libadsm-preload.so; without it
 * nothing is reported. ADSM_ADDRESS is "adopt" where it is not set.
 *
 * Return: 0, or 1 with a sentence: one of the two failed
 */
int untouched_measure(void);

#endif
