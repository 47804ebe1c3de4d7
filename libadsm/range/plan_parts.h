/*
 * Between the files of the plan only.
 */
#ifndef ADSM_RANGE_PLAN_PARTS_H
#define ADSM_RANGE_PLAN_PARTS_H

#include "range/plan.h"

/* A wrong rule that a test has asked for by name: the model test builds these
 * files with a header of its own. */
#ifdef ADSM_PLANT_HEADER
#include ADSM_PLANT_HEADER
#else
#define ADSM_PLANTED(name) false
#endif

/** Make room for this many more moves. Return: ADSM_OK; ADSM_E_NOMEM */
int adsm_moves_reserve(struct adsm_moves *moves, uint32_t more) ADSM_MUST_CHECK;

/** Append a move, or make it part of one from `first` on that it continues.
 *  Return: that move's index */
uint32_t adsm_moves_add(struct adsm_moves *moves, uint32_t first, unsigned from,
                        unsigned to, const adsmBox *box);

/** The smallest boxes of a crowded map become the host's alone. Return: ADSM_OK;
 *  ADSM_E_NOMEM */
int adsm_plan_thin(struct adsm_held *held,
                   struct adsm_moves *moves) ADSM_MUST_CHECK;

#endif
