/* Copies by way of buffers; see stage.h. */
#include "accel/stage.h"

#include "accel/device.h"
#include "accel/extent.h"
#include "accel/error.h"
#include "os/vm.h"

#include <string.h>

struct adsm_stage_buffer {
    struct adsm_stage_buffer *next;
    uint64_t seq; /* in the lane: when it is done, the buffer is free */
    uint8_t bytes[];
};

#define ROOM (ADSM_STAGE_BYTES - sizeof(struct adsm_stage_buffer))

void adsm_stage_init(struct adsm_stage *stage)
{
    for (int i = 0; i < ADSM_LANE_PROGRAM; i++)
        adsm_lock_init(&stage->queue[i].lock, ADSM_RANK_ACCEL);
}

void adsm_stage_clear(struct adsm_accel *accel)
{
    for (int i = 0; i < ADSM_LANE_PROGRAM; i++) {
        struct adsm_stage_queue *queue = &accel->stage->queue[i];
        struct adsm_stage_buffer *buffer;
        while ((buffer = queue->oldest)) {
            queue->oldest = buffer->next;
            adsm_vm_release((uintptr_t)buffer, ADSM_STAGE_BYTES);
        }
        queue->newest = NULL;
    }
}

static struct adsm_stage_buffer *make(void)
{
    uintptr_t at = adsm_vm_reserve(ADSM_STAGE_BYTES, 0, 0);
    if (at &&
        adsm_vm_protect(at, ADSM_STAGE_BYTES, ADSM_PROT_READ_WRITE) == ADSM_OK)
        return (struct adsm_stage_buffer *)at;
    if (at)
        adsm_vm_release(at, ADSM_STAGE_BYTES);
    return NULL;
}

/* A buffer that no copy uses, out of the queue; its lock is held. NULL: no
 * memory for another one, which is then waited for. */
static struct adsm_stage_buffer *take(struct adsm_accel *accel, uint32_t lane)
{
    struct adsm_stage_queue *queue = &accel->stage->queue[lane];
    struct adsm_stage_buffer *oldest = queue->oldest;
    struct adsm_fence behind = {accel, lane, oldest ? oldest->seq : 0};
    if (!oldest || !adsm_fence_done(behind)) {
        struct adsm_stage_buffer *made = make();
        if (made || !oldest || adsm_fence_wait(behind) != ADSM_OK)
            return made;
    }
    queue->oldest = oldest->next;
    if (!queue->oldest)
        queue->newest = NULL;
    return oldest;
}

/* Back into the queue: free from number `seq` of the lane on. */
static void put(struct adsm_accel *accel, uint32_t lane,
                struct adsm_stage_buffer *buffer, uint64_t seq)
{
    struct adsm_stage_queue *queue = &accel->stage->queue[lane];
    buffer->next = NULL;
    buffer->seq = seq;
    if (queue->newest)
        queue->newest->next = buffer;
    else
        queue->oldest = buffer;
    queue->newest = buffer;
}

static int piece_up(struct adsm_accel *accel, uint32_t lane,
                    struct adsm_daddr to, const void *from, size_t bytes)
{
    struct adsm_stage_buffer *buffer = take(accel, lane);
    if (!buffer)
        return adsm_accel_fail(ADSM_E_NOMEM, "no memory for a copy", NULL);
    memcpy(buffer->bytes, from, bytes);
    int status = adsm_extent_copy_up(accel, accel->lanes->lane[lane].stream, to,
                                     buffer->bytes, bytes);
    put(accel, lane, buffer, adsm_lane_tick(accel, lane));
    return status;
}

/* Parts from *part on, of which *at bytes are sent, as far as a buffer takes
 * them. */
static int fill_up(struct adsm_accel *accel, uint32_t lane,
                   struct adsm_daddr to, const uint8_t *from,
                   const struct adsm_dma_part **part, size_t *at,
                   const struct adsm_dma_part *end)
{
    struct adsm_stage_buffer *buffer = take(accel, lane);
    int status = ADSM_OK;
    if (!buffer)
        return adsm_accel_fail(ADSM_E_NOMEM, "no memory for a copy", NULL);
    for (size_t n, used = 0; status == ADSM_OK && *part < end && used < ROOM;) {
        size_t offset = (*part)->offset + *at, left = (*part)->bytes - *at;
        n = left < ROOM - used ? left : ROOM - used;
        memcpy(buffer->bytes + used, from + offset, n);
        status = adsm_extent_copy_up(accel, accel->lanes->lane[lane].stream,
                                     adsm_daddr_add(to, offset),
                                     buffer->bytes + used, n);
        used += n;
        *at = n < left ? *at + n : 0;
        *part += n == left;
    }
    put(accel, lane, buffer, adsm_lane_tick(accel, lane));
    return status;
}

static int piece_down(struct adsm_accel *accel, uint32_t lane, void *to,
                      struct adsm_daddr from, size_t bytes)
{
    struct adsm_stage_buffer *buffer = take(accel, lane);
    if (!buffer)
        return adsm_accel_fail(ADSM_E_NOMEM, "no memory for a copy", NULL);
    int status = adsm_extent_copy_down(accel, accel->lanes->lane[lane].stream,
                                       buffer->bytes, from, bytes);
    struct adsm_fence there = {accel, lane, adsm_lane_tick(accel, lane)};
    if (status == ADSM_OK)
        status = adsm_fence_wait(there);
    if (status == ADSM_OK)
        memcpy(to, buffer->bytes, bytes);
    put(accel, lane, buffer, there.seq);
    return status;
}

int adsm_stage_up(struct adsm_accel *accel, uint32_t lane, struct adsm_daddr to,
                  const void *from, size_t bytes)
{
    int status = ADSM_OK;
    adsm_lock_acquire(&accel->stage->queue[lane].lock);
    for (size_t n, sent = 0; status == ADSM_OK && sent < bytes; sent += n) {
        n = bytes - sent < ROOM ? bytes - sent : ROOM;
        status = piece_up(accel, lane, adsm_daddr_add(to, sent),
                          (const char *)from + sent, n);
    }
    adsm_lock_release(&accel->stage->queue[lane].lock);
    return status;
}

int adsm_stage_up_parts(struct adsm_accel *accel, uint32_t lane,
                        struct adsm_daddr to, const void *from,
                        const struct adsm_dma_part *parts, size_t count,
                        size_t *sent)
{
    const struct adsm_dma_part *part = parts, *end = parts + count;
    size_t at = 0;
    int status = ADSM_OK;
    adsm_lock_acquire(&accel->stage->queue[lane].lock);
    while (status == ADSM_OK && part < end)
        status = fill_up(accel, lane, to, from, &part, &at, end);
    adsm_lock_release(&accel->stage->queue[lane].lock);
    for (*sent = at; parts < part; parts++)
        *sent += parts->bytes;
    return status;
}

int adsm_stage_down(struct adsm_accel *accel, uint32_t lane, void *to,
                    struct adsm_daddr from, size_t bytes)
{
    int status = ADSM_OK;
    adsm_lock_acquire(&accel->stage->queue[lane].lock);
    for (size_t n, got = 0; status == ADSM_OK && got < bytes; got += n) {
        n = bytes - got < ROOM ? bytes - got : ROOM;
        status = piece_down(accel, lane, (char *)to + got,
                            adsm_daddr_add(from, got), n);
    }
    adsm_lock_release(&accel->stage->queue[lane].lock);
    return status;
}
