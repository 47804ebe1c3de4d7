/*
 * What the CPU's first touch of an array costs, which shares it, against a later
 * one that finds nothing on the host: both wait for the device and fetch a block.
 */
#ifndef BENCH_SOFTCUDA_FIRST_TOUCH_H
#define BENCH_SOFTCUDA_FIRST_TOUCH_H

/** The argument with which the bench runs itself preloaded. */
#define FIRST_TOUCH_CHILD "--first-touch"

/** That program: prints the microseconds of both for each size. */
int first_touch_child(void);

/** Run it and report, where PRELOAD names libadsm-preload.so. Return: 0, or 1
 *  with a sentence */
int first_touch_measure(void);

#endif
