/*
 * Peer access: kernels of one device (the guest) that use memory of another
 * (the host).
 */
#ifndef ADSM_ACCEL_PEER_H
#define ADSM_ACCEL_PEER_H

#include "accel/accel.h"

/**
 * Let kernels of the guest's device use the host's memory, what is allocated
 * later included, or no more.
 *
 * Return: ADSM_OK, the device's error
 * Thread: any
 * Signal: never
 */
int adsm_peer_open(struct adsm_accel *host, struct adsm_accel *guest,
                   bool enable);

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

#endif
