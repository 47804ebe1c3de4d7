/* What turn.c and turn_serve.c use of each other. */
#ifndef ADSM_MM_TURN_PARTS_H
#define ADSM_MM_TURN_PARTS_H

#include "mm/turn.h"

/** The function of this turn has ended. Thread: any. Signal: never */
void adsm_turn_ended(const struct adsm_turn *turn);

/** Bytes that are opened at once, a power of two. Signal: fault path */
size_t adsm_turn_piece_bytes(const struct adsm_object *object);

/** Open the bytes around `offset` for the turn. Thread: the runtime's. */
int adsm_turn_open_piece(struct adsm_turn *turn, uintptr_t address,
                         enum adsm_access access);

/** Send what was written, close what was opened. Thread: the runtime's. */
int adsm_turn_close_pieces(struct adsm_turn *turn);

#endif
