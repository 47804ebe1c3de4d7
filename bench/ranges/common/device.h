/*
 * The device side of the programs of bench/ranges: arrays without a home and
 * calls over every device there is, checked and timed.
 *
 * Errors end the program as bench.h says. One thread, no locks.
 */
#ifndef BENCH_RANGES_DEVICE_H
#define BENCH_RANGES_DEVICE_H

#include "common/shared.h"

/** The kernel of that name in `bench_ptx`. */
adsmKernel *device_kernel(const char *name);

/** A shared array that no device has all of. */
void *device_array(size_t elem, adsmBox shape);

/** Call a kernel over a range, on all devices. */
#define device_call(kernel, range, ...)                                        \
    device_call_with((adsmOpts){0}, kernel, range, __VA_ARGS__)

/** The same with options, whose devices are all. */
#define device_call_with(opts, kernel, range, ...)                             \
    device_call_v(opts, kernel, range, ADSM_ARGS(__VA_ARGS__))
void device_call_v(adsmOpts opts, adsmKernel *kernel, adsmBox range, int count,
                   const adsmArg *args);

#endif
