/*
 * Pokes: a few bytes each, sent to memory of the device.
 *
 * They go from page-locked memory of their own, so that the caller keeps nothing
 * for them and the driver's call does not wait for the work that they come
 * behind. They are uploads like any other: numbered, ordered, waited for.
 *
 * Owns the memory, a ring of slots; a slot serves again when the upload lane has
 * passed its number. No lock.
 */
#ifndef ADSM_ACCEL_POKE_H
#define ADSM_ACCEL_POKE_H

#include "accel/types.h"

#include <stdatomic.h>

struct adsm_cause;

enum { ADSM_POKE_BYTES = 32, ADSM_POKE_SLOTS = 512 };

/** Empty where it is zero. */
struct adsm_poke {
    uint8_t *_Atomic memory; /* NULL: none is page-locked */
    _Atomic bool tried;      /* ... and none will be      */
    _Atomic uint32_t next;   /* slot to be used next      */
    /* Number in the upload lane; UINT64_MAX: a thread is about to enqueue. */
    _Atomic uint64_t sent[ADSM_POKE_SLOTS];
};

/** Give the memory back. The upload lane has no work. Thread: one. Signal:
 *  never */
void adsm_poke_clear(struct adsm_accel *accel);

/**
 * Enqueue an upload behind all noted work and `after`.
 *
 * @value  up to ADSM_POKE_BYTES, which may change when this has returned
 * @done   as of adsm_dma_upload
 * Return: ADSM_OK; ADSM_E_UNSUPPORTED: there is no page-locked memory;
 *         ADSM_E_LIMIT: all slots are on their way; a device's error. Nothing
 *         was sent then, and no text is kept
 * Thread: any. Signal: fault path
 */
int adsm_poke_send(struct adsm_accel *accel, struct adsm_daddr to,
                   const void *value, size_t bytes, struct adsm_fence after,
                   struct adsm_fence *done,
                   const struct adsm_cause *cause) ADSM_MUST_CHECK;

#endif
