/*
 * The answer to an access: its block is opened, and more with it where accesses
 * come one behind the other (mm/watch/grain.h), where most of what lies around
 * is written (mm/watch/dense.h) or read, or where that was so after the
 * kernel's last return (mm/watch/ahead.h).
 *
 * Owns nothing but that the loss of a device was said.
 */
#ifndef ADSM_MM_ANSWER_H
#define ADSM_MM_ANSWER_H

#include "mm/object/block.h"

/**
 * Apply `event`, READ_FAULT or WRITE_FAULT, to block `i`, which the caller holds,
 * and lets go of it. Nobody is waited for to open more. A transfer that fails is
 * tried again as long as the device lives, for some seconds; of a device that is
 * lost the host's bytes are shown, which is said once.
 *
 * Return: ADSM_OK; ADSM_E_LIMIT (too many mappings), ADSM_E_NOMEM, ADSM_E_DEVICE
 * Lock: the object's, shared. Thread: any. Signal: fault path
 */
int adsm_answer(struct adsm_object *object, uint32_t i, enum adsm_event event,
                const struct adsm_cause *cause) ADSM_MUST_CHECK;

#endif
