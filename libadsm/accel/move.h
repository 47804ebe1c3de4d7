/*
 * Moves of boxes of bytes: between the host and a device, within a device, and
 * from device to device.
 *
 * One function for all of them. A move runs on a copy lane: the upload lane of
 * the device it goes to, or the download lane of the one it comes from where it
 * goes to the host. It waits on the device, never on the CPU, for what it is
 * told to wait for: fences of whatever accels, and where asked for all that is
 * noted on the lanes of the accels involved. Besides, it follows what the
 * upload lane of its source still writes there. So a move that is given fences
 * alone runs beside a kernel that it has nothing to do with.
 *
 * Owns no state. Counters: bytes_up, bytes_down, bytes_device, each also by cause
 * (base/cause.h), bytes_local and bytes_peer, ns_up and ns_down.
 */
#ifndef ADSM_ACCEL_MOVE_H
#define ADSM_ACCEL_MOVE_H

#include "accel/types.h"
#include "base/cause.h"

/** Where a box begins, and how it lies there. */
struct adsm_place {
    struct adsm_accel *accel; /* NULL: the host */
    union {
        void *host; /* read only where the box comes from there */
        struct adsm_daddr device;
    };
    size_t pitch[2]; /* bytes from row to row, from plane to plane */
};

/** How large a box is. Pitches count where it has more than one of them. */
struct adsm_extent {
    size_t bytes, rows, planes;
};

static inline struct adsm_extent adsm_extent_of(size_t bytes)
{
    return (struct adsm_extent){bytes, 1, 1};
}

/**
 * Enqueue the move of a box.
 *
 * Host memory must stay as it is until *done, and is best page-locked: other
 * memory may be read or written before this returns, which then blocks until
 * the fences are reached. Memory that is not on a pitch is not touched.
 *
 * @to @from       at most one of them the host; they do not overlap
 * @after, count   fences to wait for, of any accels
 * @noted          wait also for all that is noted on lanes of both accels
 * @done           reached when the bytes are there; where the move fails, when
 *                 whatever part of it was enqueued has ended
 * @cause          why, and whose bytes they are
 * Return: ADSM_OK; ADSM_E_UNSUPPORTED, nothing done: the devices do not reach
 *         each other (adsm_peer_can), go through the host, or both places are
 *         the host; an error of a device
 * Thread: any
 * Signal: fault path
 */
int adsm_move(const struct adsm_place *to, const struct adsm_place *from,
              struct adsm_extent extent, const struct adsm_fence *after,
              size_t count, bool noted, struct adsm_fence *done,
              const struct adsm_cause *cause) ADSM_MUST_CHECK;

#endif
