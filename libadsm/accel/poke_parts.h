/*
 * What poke.c and poke_log.c use of each other. Thread: any. Signal: fault path,
 * where nothing else is said.
 */
#ifndef ADSM_ACCEL_POKE_PARTS_H
#define ADSM_ACCEL_POKE_PARTS_H

#include "accel/poke.h"

/* ---- poke.c -------------------------------------------------------------- */

/** A slot of page-locked memory with these bytes, until adsm_poke_slot_sent.
 *  @asks  the driver, where it is not known already whether one is free. Return: ADSM_OK; ADSM_E_UNSUPPORTED, ADSM_E_LIMIT as of adsm_poke_send */
int adsm_poke_slot(struct adsm_accel *accel, const void *value, size_t bytes,
                   bool asks, uint32_t *slot,
                   const uint8_t **from) ADSM_MUST_CHECK;

/** It serves again behind upload `seq`. */
void adsm_poke_slot_sent(struct adsm_accel *accel, uint32_t slot, uint64_t seq);

/** Give the memory back. Signal: never */
void adsm_poke_free_memory(struct adsm_accel *accel);

/* ---- poke_log.c ---------------------------------------------------------- */

/** As adsm_poke_send. ADSM_E_UNSUPPORTED also where it cannot be gathered. */
int adsm_poke_gather(struct adsm_accel *accel, struct adsm_daddr to,
                     const void *value, size_t bytes, struct adsm_fence after,
                     struct adsm_fence *done) ADSM_MUST_CHECK;

/** Send the log; where that fails it stays. */
int adsm_poke_submit(struct adsm_accel *accel) ADSM_MUST_CHECK;

#endif
