/* What turn.c and turn_serve.c use of each other. */
#ifndef ADSM_MM_TURN_PARTS_H
#define ADSM_MM_TURN_PARTS_H

#include "mm/doors/turn.h"

/** The function of this turn has ended. Thread: any. Signal: never */
void adsm_turn_ended(const struct adsm_turn *turn);

/** [*begin, *end) around `offset` of an object is opened at once: of one block,
 *  and not too long. Signal: fault path */
void adsm_turn_piece_around(const struct adsm_object *object, size_t offset,
                            size_t *begin, size_t *end);

/** Open the bytes around `offset` for the turn. Thread: the runtime's. */
int adsm_turn_open_piece(struct adsm_turn *turn, uintptr_t address,
                         enum adsm_access access,
                         const struct adsm_cause *cause);

/** Send what was written, close what was opened. Thread: the runtime's. */
int adsm_turn_close_pieces(struct adsm_turn *turn);

#endif
