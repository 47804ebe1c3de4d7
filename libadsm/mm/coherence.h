/*
 * The coherence engine: runs the protocol tables; sole writer of block states.
 *
 * A fault in five steps: find the object (index), hold the block (BUSY), look
 * up protocol.cell[state][event], run its actions (fetch, flush, queue), set
 * protection and state. Runs of adjacent blocks in one state go through the
 * same steps as one transfer and one change of protection.
 */
#ifndef ADSM_MM_COHERENCE_H
#define ADSM_MM_COHERENCE_H

#include "mm/object.h"

/** Choose the protocol (ADSM_PROTOCOL) and the queue's limit; once, at init. */
void adsm_coherence_init(const struct adsm_protocol *protocol,
                         uint32_t rolling_size, uint32_t rolling_factor);

/** The protocol in use. */
const struct adsm_protocol *adsm_coherence_protocol(void);

/** An allocation was made: the adaptive rolling size grows (001, 4.3). */
void adsm_coherence_grow(void);

/** Dirty blocks allowed at once; 0 = no limit (batch, lazy). */
uint32_t adsm_coherence_rolling_size(void);

/**
 * Hold block `i` (wait while another thread does) and return its state.
 * Caller holds object->lock shared. Signal: fault path
 */
enum adsm_state adsm_block_hold(struct adsm_object *object, uint32_t i);

/** Let go of a held block, unchanged. */
void adsm_block_release(struct adsm_object *object, uint32_t i);

/**
 * Apply `event` to blocks [first, first + count), which are held by the caller
 * (or the object's lock is held exclusively) and in one and the same state:
 * one transfer, one protection change.
 *
 * Return: ADSM_OK; ADSM_E_DEVICE(_LOST), ADSM_E_NOMEM: states unchanged
 * Signal: fault path
 * Paper:  001 section 4.3, Fig. 6; differs: runs, partial last block
 */
int adsm_coherence_apply(struct adsm_object *object, uint32_t first,
                         uint32_t count, enum adsm_event event);

/** Apply `event` to every block of [first, first + count), run by run. The
 *  object's lock is held exclusively. */
int adsm_coherence_apply_all(struct adsm_object *object, uint32_t first,
                             uint32_t count, enum adsm_event event);

/**
 * Write back the oldest dirty blocks until the rolling size is respected.
 * No lock or block may be held. Signal: fault path
 */
void adsm_coherence_evict(void);

#endif
