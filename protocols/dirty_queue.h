/*
 * Policy of rolling-update: which dirty block is written back, and when.
 *
 * A first-in first-out ring of blocks in the order in which they became dirty
 * and a limit, the rolling size, which is fixed or grows with each allocation
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
    uint32_t limit;  /* rolling size in blocks */
    uint32_t factor; /* growth per allocation; 0 when the size is fixed */
};

/** Empty queue over `ring`. @size rolling size, 0 = adaptive by `factor`. */
void adsm_dirty_queue_init(struct adsm_dirty_queue *queue,
                           struct adsm_dirty_entry *ring, uint32_t capacity,
                           uint32_t size, uint32_t factor);

/** An object was allocated. */
void adsm_dirty_queue_grow(struct adsm_dirty_queue *queue);

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
