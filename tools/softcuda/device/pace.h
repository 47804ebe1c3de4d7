/*
 * The pace of a device's kernels (SOFTCUDA_PACE).
 */
#ifndef SOFTCUDA_DEVICE_PACE_H
#define SOFTCUDA_DEVICE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/protocol.h"

/**
 * Sleep until the launch that was just executed has taken its time, and count
 * it.  Its result is the next to be published.
 *
 * @shared the channel, of a device that has a pace; @grid, @block of the launch
 * Return: false when it was cancelled meanwhile
 * Thread: the serving thread
 */
bool sc_pace_keep(struct sc_shared *shared, const uint32_t grid[3],
                  const uint32_t block[3]);

/** The command just executed is no launch and took `ns`: no kernel ran
 *  meanwhile.  Thread: the serving thread. */
void sc_pace_pass(const struct sc_shared *shared, uint64_t ns);

#endif
