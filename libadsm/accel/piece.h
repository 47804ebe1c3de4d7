/*
 * Copies of host memory in pieces that the driver takes.
 *
 * A copy must not cross from one registration into another or into plain
 * memory (pinned.h), and memory that the driver refuses even so goes by way of
 * buffers (stage.h). Owns that decision, and no state. Both directions of every
 * transfer come through here, on the fault path as well.
 */
#ifndef ADSM_ACCEL_PIECE_H
#define ADSM_ACCEL_PIECE_H

#include "accel/types.h"

/**
 * Whether a copy was refused for the memory it names. Of an unknown address on
 * the device the driver says the same; then the copy by buffers fails as well.
 *
 * Thread: any
 * Signal: any handler
 */
bool adsm_piece_is_refused(struct adsm_accel *accel, int status);

/** Whether all of the memory is plain, which the driver was seen to refuse.
 *  Thread: any. Signal: any handler */
bool adsm_piece_must_stage(struct adsm_accel *accel);

/**
 * Copy to the device, in the order of a copy lane.
 *
 * @behind  the bytes are there only when the lane gets to the copy: what goes
 *          through buffers waits for that
 * @sent    how much was handed over, also where it fails
 * Return: ADSM_OK, or the driver's refusal
 * Thread: any
 * Signal: fault path
 */
int adsm_piece_up(struct adsm_accel *accel, uint32_t lane, struct adsm_daddr to,
                  const void *shadow, size_t bytes, bool behind, size_t *sent);

/** Copy to the host, in the order of a copy lane; otherwise the same. */
int adsm_piece_down(struct adsm_accel *accel, uint32_t lane, void *shadow,
                    struct adsm_daddr from, size_t bytes);

#endif
