/*
 * Dealing the pieces of a job out to workers, and stealing.
 *
 * Every worker has a share of its own, always the same of as many pieces, so
 * that what its core has in the caches serves in the next job; who is through
 * takes half of what another has left.
 * Lock: none; a share is one word that owner and thieves exchange.
 */
#ifndef SOFTCUDA_EXEC_SHARE_H
#define SOFTCUDA_EXEC_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** What is left of a worker's share: the first piece and the one behind the
 *  last, on a cache line of its own. */
struct sc_share {
    _Alignas(64) _Atomic uint64_t pieces;
};

/**
 * Deal out pieces 0 … pieces - 1.
 *
 * @shares of `count` workers; @pieces less than 2^32
 * Thread: one, before any worker takes
 */
void sc_share_deal(struct sc_share *shares, uint32_t count, uint64_t pieces);

/**
 * Take one piece, of the worker's own share or another's.
 *
 * @mine number of the worker; @piece receives it
 * Return: false: none is left, except what others are taking
 * Thread: one for each worker
 */
bool sc_share_take(struct sc_share *shares, uint32_t count, uint32_t mine,
                   uint64_t *piece);

#endif
