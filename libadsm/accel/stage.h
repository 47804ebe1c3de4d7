/*
 * Copies by way of buffers, where the driver does not take the memory itself.
 *
 * A driver may refuse a copy that names host memory it knows nothing of, such
 * as a shared mapping that it would not page-lock. It takes anonymous memory:
 * every CUDA program copies from what malloc gave it. Owns these buffers, in
 * a queue for each copy lane, oldest first; does not decide when they are
 * needed (dma.c).
 *
 * An upload waits for none of them, since the caller may hold what the work
 * ahead of it needs: a further buffer is made. A buffer is used again when the
 * lane has passed its number. Lock: one for each queue, rank ACCEL, held over
 * driver calls, by downloads until the bytes are there.
 */
#ifndef ADSM_ACCEL_STAGE_H
#define ADSM_ACCEL_STAGE_H

#include "accel/lane.h"

enum { ADSM_STAGE_BYTES = 256 << 10 };

struct adsm_stage_buffer; /* its head lies in its memory */

struct adsm_stage_queue {
    struct adsm_lock lock;
    struct adsm_stage_buffer *oldest, *newest;
};

struct adsm_stage {
    /* Some copy was refused and went this way: said, and shown. */
    _Atomic bool used;
    struct adsm_stage_queue queue[ADSM_LANE_PROGRAM]; /* of own lanes */
};

/** Make empty queues in zeroed memory. Thread: the one that makes the accel.
 *  Signal: never */
void adsm_stage_init(struct adsm_stage *stage);

/** Give the buffers back. No lane may have work. Thread: one. Signal: never */
void adsm_stage_clear(struct adsm_accel *accel);

/**
 * Upload in the order of a copy lane's stream; `from` may change when this has
 * returned.
 *
 * @lane  ADSM_LANE_UPLOAD or ADSM_LANE_ASIDE
 * Return: ADSM_OK; the driver's refusal; ADSM_E_NOMEM (no buffer)
 * Thread: any
 * Signal: fault path
 */
int adsm_stage_up(struct adsm_accel *accel, uint32_t lane, struct adsm_daddr to,
                  const void *from, size_t bytes) ADSM_MUST_CHECK;

/**
 * Upload parts of memory that begins at `from` to where they lie from `to` on.
 * Buffers take as many as they have room for; otherwise the same.
 *
 * @sent  how much was handed over, also where it fails
 */
int adsm_stage_up_parts(struct adsm_accel *accel, uint32_t lane,
                        struct adsm_daddr to, const void *from,
                        const struct adsm_dma_part *parts, size_t count,
                        size_t *sent) ADSM_MUST_CHECK;

/** Download in the order of a copy lane's stream (ADSM_LANE_DOWNLOAD or
 *  ADSM_LANE_ASIDE), and wait for the bytes. Otherwise the same. */
int adsm_stage_down(struct adsm_accel *accel, uint32_t lane, void *to,
                    struct adsm_daddr from, size_t bytes) ADSM_MUST_CHECK;

#endif
