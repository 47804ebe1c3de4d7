/* Steps of one event, for coherence.c and coherence_range.c: of a run of blocks
 * in one state. */
#ifndef ADSM_MM_COHERENCE_PARTS_H
#define ADSM_MM_COHERENCE_PARTS_H

#include "mm/state/coherence.h"

/** What to do on `event` with a block of the object in `state`. */
const struct adsm_cell *adsm_coherence_cell(const struct adsm_object *object,
                                            enum adsm_event event,
                                            enum adsm_state state);

/** First: the host has, or is about to have, the bytes that the next state
 *  shows. Return: ADSM_OK; ADSM_E_NOMEM; ADSM_E_LIMIT; a device's error */
int adsm_coherence_bring(struct adsm_object *object, uint32_t first,
                         uint32_t count, enum adsm_state state,
                         enum adsm_event event,
                         const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** Last, when all is done: the state that follows. */
void adsm_coherence_enter(struct adsm_object *object, uint32_t first,
                          uint32_t count, enum adsm_state state,
                          const struct adsm_cell *cell);

/** ... but for the queue of dirty blocks. */
void adsm_coherence_set_states(struct adsm_object *object, uint32_t first,
                               uint32_t count, enum adsm_state state,
                               enum adsm_state next);

/** What the home has is no twin of anything from here on: blocks that stay open
 *  are as dirty as any. The object's lock is held exclusively. */
void adsm_coherence_end_twins(struct adsm_object *object);

#endif
