/*
 * Scattered stores: single ones into blocks that only the device has.
 *
 * Such a store opens its block: a fetch, two changes of protection and an upload,
 * of 256 KiB for four bytes. Where the engine can tell what the store would have
 * stored (os/store.h), these bytes are sent instead, the thread goes on behind
 * it, and the block stays closed (mm/doors/served.h).
 *
 * That is worth it for a few stores. A block that gets more of them between two
 * calls than its transfers cost, with what lies around it in 256 KiB, or three
 * that go on from one another, is opened like any, and what was served there was
 * in vain. Where that is so for half of
 * what is served, only every eighth opening is put off so from then on, and next
 * every 64th, until a round is not in vain.
 *
 * Owns the member `scatter` of `struct adsm_object`. Does not send. All of it is
 * relaxed: what is torn costs an opening, or a store served in vain.
 *
 * Lock: the object's, shared at least. Thread: any. Signal: fault path. Where
 * nothing else is said.
 */
#ifndef ADSM_MM_SCATTER_H
#define ADSM_MM_SCATTER_H

#include "mm/object/block.h"

/** A new object that follows `protocol`: may its stores be served? Return:
 *  ADSM_OK; ADSM_E_NOMEM. Thread: the one that makes it. Signal: never */
int adsm_scatter_init(struct adsm_object *object,
                      const struct adsm_protocol *protocol) ADSM_MUST_CHECK;
void adsm_scatter_fini(struct adsm_object *object);

/** May stores into held block `i` be served at all, as things stand? */
bool adsm_scatter_may(const struct adsm_object *object, uint32_t i);

/** Should a store of bytes [from, to) of the object, in that block, be? Asking
 *  counts. */
bool adsm_scatter_wants(struct adsm_object *object, uint32_t i, size_t from,
                        size_t to);

/** Held block `i` is about to be opened. */
void adsm_scatter_opened(struct adsm_object *object, uint32_t i);

/** Was a store served ever? Lock: exclusive. Signal: never */
bool adsm_scatter_has_sent(const struct adsm_object *object);

/** A call has begun: the next stores are of another round. Lock: none */
void adsm_scatter_called(void);

#endif
