/*
 * What dma.c and move.c keep per accel: device ranges that the upload lane
 * still writes.
 *
 * A download has to wait for an upload or a device copy only where both touch
 * the same bytes; so transfers of both directions overlap. The ranges of the
 * last writes are kept exactly, older ones as one number that stands for all.
 * Lock: dma->lock, rank STREAM, held for loads and stores only.
 */
#ifndef ADSM_ACCEL_DMA_WRITE_H
#define ADSM_ACCEL_DMA_WRITE_H

#include "accel/types.h"
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

/** Make an empty list in zeroed memory. Thread: the one that makes the accel.
 *  Signal: never */
void adsm_dma_init(struct adsm_dma *dma);

/** Upload `seq` writes a range. Thread: any. Signal: fault path */
void adsm_dma_remember_write(struct adsm_accel *accel, struct adsm_daddr to,
                             size_t bytes, uint64_t seq);

/** Number in the upload lane behind which the range is written; 0: nowhere.
 *  Thread: any. Signal: fault path */
uint64_t adsm_dma_last_write(struct adsm_accel *accel, struct adsm_daddr from,
                             size_t bytes);

/** The calling thread has spent so long in a transfer. Signal: any handler */
void adsm_dma_spend(uint64_t ns);

#endif
