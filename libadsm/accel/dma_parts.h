/*
 * What dma.c keeps per accel: device ranges that the upload lane still writes.
 *
 * A download has to wait for an upload or a device copy only where both touch
 * the same bytes; so transfers of both directions overlap. The ranges of the
 * last writes are kept exactly, older ones as one number that stands for all.
 * Lock: dma->lock, rank STREAM, held for loads and stores only.
 */
#ifndef ADSM_ACCEL_DMA_PARTS_H
#define ADSM_ACCEL_DMA_PARTS_H

#include "base/lock.h"

#include <stdint.h>

enum { ADSM_DMA_WRITES = 64 };

struct adsm_dma_write {
    uint64_t begin, end; /* device addresses */
    uint64_t seq;        /* in the upload lane */
};

struct adsm_dma {
    struct adsm_lock lock;
    uint32_t next;          /* slot of the oldest, reused next */
    uint64_t forgotten_seq; /* newest write that has lost its slot */
    struct adsm_dma_write write[ADSM_DMA_WRITES];
};

/** Make an empty list in zeroed memory. */
void adsm_dma_init(struct adsm_dma *dma);

#endif
