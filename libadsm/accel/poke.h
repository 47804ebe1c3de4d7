/*
 * Pokes: stores of the CPU, a few bytes each, that go to memory of the device.
 *
 * They are uploads like any other: numbered, ordered, waited for. At first each is
 * a copy of its own, from page-locked memory, so that the caller keeps nothing for
 * it and the driver's call does not wait for the work that it comes behind. Once
 * there were many, a kernel is loaded (tools/cuda/poke.cu), and from then on they
 * are gathered in a log, for which no driver is called. Their numbers are held
 * (lane.h): whoever would see the device's bytes has the log sent first, and one
 * launch does that. Bytes are gathered by word, so what is stored twice is there
 * once, as it was stored last, and the threads of the kernel have no order to keep.
 *
 * Where there is no kernel each is a copy, as are those to allocations that share
 * pages (extent.h), and a log of one.
 *
 * Owns the memory, a ring of slots, of which one serves again when the upload lane
 * has passed its number; the log; the kernel. Lock: poke->lock, rank POKE, guards
 * the log, and is held while it is sent, which only enqueues.
 */
#ifndef ADSM_ACCEL_POKE_H
#define ADSM_ACCEL_POKE_H

#include "accel/types.h"
#include "base/lock.h"

#include <stdatomic.h>

struct adsm_cause;

enum {
    ADSM_POKE_BYTES = 32,
    ADSM_POKE_SLOTS = 512,
    ADSM_POKE_WORDS = 240,
    ADSM_POKE_AFTER = 4,
    /* So many are copies before the kernel is loaded: that takes about as long,
     * on a machine with a GPU. */
    ADSM_POKE_COPIES = 512,
};

/** What the kernel gets: at most 4 KiB, in its layout. */
struct adsm_poke_words {
    uint64_t at[ADSM_POKE_WORDS], value[ADSM_POKE_WORDS];
    uint8_t stored[ADSM_POKE_WORDS]; /* a bit for each byte of the word */
    uint32_t count;
};

/** Empty where it is zero, but for the lock. */
struct adsm_poke {
    uint8_t *_Atomic memory; /* NULL: none is page-locked */
    _Atomic bool tried;      /* ... and none will be      */
    _Atomic uint32_t next;   /* slot to be used next      */
    /* Number in the upload lane; UINT64_MAX: a thread is about to enqueue. */
    _Atomic uint64_t sent[ADSM_POKE_SLOTS];
    void *module;
    void *_Atomic kernel;    /* NULL: none is loaded                    */
    _Atomic bool asked;      /* ... and none will be                    */
    _Atomic uint32_t copies; /* counted until it is time to load it     */
    struct adsm_lock lock;
    uint32_t stores; /* lock: in the log, one over another included */
    size_t bytes;    /* lock: of the first                          */
    uint32_t afters; /* lock */
    struct adsm_fence after[ADSM_POKE_AFTER]; /* lock: what it comes behind */
    struct adsm_poke_words words;             /* lock */
};

/** Make it in zeroed memory. Thread: the one that makes the accel. Signal: never */
void adsm_poke_init(struct adsm_accel *accel);

/** Give all back. The upload lane has no work. Thread: one. Signal: never */
void adsm_poke_clear(struct adsm_accel *accel);

/** Load the kernel, if it is time to, and the device has nothing to do: drivers may
 *  wait for its work then. Thread: any; holds no lock. Signal: never */
void adsm_poke_prepare(struct adsm_accel *accel);

/**
 * Store on the device, behind all noted work and `after`.
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

/** Send the logs of all accels: what is enqueued next may wait for the CPU, which
 *  may wait for them. Thread: any. Signal: fault path */
void adsm_poke_submit_all(void);

/** Drop what is in the log of memory that goes, where it could not be sent. Thread:
 *  any. Signal: never */
void adsm_poke_forget(struct adsm_accel *accel, struct adsm_daddr at,
                      size_t bytes);

#endif
