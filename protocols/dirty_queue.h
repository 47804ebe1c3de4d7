/*
 * Policy of rolling-update: which dirty block is written back. When is a matter
 * of rolling_size.h.
 *
 * A first-in first-out ring of blocks in the order in which they became dirty
 * (the paper, section 4.3). An entry may be stale, its block no longer dirty:
 * the user checks. Storage comes from the user; no locks, no system calls.
 * Thread: one at a time. Signal: fault path.
 */
#ifndef PROTOCOLS_DIRTY_QUEUE_H
#define PROTOCOLS_DIRTY_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct adsm_dirty_entry {
    void *owner;         /* the object                       */
    uint32_t generation; /* tells a reused object from its predecessor */
    uint32_t block;
};

struct adsm_dirty_queue {
    struct adsm_dirty_entry *ring;
    uint32_t capacity; /* power of two */
    uint32_t head, count;
};

/** Empty queue over `ring`. */
void adsm_dirty_queue_init(struct adsm_dirty_queue *queue,
                           struct adsm_dirty_entry *ring, uint32_t capacity);

/** Enter the youngest; false when the ring is full (nothing changed). */
bool adsm_dirty_queue_push(struct adsm_dirty_queue *queue,
                           struct adsm_dirty_entry entry);

/** Take out the oldest; false when empty. */
bool adsm_dirty_queue_pop(struct adsm_dirty_queue *queue,
                          struct adsm_dirty_entry *entry);

/** Take out the oldest if it is `block` of `owner`: extends a run. */
bool adsm_dirty_queue_pop_next(struct adsm_dirty_queue *queue, void *owner,
                               uint32_t generation, uint32_t block);

#endif
