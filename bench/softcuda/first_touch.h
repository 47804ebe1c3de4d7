/*
 * What the CPU's first touch of an array costs, which shares it, against a later
 * one that finds nothing on the host: both wait for the device and fetch a block.
 *
 *   first-touch         arrays that come and go, at their beginning
 *   first-touch-stays   arrays that stay
 *   first-touch-middle  arrays that come and go, in their middle
 *   first-copy          what a touch fetches, copied by hand for the first time
 */
#ifndef BENCH_SOFTCUDA_FIRST_TOUCH_H
#define BENCH_SOFTCUDA_FIRST_TOUCH_H

/** The argument with which the bench runs itself preloaded. */
#define FIRST_TOUCH_CHILD "--first-touch"

/** That program: prints the microseconds of each for each size. */
int first_touch_child(void);

/** Run it and report, where PRELOAD names libadsm-preload.so. Return: 0, or 1
 *  with a sentence */
int first_touch_measure(void);

#endif
