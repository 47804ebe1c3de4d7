/*
 * Launches of the public API: arguments checked, objects released, kernel
 * enqueued, fences kept.
 */
#ifndef ADSM_SCHED_LAUNCH_H
#define ADSM_SCHED_LAUNCH_H

#include "adsm.h"

#include <stddef.h>

/**
 * Launch `kernel` (adsmLaunchV). Failures set the error detail; nothing is
 * launched then.
 *
 * @grid @block  three dimensions each, 1 or more
 */
int adsm_launch(const adsmKernel *kernel, const unsigned grid[3],
                const unsigned block[3], size_t shared_bytes, int count,
                const adsmArg *args);

/** Launch a range kernel over [0, n) (adsmCallV). */
int adsm_launch_range(const adsmKernel *kernel, long n, int count,
                      const adsmArg *args);

#endif
