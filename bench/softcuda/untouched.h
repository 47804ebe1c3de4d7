/*
 * What preloading costs a program's calls, one of each kind, against the bare
 * program: where the CPU never touches device memory (untouched), where it reads
 * one array that most calls do not name (elsewhere), three that a launch reads
 * (near), and one, where nothing is known of kernels (unread).
 */
#ifndef BENCH_SOFTCUDA_UNTOUCHED_H
#define BENCH_SOFTCUDA_UNTOUCHED_H

/** The argument with which the bench runs itself as such a program. */
#define UNTOUCHED_CHILD "--untouched"

/** That program, whose CPU reads `near` arrays before each round of calls: prints
 *  the microseconds of a call of each kind. */
int untouched_child(const char *near);

/**
 * Run both in turn and report. PRELOAD names libadsm-preload.so; without it
 * nothing is reported. ADSM_ADDRESS is "adopt" where it is not set.
 *
 * Return: 0, or 1 with a sentence: one of the two failed
 */
int untouched_measure(void);

#endif
