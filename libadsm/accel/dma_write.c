/* Device ranges that the upload lane writes; see dma_write.h. */
#include "accel/dma_write.h"

#include "accel/device.h"

void adsm_dma_init(struct adsm_dma *dma)
{
    adsm_lock_init(&dma->lock, ADSM_RANK_STREAM);
}

void adsm_dma_remember_write(struct adsm_accel *accel, struct adsm_daddr to,
                             size_t bytes, uint64_t seq)
{
    struct adsm_dma *dma = accel->dma;
    adsm_lock_acquire(&dma->lock);
    struct adsm_dma_write *slot = &dma->write[dma->next];
    dma->next = (dma->next + 1) % ADSM_DMA_WRITES;
    if (dma->forgotten_seq < slot->seq)
        dma->forgotten_seq = slot->seq;
    *slot = (struct adsm_dma_write){to.at, to.at + bytes, seq};
    adsm_lock_release(&dma->lock);
}

uint64_t adsm_dma_last_write(struct adsm_accel *accel, struct adsm_daddr from,
                             size_t bytes)
{
    struct adsm_dma *dma = accel->dma;
    uint64_t begin = from.at;
    uint64_t end = begin + bytes;
    adsm_lock_acquire(&dma->lock);
    uint64_t seq = dma->forgotten_seq;
    for (uint32_t i = 0; i < ADSM_DMA_WRITES; i++) {
        const struct adsm_dma_write *write = &dma->write[i];
        if (write->seq > seq && write->begin < end && begin < write->end)
            seq = write->seq;
    }
    adsm_lock_release(&dma->lock);
    return seq;
}
