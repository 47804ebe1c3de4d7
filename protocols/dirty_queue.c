/* The queue of dirty blocks: a ring. */
#include "protocols/dirty_queue.h"

void adsm_dirty_queue_init(struct adsm_dirty_queue *queue,
                           struct adsm_dirty_entry *ring, uint32_t capacity)
{
    *queue = (struct adsm_dirty_queue){.ring = ring, .capacity = capacity};
}

bool adsm_dirty_queue_push(struct adsm_dirty_queue *queue,
                           struct adsm_dirty_entry entry)
{
    if (queue->count == queue->capacity)
        return false;
    uint32_t tail = (queue->head + queue->count) & (queue->capacity - 1);
    queue->ring[tail] = entry;
    queue->count++;
    return true;
}

bool adsm_dirty_queue_pop(struct adsm_dirty_queue *queue,
                          struct adsm_dirty_entry *entry)
{
    if (queue->count == 0)
        return false;
    *entry = queue->ring[queue->head];
    queue->head = (queue->head + 1) & (queue->capacity - 1);
    queue->count--;
    return true;
}

bool adsm_dirty_queue_pop_next(struct adsm_dirty_queue *queue, void *owner,
                               uint32_t generation, uint32_t block)
{
    if (queue->count == 0)
        return false;
    const struct adsm_dirty_entry *oldest = &queue->ring[queue->head];
    if (oldest->owner != owner || oldest->generation != generation ||
        oldest->block != block)
        return false;
    struct adsm_dirty_entry taken;
    return adsm_dirty_queue_pop(queue, &taken);
}
