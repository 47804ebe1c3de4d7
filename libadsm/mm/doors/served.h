/*
 * A store that is sent and not let in: the door of single stores into closed
 * blocks (mm/watch/scatter.h).
 *
 * Owns nothing. Takes no lock of its own.
 */
#ifndef ADSM_MM_SERVED_H
#define ADSM_MM_SERVED_H

#include "mm/object/block.h"

/**
 * Send what the store would have stored that the calling thread answers for, into
 * held block `i`, which stays closed; the thread goes on behind it.
 *
 * Return: false: it cannot be, or should not, or nothing could be sent: the
 *         access is to be answered as any other
 * Lock: the object's, shared. Thread: any. Signal: fault path
 */
bool adsm_serve_store(struct adsm_object *object, uint32_t i,
                      const struct adsm_cause *cause);

#endif
