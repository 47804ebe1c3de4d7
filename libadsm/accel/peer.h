/*
 * Peer access: kernels of one device (the guest) that use memory of another
 * (the host), and copies from device to device.
 *
 * A copy needs nothing opened: it only has to be known whether the devices
 * reach each other, which the driver is asked once for each pair.
 */
#ifndef ADSM_ACCEL_PEER_H
#define ADSM_ACCEL_PEER_H

#include "accel/types.h"

/**
 * Let kernels of the guest's device use the host's memory, what is allocated
 * later included, or no more.
 *
 * Return: ADSM_OK, the device's error
 * Thread: any
 * Signal: never
 */
int adsm_peer_open(struct adsm_accel *host, struct adsm_accel *guest,
                   bool enable) ADSM_MUST_CHECK;

/**
 * Accels whose memory the guest's kernels may use, one after the other.
 *
 * @last  NULL, then what came before
 * Return: the next one; NULL: no more
 * Thread: any
 * Signal: fault path
 */
struct adsm_accel *adsm_peer_next_host(const struct adsm_accel *guest,
                                       struct adsm_accel *last);

/**
 * Whether the one accel's memory may be copied from the other's without the
 * host in between. An accel's own, and that of its device, always.
 *
 * Return: what the driver says; false where it does not
 * Thread: any
 * Signal: fault path
 */
bool adsm_peer_can(struct adsm_accel *to, struct adsm_accel *from);

/** Let no accel copy from another one's memory from here on, or again: for
 *  tests of the way through the host. Thread: any. Signal: any handler */
void adsm_peer_forbid(bool forbid);

#endif
